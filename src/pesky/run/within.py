"""Something that may take for ever, waited for no longer than one can."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from typing import TypeVar

from pesky.errors import StorageAway

T = TypeVar("T")


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
