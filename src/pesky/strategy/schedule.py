"""How much deciding the time allows, by measured durations (METHOD 20.2)."""

import time
from collections import Counter
from typing import Literal

Level = Literal["full", "update", "thompson"]
"""How thorough a decision is: from a new fit, from an update of the last full one, or one of its samples of x*."""


class TimeBudget:
    """Keeps the time of deciding below `share` times the time of everything else; None allows all.

    Half of it is for full analyses, half for updates of one, so that neither starves the other.
    """

    def __init__(self, share: float | None) -> None:
        self.share = share
        self.deciding = 0.0
        """Seconds of deciding so far."""
        self.decisions: Counter[Level] = Counter()
        self._began = time.monotonic()
        self._seconds: dict[Level, float] = {}
        self._measured: dict[Level, float] = {}

    def level(self) -> Level:
        """The most thorough decision that can be afforded now."""
        if self.share is None or self._is_due("full", self.share):
            return "full"
        return "update" if self._is_due("update", self.share) else "thompson"

    def _is_due(self, level: Level, share: float) -> bool:
        """Whether since the last decision of this level enough was measured to pay for another one."""
        return (self._measuring() - self._measured.get(level, 0.0)) * share / 2 >= self._seconds.get(level, 0.0)

    def _measuring(self) -> float:
        return time.monotonic() - self._began - self.deciding

    def took(self, level: Level, seconds: float) -> None:
        """Take in how long a decision of this level took."""
        self.decisions[level] += 1
        self.deciding += seconds
        self._seconds[level] = seconds
        self._measured[level] = self._measuring()
