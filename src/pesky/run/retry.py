"""Patience with a storage that is away: it is asked again, for as long as whoever asks has the time."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from functools import partial
from typing import TypeVar

from pesky.errors import StorageAway
from pesky.run.client import AskTell
from pesky.store import Evaluation

log = logging.getLogger("pesky")

T = TypeVar("T")

GIVE_UP_SECONDS = 300.0
"""Seconds for which a storage that does not answer is asked again before the run gives up."""
POLL_SECONDS = 0.5
"""Seconds between two looks at what has changed elsewhere."""
INTERRUPTED_READ_SECONDS = 0.4
"""Seconds that an interrupted run waits for its storage, to see how things stand: Ctrl-C works within a second, always.
"""


class Retry:
    """A study whose storage may be away for a while; `wait` passes so many seconds, or less if something comes back."""

    def __init__(self, study: AskTell, wait: Callable[[float], None]) -> None:
        self.seen: Mapping[int, Evaluation] = {}
        """The evaluations, as the storage had them when it was asked last."""
        self.is_interrupted = False
        """Whether nobody waits any more."""
        self._study, self._wait = study, wait
        self._away_since: float | None = None

    @property
    def is_away(self) -> bool:
        """Whether the storage did not answer when it was asked last."""
        return self._away_since is not None

    @property
    def is_long_away(self) -> bool:
        """Whether the storage has not answered for so long that the run gives up."""
        return self._away_since is not None and time.monotonic() - self._away_since > GIVE_UP_SECONDS

    def __call__(self, action: Callable[[], T]) -> T:
        """What the action returns, tried again while the storage does not answer and nobody is in a hurry."""
        while True:
            try:
                result = action()
            except StorageAway as error:
                self.note(error)
                if self.is_interrupted or self.is_long_away:
                    raise
                self._wait(POLL_SECONDS)
            else:
                self._away_since = None
                return result

    def evaluations(self) -> Mapping[int, Evaluation]:
        """The evaluations as the storage has them now."""
        read = partial(getattr, self._study, "evaluations")
        self.seen = self(partial(within, INTERRUPTED_READ_SECONDS, read) if self.is_interrupted else read)
        return self.seen

    def note(self, error: StorageAway) -> None:
        """Say that the storage does not answer, the first time."""
        if self._away_since is None:
            self._away_since = time.monotonic()
            log.warning("%s It is tried again; nothing that was measured is lost.", error)


def within(seconds: float, ask: Callable[[], T]) -> T:
    """What a storage answers, if it does within so many seconds; StorageAway if it does not.

    It is asked by a thread, which is left alone with it then.
    """
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True, name="pesky question").start()
    try:
        return answer.result(max(seconds, 0.0))
    except TookTooLong:
        raise StorageAway(f"the storage did not answer within {seconds:.1f} s.") from None
