"""Patience with a storage that does not answer for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

from pesky.errors import StorageError

PATIENCE = 300.0
"""Seconds for which it is tried again before the run gives up."""
T = TypeVar("T")


def patiently(action: Callable[[], T]) -> T:
    """What the action returns, tried again while the storage does not answer."""
    began, pause = time.monotonic(), 0.1
    while True:
        try:
            return action()
        except StorageError:
            if time.monotonic() - began > PATIENCE:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 5.0)
