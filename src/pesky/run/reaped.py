"""A program of which nothing is left, as its parent sees it: `reaper` is the other end."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

_SCRIPT = os.path.join(os.path.dirname(__file__), "reaper.py")


class Reaped:
    """A program and whatever it starts, which end with it, with this context, or with this process.

    On Linux that is all of it; elsewhere, what did not leave the program's process group. `process` ends as the
    program does, and what is sent to it, the program's group gets. The signal `first` is what that gets at first where
    it does not end by itself; the options are those of `subprocess.Popen`.
    """

    def __init__(
        self, program: Sequence[str], first: signal.Signals, *, pass_fds: Sequence[int] = (), **options: Any
    ) -> None:
        watched, lifeline = os.pipe()
        self._lifeline = os.fdopen(lifeline, "wb", buffering=0)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", _SCRIPT, str(watched), str(int(first)), *program],
                pass_fds=(watched, *pass_fds),
                **options,
            )
        except BaseException:
            self._lifeline.close()
            raise
        finally:
            os.close(watched)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bury()

    def end(self) -> None:
        """Have all of it ended; any thread may say so, at any time."""
        with suppress(OSError, ValueError):  # it has ended, or was buried
            self._lifeline.write(b".")

    def bury(self) -> int:
        """The exit status; nothing of it is left."""
        self.end()
        try:
            return self.process.wait()
        finally:
            self._lifeline.close()
