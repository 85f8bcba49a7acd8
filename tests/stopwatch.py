"""Seconds of a machine that is busy with others, or stands still for a while: what they take is not counted."""

import threading
import time
from types import TracebackType

_TICK = 0.01
_COUNTED = 0.03
"""Seconds that a tick counts at most: a longer one was the machine's doing."""


class Stopwatch:
    """Counts seconds while it is entered, but none of the pauses that the machine makes.

    What waits, for a lock or a server, is timed; what computes in Python is not, since the watch waits for it.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> "Stopwatch":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self._ended.set()
        self._thread.join()

    def _tick(self) -> None:
        last = time.monotonic()
        while not self._ended.wait(_TICK):
            now = time.monotonic()
            self.seconds += min(now - last, _COUNTED)
            last = now
