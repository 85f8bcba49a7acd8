"""What processes print, line by line as it comes."""

import os
import threading
from collections.abc import Callable
from types import TracebackType


class Output:
    """The open end of a pipe for child processes to print to, and a thread that passes on every line."""

    def __init__(self, take: Callable[[str], None]):
        self._take = take

    def __enter__(self) -> "Output":
        read, self._write = os.pipe()
        self._thread = threading.Thread(target=self._pass_on, args=[read], daemon=True, name="pesky output")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._write)
        self._thread.join(1)  # a process that left its group may hold the pipe open for ever

    def fileno(self) -> int:
        """What to give to the processes."""
        return self._write

    def _pass_on(self, read: int) -> None:
        with os.fdopen(read, errors="replace") as lines:
            for line in lines:
                self._take(line.rstrip("\n"))
