"""How a run goes, shown as it goes: on a line of a terminal or a notebook that is written anew, or in the log."""

import logging
import shutil
import sys
import time
from typing import Any, TextIO

from pesky.run.budget import Ending
from pesky.run.progress import Progress
from pesky.text import visible

log = logging.getLogger("pesky")

LINE_SECONDS = 0.5
"""Seconds between two lines where each replaces the last."""
LOG_SECONDS = 10.0
"""Seconds between two lines where all of them stay."""


class Display:
    """Shows a run to whoever is there: people at a terminal or a notebook, or else readers of the log."""

    def __init__(self) -> None:
        self._stream = _stream()
        self._shown, self._width = "", 0
        self._next = time.monotonic() + (0.0 if self._stream is not None else LOG_SECONDS)

    def is_due(self) -> bool:
        """Whether it is time for another line; until then a run need not even look."""
        return time.monotonic() >= self._next

    def show(self, progress: Progress[Any]) -> None:
        """Where the run stands."""
        self._next = time.monotonic() + (LOG_SECONDS if self._stream is None else LINE_SECONDS)
        self._say(str(progress))

    def end(self, ending: Ending) -> None:
        """How the run ended."""
        if self._stream is None:
            log.log(logging.ERROR if ending.kind == "failures" else logging.INFO, "%s", ending)
            return
        self._write(str(ending))

    def close(self) -> None:
        """Leave the last line as it is; what is written next has one of its own."""
        if self._stream is not None and self._width:
            self._stream.write("\n")
            self._stream.flush()

    def _say(self, text: str) -> None:
        if text == self._shown:
            return
        self._shown = text
        if self._stream is None:
            log.info("%s", text)
        else:  # a line that wraps could not be written anew
            self._write(text[: shutil.get_terminal_size().columns - 1])

    def _write(self, line: str) -> None:
        assert self._stream is not None
        line = visible(line)
        self._stream.write(f"\r{line.ljust(self._width)}")
        self._stream.flush()
        self._width = len(line)


def _stream() -> TextIO | None:
    """Where lines can be written anew: a terminal, or the output of a notebook's cell; None where they would stay."""
    if "ipykernel" in sys.modules:
        return sys.stdout
    stream = sys.stderr
    try:
        return stream if stream is not None and stream.isatty() else None
    except ValueError:  # it was closed
        return None
