"""Ctrl-C while SQLite reads: it returns to Python only between rows, and one may take forever."""

import sqlite3
from collections.abc import Generator

STEPS = 100_000
"""Steps of SQLite's machine, about 30 ms of them, after which it lets Python look at signals."""


class Interruption:
    """What a signal raised inside of SQLite, which would drop it, until `take` hands it out."""

    def __init__(self) -> None:
        self._raised: list[BaseException] = []

    def listen(self, connection: sqlite3.Connection) -> None:
        """End whatever this connection does when a signal raises something."""
        listener = self._listener()
        next(listener)
        connection.set_progress_handler(listener.__next__, STEPS)

    def take(self) -> BaseException:
        """What was raised: a KeyboardInterrupt, unless the signal's handler says otherwise."""
        return self._raised.pop() if self._raised else KeyboardInterrupt()

    def _listener(self) -> Generator[int]:
        # Python looks at signals where a function begins, which no `try` of its own can hold; a generator goes on in it
        is_over = 0
        while True:
            try:
                yield is_over
                is_over = 0
            except GeneratorExit:
                return
            except BaseException as error:
                self._raised.append(error)
                is_over = 1
