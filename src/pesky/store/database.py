"""Transactions on a database, tried again while it is busy or out of reach for a moment."""

import os
import time
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import URL, Engine
from sqlalchemy.exc import SQLAlchemyError

from pesky.errors import StorageError
from pesky.store import trouble
from pesky.store.url import parse, shown

R = TypeVar("R")

BUSY_PATIENCE = 600.0
"""Seconds to wait for other programs' transactions on a file: nobody should ever see "database is locked"."""
DISCONNECT_PATIENCE = 60.0
"""Seconds to wait for a server that was there before: it may be restarting."""


class Database:
    """A database by its URL, for any thread, and for children that are forked; SQLite's file must exist or `create`."""

    def __init__(self, url: str, create: bool = True):
        self.url = parse(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        path = str(self.url.database)
        if self.is_sqlite and not create and not path.startswith("file:") and not os.path.exists(path):
            raise StorageError(f'the storage "{shown(self.url)}" does not exist: check the path.')
        self._engine = _sqlite(self.url) if self.is_sqlite else _postgresql(self.url)
        self._writer = self._engine.execution_options(pesky_writes=True)
        # a single statement needs no transaction around it, each end of which would be a round trip to the server
        self._reader = self._engine if self.is_sqlite else self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._was_reached = False
        weakref.finalize(self, self._engine.dispose)
        _ALL.add(self)

    def __repr__(self) -> str:
        return f"Database({shown(self.url)!r})"

    def read(self, work: Callable[[Connection], R]) -> R:
        """What `work` returns of one statement that only reads."""
        return self._patiently(self._reader, work, is_repeatable=True)

    def write(self, work: Callable[[Connection], R], is_repeatable: bool = False) -> R:
        """What `work` returns, in a transaction: if it raises, nothing of it is kept.

        `work` may be called again. If the connection breaks so late that nobody knows whether the transaction was
        kept, only when it `is_repeatable`: doing it twice is the same as doing it once.
        """
        return self._patiently(self._writer, work, is_repeatable)

    def close(self) -> None:
        """Let go of the connections; the next transaction makes new ones."""
        self._engine.dispose()

    def forked(self) -> None:
        """Leave the connections to the parent process, which goes on using them."""
        _INHERITED.append(self._engine.pool)
        self._engine.dispose(close=False)

    def _patiently(self, engine: Engine, work: Callable[[Connection], R], is_repeatable: bool) -> R:
        began = time.monotonic()
        while True:
            is_unclear = False
            try:
                with engine.connect() as connection:
                    with connection.begin():
                        result = work(connection)
                        is_unclear = not is_repeatable
                    self._was_reached = True
                    return result
            except SQLAlchemyError as error:
                patience = self._patience(error, is_unclear)
                if time.monotonic() - began >= patience:
                    raise trouble.explain(self.url, error) from error
                time.sleep(0.01 if patience == BUSY_PATIENCE else 0.5)

    def _patience(self, error: SQLAlchemyError, is_unclear: bool) -> float:
        """For how many seconds to try again after this error."""
        if trouble.is_busy(error):
            return BUSY_PATIENCE
        return DISCONNECT_PATIENCE if self._was_reached and not is_unclear and trouble.is_disconnect(error) else 0.0


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url, hide_parameters=True, **_POOL)

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin where we say so, not where Python's driver guesses
        # SQLite waits no longer than this at a time, because Ctrl-C cannot interrupt it
        connection.execute("PRAGMA busy_timeout = 1000")
        # readers and the writer do not wait for each other; a file system that cannot do it keeps the old journal
        connection.execute("PRAGMA journal_mode = WAL")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # a transaction that reads first and then writes would be refused if another wrote in between
        writes = connection.get_execution_options().get("pesky_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL) -> Engine:
    # prepared statements belong to a connection, which poolers like PgBouncer share out anew for each transaction
    arguments: dict[str, object] = {"prepare_threshold": None}
    if "connect_timeout" not in url.query:
        arguments["connect_timeout"] = 10
    try:
        return create_engine(url, hide_parameters=True, connect_args=arguments, **_POOL)
    except ImportError as error:
        raise StorageError(
            f'the storage "{shown(url)}" needs psycopg 3, which is not installed: pip install "pesky[postgresql]".'
        ) from error


# Transactions last milliseconds: threads beyond these few wait for a connection rather than open one more.
_POOL: dict[str, Any] = {"pool_size": 4, "max_overflow": 0, "pool_timeout": BUSY_PATIENCE}

_ALL: "weakref.WeakSet[Database]" = weakref.WeakSet()
# Kept from the garbage collector, which would close the parent's connections under its feet.
_INHERITED: list[object] = []


def _after_fork() -> None:
    for database in _ALL:
        database.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
