"""What measurements brought, on its way into the storage: by a thread of its own, for as long as that takes."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pesky.errors import DataError, StorageAway
from pesky.run.rescue import Result
from pesky.run.retry import GIVE_UP_SECONDS

log = logging.getLogger("pesky")

PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 5.0
"""Seconds between two tries, at first and at most."""


@dataclass(frozen=True)
class Delivery:
    """One thing to keep."""

    keep: Callable[[], object]
    result: Result | None
    """What would be lost if it could not be kept; None for the word that there is nothing."""
    then: Callable[[], None]
    """Is called once it is kept, or nobody wants it any more."""


class Deliveries:
    """Keeps one delivery after another, in their order, and tries again while the storage does not answer."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        """Why nothing more can be kept."""
        self.trouble: StorageAway | None = None
        """Why it has to be tried again just now."""
        self._began: float | None = None
        self._waiting: deque[Delivery] = deque()
        self._changed = threading.Condition()
        self._is_closed, self._is_over = False, False
        self._thread: threading.Thread | None = None

    @property
    def seconds(self) -> float:
        """For how long the storage has been taking in what it has in hand."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def begin(self) -> None:
        """Keep what comes."""
        with self._changed:
            self._begin()

    def put(self, delivery: Delivery) -> None:
        """Have this kept, from any thread; whoever brings it does not wait."""
        with self._changed:
            self._waiting.append(delivery)
            self._changed.notify_all()
            if self._is_over:  # a result that comes after the run, of a call that could not be stopped
                self._begin()

    def end(self, seconds: float) -> list[Result]:
        """The results that could not be kept, within so many seconds if the storage is slow to answer."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(max(seconds, 0.0))
        return [delivery.result for delivery in list(self._waiting) if delivery.result is not None]

    def _begin(self) -> None:
        self._is_over = False
        self._thread = threading.Thread(target=self._work, daemon=True, name="pesky deliveries")
        self._thread.start()

    def _work(self) -> None:
        while (delivery := self._next()) is not None:
            self._began = time.monotonic()
            if not self._kept(delivery):
                return
            self._began = None
            delivery.then()
            with self._changed:
                self._waiting.popleft()

    def _next(self) -> Delivery | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            self._is_over = not self._waiting
            return self._waiting[0] if self._waiting else None

    def _kept(self, delivery: Delivery) -> bool:
        """Whether the delivery is kept, or not wanted, however often that had to be tried."""
        pause = PAUSE_SECONDS
        while True:
            try:
                delivery.keep()
            except DataError:
                pass  # another attempt's result came first and differs, as noisy ones do: the first one counts
            except StorageAway as error:
                if self.trouble is None:
                    log.warning("%s What was measured is kept here and told as soon as it answers.", error)
                self.trouble = error
                if self.seconds > GIVE_UP_SECONDS:
                    self.error = error
                    return False
                with self._changed:
                    self._changed.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                continue
            except Exception as error:  # a storage of the user's own may raise anything
                self.error = error
                return False
            self.trouble = None
            return True
