"""Errors of a database: whether to try again, and what to tell the user."""

import logging
import os
import re
import sqlite3
import time
from urllib.parse import quote, quote_plus

from sqlalchemy import exc
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from pesky.errors import StorageAway, StorageError
from pesky.store.sql.url import hidden, secrets, shown
from pesky.text import one_line

FIRST_WORD = 2.0
"""Seconds of waiting of which the user need not hear."""
NEXT_WORD = 30.0
"""Seconds after which it is said again that something is waited for."""

_LOG = logging.getLogger("pesky")

_LOCKED = "was locked by another program all the time: close whatever has it open for writing, and go on."
_FULL = "cannot grow, the disk is full: make room and go on, nothing that was kept is lost."
_DAMAGED = "is damaged: restore a copy of it."
_CHANGED = "does not have the tables that its version promises, another program has changed them: restore a copy of it."
_REFUSED = "refused the connection: check the user, the password and the name of the database."

# By SQLite's primary result codes, and by PostgreSQL's codes of errors. What is `StorageAway` may pass.
_WORDS: dict[int | str, tuple[type[StorageError], str]] = {
    sqlite3.SQLITE_NOTADB: (StorageError, "is no SQLite database: expected a file that pesky made, or a new name."),
    sqlite3.SQLITE_CORRUPT: (StorageError, _DAMAGED),
    sqlite3.SQLITE_ERROR: (StorageError, _CHANGED),
    sqlite3.SQLITE_CANTOPEN: (
        StorageError,
        "cannot be opened: expected a file, or a new name, in a folder that you may write to; to look at a copy, take "
        "the files beside it along.",
    ),
    sqlite3.SQLITE_READONLY: (
        StorageError, "is read-only: get the right to write to the file and its folder, or copy it."
    ),
    sqlite3.SQLITE_PERM: (StorageError, "may not be opened: get the right to write to the file and its folder."),
    sqlite3.SQLITE_BUSY: (StorageAway, _LOCKED),
    sqlite3.SQLITE_LOCKED: (StorageAway, _LOCKED),
    sqlite3.SQLITE_PROTOCOL: (StorageAway, _LOCKED),
    sqlite3.SQLITE_FULL: (StorageAway, _FULL),
    sqlite3.SQLITE_IOERR: (
        StorageAway,
        "cannot be read or written for now: make room if the disk or your share of it is full, check the disk, and go "
        "on.",
    ),
    "25006": (StorageError, "is read-only: expected a server that can be written to, and a user who may."),
    "28000": (StorageError, _REFUSED),
    "28P01": (StorageError, _REFUSED),
    "3D000": (StorageError, _REFUSED),
    "42501": (StorageError, "is not this user's to use so: get the right to read it, write to it and create tables."),
    "42703": (StorageError, _CHANGED),
    "42P01": (StorageError, _CHANGED),
    "40001": (StorageAway, _LOCKED),
    "40P01": (StorageAway, _LOCKED),
    "53100": (StorageAway, _FULL),
    "53200": (StorageAway, "is on a server that is out of memory: go on when it has some."),
    "53300": (StorageAway, "takes no more connections: close some, or allow more, and go on."),
    "55P03": (StorageAway, _LOCKED),
    "57014": (StorageAway, "was told by somebody to stop what it was doing: go on."),
    "58030": (StorageAway, "cannot be read or written for now: check the server's disk, and go on."),
    "XX001": (StorageError, _DAMAGED),
    "XX002": (StorageError, _DAMAGED),
}  # fmt: skip
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, "40001", "40P01", "55P03"}
# A connection that is refused has no code, only what the server said.
_REFUSALS = re.compile(
    "authentication failed|no password supplied|no pg_hba.conf entry|(?:role|database) .* does not exist|"
    "not permitted to log in|permission denied|certificate|(?:invalid|unsupported) .*(?:option|value|port)",
    re.IGNORECASE,
)


def is_busy(error: SQLAlchemyError) -> bool:
    """Whether the database was busy with somebody else's transaction: nothing has happened, it can be tried again."""
    return _code(error) in _BUSY


def is_interrupted(error: SQLAlchemyError) -> bool:
    """Whether a signal ended what SQLite was doing."""
    return _code(error) == sqlite3.SQLITE_INTERRUPT


def is_disconnect(error: SQLAlchemyError) -> bool:
    """Whether the connection to a server broke, or could not be made for now."""
    if not isinstance(error, DBAPIError) or isinstance(error.orig, sqlite3.Error) or _is_refused(error):
        return False
    return error.connection_invalidated or (isinstance(error, OperationalError) and error.statement is None)


def explain(url: URL, error: SQLAlchemyError) -> StorageError:
    """What to tell the user: a StorageAway if that may pass."""
    where, said = f'the storage "{shown(url)}"', _said(url, error)
    code = _cannot_be_written(url, _code(error))
    if code is not None and code in _WORDS:
        kind, words = _WORDS[code]
        # SQLite says nothing that its code does not say, unless it is about tables
        is_said = words is _CHANGED or not isinstance(getattr(error, "orig", None), sqlite3.Error)
        return kind(f"{where} {words}" + (f" It said: {said}" if is_said else ""))
    if isinstance(error, exc.TimeoutError):
        return StorageAway(
            f"{where} did not answer, and more threads wait for it than it has connections: go on later."
        )
    if _is_refused(error):
        return StorageError(f"{where} {_REFUSED} It said: {said}")
    if is_disconnect(error):
        return StorageAway(
            f"{where} cannot be reached: check that the server runs, and the host, port, user, password and name of "
            f"the database. It said: {said}"
        )
    return StorageError(f"{where} did not do what was asked. It said: {said}")


def damaged(url: URL) -> StorageError:
    """What to tell the user of a file that says what no database says."""
    return StorageError(f'the storage "{shown(url)}" {_DAMAGED}')


def cause(url: URL, error: SQLAlchemyError) -> SQLAlchemyError | None:
    """The error as the cause to show below the explanation, unless it repeats a password."""
    return error if _hidden(url, str(error)) == str(error) else None


class Wait:
    """Waiting for a storage, which is said in time, and not too often."""

    def __init__(self, url: URL):
        self._url, self._began, self._next = url, time.monotonic(), FIRST_WORD

    @property
    def seconds(self) -> float:
        """For how long it has lasted."""
        return time.monotonic() - self._began

    def say(self, what: str) -> None:
        """Say what is wrong with the storage, if it is time to."""
        if self.seconds >= self._next:
            self._next = self.seconds + NEXT_WORD
            _LOG.warning('the storage "%s" %s', shown(self._url), what)

    def end(self) -> None:
        """Say that the storage answers again, if it was said that it did not."""
        if self._next != FIRST_WORD:
            _LOG.warning('the storage "%s" answers again, after %.0f s', shown(self._url), self.seconds)


def complaint(error: SQLAlchemyError) -> str:
    """What is wrong for now, to go on the sentence "the storage ..."."""
    return "is locked by another program: trying again" if is_busy(error) else "cannot be reached: trying again"


def _cannot_be_written(url: URL, code: int | str | None) -> int | str | None:
    """The code, or that of a read-only file where SQLite only says that it could not open one beside it."""
    path = str(url.database)
    is_so = code == sqlite3.SQLITE_CANTOPEN and os.path.isfile(path) and not os.path.exists(f"{path}-wal")
    return sqlite3.SQLITE_READONLY if is_so and not os.access(os.path.dirname(path), os.W_OK) else code


def _is_refused(error: SQLAlchemyError) -> bool:
    """Whether a server refused a connection, and would do so again."""
    if not isinstance(error, DBAPIError) or error.statement is not None or error.connection_invalidated:
        return False
    return isinstance(error.orig, Exception) and _REFUSALS.search(str(error.orig)) is not None


def _said(url: URL, error: SQLAlchemyError) -> str:
    """The database's own words, on one line."""
    return one_line(_hidden(url, str(getattr(error, "orig", None) or error)), 600)


def _hidden(url: URL, text: str) -> str:
    """The text without what the URL keeps secret."""
    for secret in secrets(url):
        for form in (secret, quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(form, "***")
    return hidden(text)


def _code(error: SQLAlchemyError) -> int | str | None:
    """SQLite's primary result code, or the code of PostgreSQL's error."""
    orig = getattr(error, "orig", None)
    if isinstance(orig, sqlite3.Error):
        return getattr(orig, "sqlite_errorcode", 0) & 0xFF
    return getattr(orig, "sqlstate", None)
