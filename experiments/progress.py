"""How far a run is: one line that is rewritten on a terminal, a plain line now and then elsewhere."""

import sys
from time import monotonic
from types import TracebackType
from typing import TextIO

EVERY = 10.0
"""Seconds between plain lines: a log of hours stays short."""
WIDTH = 24


class Progress:
    """The progress of a run of so many steps.

    >>> with Progress("2a pesc", realisations=500, steps=50) as bar:
    ...     bar.advance(4, seconds=2.5)  # the fourth evaluation of every realisation is done
    """

    def __init__(self, title: str, *, steps: int, realisations: int = 1, stream: TextIO | None = None) -> None:
        self.title, self.steps, self.realisations = title, steps, realisations
        self.stream = sys.stderr if stream is None else stream
        self.is_terminal = self.stream.isatty()
        # A log of a bare machine is often ASCII, and a run of hours must not end for a character.
        self.blocks = "█░" if (self.stream.encoding or "").lower().startswith("utf") else "#-"
        self.step, self.taken, self.seconds = 0, 0, 0.0
        self.shown_at, self.shown_step = -EVERY, -1

    def __enter__(self) -> "Progress":
        return self

    def skip(self, step: int) -> None:
        """So many steps were done before: nothing is known of how long they took."""
        self.step = step

    def advance(self, step: int, seconds: float) -> None:
        """So many steps are done, the last of which took so many seconds."""
        self.step, self.taken, self.seconds = step, self.taken + 1, self.seconds + seconds
        if self.is_terminal:
            self._write(f"\r\x1b[2K{self.line()}")
        elif monotonic() - self.shown_at >= EVERY:
            self._write(f"{self.line()}\n")

    def line(self) -> str:
        """What is shown: realisations, steps, a bar, seconds per step, and the time left at that pace."""
        # Joint evaluations count as several, and the last of them may be more than is needed.
        left = max(0, self.steps - self.step)
        full = round(WIDTH * (1 - left / max(1, self.steps)))
        bar = self.blocks[0] * full + self.blocks[1] * (WIDTH - full)
        shown = f"{self.title}  {self.realisations} x {self.step}/{self.steps}  {bar}"
        if self.taken == 0:
            return shown
        pace = self.seconds / self.taken
        return f"{shown}  {pace:.3g} s/step  {clock(pace * left)} left"

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
        self.shown_at, self.shown_step = monotonic(), self.step

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.is_terminal:
            self._write("\n")
        elif self.shown_step != self.step:
            self._write(f"{self.line()}\n")


def clock(seconds: float) -> str:
    """Hours, minutes and seconds: 75 is 1:15."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
