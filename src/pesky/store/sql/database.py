"""Transactions on a database, tried again while it is busy or out of reach for a moment."""

import os
import random
import socket
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, NullPool, create_engine, event
from sqlalchemy.engine import URL, Engine
from sqlalchemy.exc import SQLAlchemyError

from pesky.errors import StorageError
from pesky.extras import to_install
from pesky.store.sql import errors
from pesky.store.sql.file import OpenFile, StillFile
from pesky.store.sql.interruption import Interruption, interruptible_connections
from pesky.store.sql.url import is_shown, is_uri, parse, shown

R = TypeVar("R")
Access = Literal["create", "write", "read"]

BUSY_TIMEOUT = 60.0
"""Seconds to wait for other programs' transactions, which last milliseconds unless such a program hangs."""
DISCONNECT_TIMEOUT = 60.0
"""Seconds to wait for a server that was there before: it may be restarting."""
SILENCE = 5.0
"""Seconds without an answer after which it is said that a server is waited for."""
_BUSY_STEP = 20
"""Milliseconds for which SQLite waits at a time. Ctrl-C cannot interrupt it; and the longer it waits, the longer are
its pauses and the worse its chances: of eight processes that write all the time, one waited for 7 s with 250."""
_BUSY_PAUSE = (0.005, 0.025)
"""Seconds between two tries, by chance: SQLite gives a lock to whoever comes at the right moment."""
# A client that hangs must not stop the others for good. Set for each transaction, as poolers of connections want it.
_LIMITS = "SET LOCAL lock_timeout = '4s'; SET LOCAL idle_in_transaction_session_timeout = '15s'"


class Database:
    """A database by its URL, for any thread, and for children that are forked.

    A file of SQLite must exist, unless its `access` is to "create". One that is opened to "read" is not written to in
    any way.
    """

    def __init__(self, url: str, access: Access = "create"):
        self.url, self.access = parse(url), access
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if (
            self.is_sqlite
            and access != "create"
            and not is_uri(self.url)
            and not os.path.exists(str(self.url.database))
        ):
            raise StorageError(f'the storage "{shown(self.url)}" does not exist: check the path.')
        self._interruption = Interruption()
        self._still = StillFile(str(self.url.database)) if self.is_sqlite and access == "read" else None
        self._engine = _sqlite(self.url, self._still, self._interruption) if self.is_sqlite else _postgresql(self.url)
        self._writer = self._engine.execution_options(pesky_begin="write")
        self._reader = self._engine
        if not self.is_sqlite and access == "read":
            self._reader = self._engine.execution_options(postgresql_readonly=True)
        elif not self.is_sqlite:
            # a single statement needs no transaction around it, each end of which would be a round trip to the server
            self._reader = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        # what only reads opens the file anew each time
        self._file = OpenFile(self.url) if self.is_sqlite and access != "read" else None
        if self._file is not None:
            file = self._file
            event.listen(self._engine, "connect", lambda *_: file.opened())
        self._was_reached = False
        weakref.finalize(self, self._engine.dispose)
        _ALL.add(self)

    def __repr__(self) -> str:
        return f"Database({shown(self.url)!r})"

    def read(self, work: Callable[[Connection], R]) -> R:
        """What `work` returns of one statement that only reads."""
        if self._still is None:
            return self._retrying(self._reader, work, is_repeatable=True)
        return self._still.read(lambda: self._retrying(self._reader, work, is_repeatable=True))

    def write(self, work: Callable[[Connection], R], is_repeatable: bool = False) -> R:
        """What `work` returns, in a transaction: if it raises, nothing of it is kept.

        `work` may be called again. If the connection breaks so late that nobody knows whether the transaction was
        kept, only when it `is_repeatable`: doing it twice is the same as doing it once.
        """
        if self.access == "read":
            raise StorageError(
                f'the storage "{shown(self.url)}" was opened for reading: open it for writing to change it.'
            )
        return self._retrying(self._writer, work, is_repeatable)

    def enable_wal(self) -> None:
        """Let readers and the writer of a file not wait for each other, from now on.

        A file system that cannot do it keeps the old journal. To be called once the file is known to be ours.
        """
        if self.is_sqlite:
            engine = self._engine.execution_options(pesky_begin="not at all")
            self._retrying(engine, lambda connection: connection.exec_driver_sql("PRAGMA journal_mode = WAL"), True)

    def close(self) -> None:
        """Let go of the connections; the next transaction makes new ones."""
        self._engine.dispose()
        if self._file is not None:
            self._file.closed()

    def forked(self) -> None:
        """Leave the connections to the parent process, which goes on using them."""
        _INHERITED.append(self._engine.pool)
        self._engine.dispose(close=False)

    def _retrying(self, engine: Engine, work: Callable[[Connection], R], is_repeatable: bool) -> R:
        wait = errors.Wait(self.url)
        while True:
            is_unclear = False
            try:
                self._check_file()  # before a connection is made, which would make a file, too
                if self._file is not None and self._file.was_written():
                    self._engine.dispose()  # a new connection remembers nothing of it
                with self._connected(engine, wait) as connection:
                    with connection.begin():
                        result = work(connection)
                        is_unclear = not is_repeatable
                    self._check_file()
                    if self._file is not None:
                        self._file.written()
                    self._was_reached = True
                    wait.end()
                    return result
            except SQLAlchemyError as error:
                if errors.is_interrupted(error):
                    raise self._interruption.take() from None
                self._check_file()
                timeout = self._timeout(error, is_unclear)
                if wait.seconds >= timeout:
                    raise errors.explain(self.url, error) from errors.cause(self.url, error)
                wait.say(errors.complaint(error))
                time.sleep(random.uniform(*_BUSY_PAUSE) if errors.is_busy(error) else 0.5)
            except UnicodeDecodeError as error:  # SQLite repeats what it read of the tables' definitions
                raise errors.damaged(self.url) from error

    def _check_file(self) -> None:
        if self._file is not None:
            self._file.check()

    def _timeout(self, error: SQLAlchemyError, is_unclear: bool) -> float:
        """For how many seconds to try again after this error."""
        if errors.is_busy(error):
            return BUSY_TIMEOUT
        return DISCONNECT_TIMEOUT if self._was_reached and not is_unclear and errors.is_disconnect(error) else 0.0

    @contextmanager
    def _connected(self, engine: Engine, wait: errors.Wait) -> Iterator[Connection]:
        """A connection, of which the user hears if it stays silent."""
        if self.is_sqlite:
            with engine.connect() as connection:
                yield connection
            return
        with _Watch(wait) as watch, engine.connect() as connection, watch.over(connection):
            yield connection


class _Watch:
    """Says so while a server does not answer, and hangs up in the end: a frozen one would be waited for forever."""

    def __init__(self, wait: errors.Wait):
        self._wait, self._ended, self._lock = wait, threading.Event(), threading.Lock()
        self._connection: Connection | None = None

    def __enter__(self) -> "_Watch":
        threading.Thread(target=self._listen, daemon=True, name="pesky watch").start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    @contextmanager
    def over(self, connection: Connection) -> Iterator[None]:
        """The connection is the one to hang up meanwhile."""
        self._connection = connection
        try:
            yield
        finally:
            with self._lock:
                self._connection = None

    def _listen(self) -> None:
        deadline, pause = time.monotonic() + DISCONNECT_TIMEOUT, SILENCE
        while not self._ended.wait(pause):
            if time.monotonic() >= deadline:
                self._hang_up()
                return
            self._wait.say("does not answer: waiting for it")
            pause = min(SILENCE, max(deadline - time.monotonic(), 0.0))

    def _hang_up(self) -> None:
        with self._lock, suppress(Exception):  # the connection may have broken by itself this moment
            if self._connection is not None:
                descriptor: int = self._connection.connection.driver_connection.pgconn.socket  # pyright: ignore
                with socket.socket(fileno=os.dup(descriptor)) as line:
                    line.shutdown(socket.SHUT_RDWR)


def _sqlite(url: URL, still: StillFile | None, interruption: Interruption) -> Engine:
    if still is not None:
        # how a file can be read may change from one moment to the next, and pages that are kept would be outdated
        engine = create_engine(
            url, creator=lambda: _connect_read_only(url, still), poolclass=NullPool, hide_parameters=True
        )
    else:
        engine = create_engine(url, hide_parameters=True, **_POOL)

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _: object) -> None:
        connection.text_factory = _text
        connection.isolation_level = None  # transactions begin where we say so, not where Python's driver guesses
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_STEP}")
        interruption.listen(connection)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # a transaction that reads first and then writes would be refused if another wrote in between
        how = {"write": "BEGIN IMMEDIATE", "read": "BEGIN", "not at all": ""}[_begin(connection)]
        if how:
            connection.exec_driver_sql(how)

    return engine


def _text(stored: bytes) -> str | bytes:
    """A text; the bytes where they are none, which is a value of the wrong type: one such row hides no others."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


def _connect_read_only(url: URL, still: StillFile) -> sqlite3.Connection:
    """A connection that cannot write, to a file or in a folder that may be read-only."""
    path = str(url.database)
    if is_uri(url):
        options = {key: value for key, value in url.query.items() if key != "uri"} | {"mode": "ro"}
        address = f"{path}?{'&'.join(f'{key}={value}' for key, value in options.items())}"
        return sqlite3.connect(address, uri=True, check_same_thread=False)
    fixed = "&immutable=1" if still.is_still() else ""
    return sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro{fixed}", uri=True, check_same_thread=False)


def _postgresql(url: URL) -> Engine:
    # prepared statements belong to a connection, which poolers like PgBouncer share out anew for each transaction
    arguments: dict[str, object] = {"prepare_threshold": None, "connect_timeout": 10, **_LIVENESS}
    # secrets are in the connection's arguments, since the engine would show those of its URL
    hidden = {
        key: url.query[key]
        for key, values in url.normalized_query.items()
        if not all(is_shown(key, value) for value in values)
    }
    arguments = {key: value for key, value in arguments.items() if key not in url.query} | hidden
    try:
        engine = create_engine(
            url.difference_update_query(list(hidden)), hide_parameters=True, connect_args=arguments, **_POOL
        )
    except ImportError as error:
        raise StorageError(
            f'the storage "{shown(url)}" needs psycopg 3, which is not installed: {to_install("postgresql")}.'
        ) from error
    interruptible = interruptible_connections()

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: object, _record: object, arguments: list[Any], options: dict[str, Any]) -> Any:
        return interruptible.connect(*arguments, **options)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if _begin(connection) == "write":
            connection.exec_driver_sql(_LIMITS)

    return engine


def _begin(connection: Connection) -> str:
    """How a transaction is to begin on this connection."""
    return connection.get_execution_options().get("pesky_begin", "read")


# A server whose machine is gone is noticed within a minute, not after the hours that TCP would take.
_LIVENESS: dict[str, object] = {
    "keepalives": 1, "keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000
}  # fmt: skip

# Transactions last milliseconds: threads beyond these few wait for a connection rather than open one more.
_POOL: dict[str, Any] = {"pool_size": 4, "max_overflow": 0, "pool_timeout": BUSY_TIMEOUT}

_ALL: "weakref.WeakSet[Database]" = weakref.WeakSet()
# Kept from the garbage collector, which would close the parent's connections under its feet.
_INHERITED: list[object] = []


def _after_fork() -> None:
    for database in _ALL:
        database.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
