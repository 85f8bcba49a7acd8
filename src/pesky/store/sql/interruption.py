"""Ctrl-C while a database works.

SQLite returns to Python only between rows, and one may take forever; a server may not answer.
"""

import sqlite3
from collections.abc import Generator
from typing import Any

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


def interruptible_connections() -> Any:
    """A class of connections that Ctrl-C leaves at once: psycopg's own first asks the server, which may not answer."""
    import psycopg
    from psycopg import waiting

    class Interruptible(psycopg.Connection[Any]):
        def wait(self, gen: Any, interval: float = 0.1, *arguments: Any, **options: Any) -> Any:
            try:
                return waiting.wait(gen, self.pgconn.socket, interval, *arguments, **options)
            except KeyboardInterrupt:
                self.pgconn.finish()
                raise

    return Interruptible
