"""What went wrong with a database, and whether to try again or what to tell the user."""

import sqlite3

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from pesky.errors import StorageError
from pesky.store.url import shown

_SQLITE = {
    sqlite3.SQLITE_NOTADB: "is no SQLite database: expected a file that pesky made, or a new name.",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: expected a file, or a new name, in a folder that you may write to.",
    sqlite3.SQLITE_READONLY: "is read-only: get the right to write to the file and its folder, or copy it.",
    sqlite3.SQLITE_PERM: "may not be opened: get the right to write to the file and its folder.",
    sqlite3.SQLITE_BUSY: "was locked by another program all the time: close whatever has it open for writing.",
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full: make room and go on, nothing that was kept is lost.",
}


def is_busy(error: SQLAlchemyError) -> bool:
    """Whether SQLite was busy with somebody else's transaction: nothing has happened, and it can be tried again."""
    return _sqlite_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_disconnect(error: SQLAlchemyError) -> bool:
    """Whether the connection to a server broke, or could not be made."""
    if not isinstance(error, DBAPIError) or _sqlite_code(error) is not None:
        return False
    return error.connection_invalidated or (isinstance(error, OperationalError) and error.statement is None)


def explain(url: URL, error: SQLAlchemyError) -> StorageError:
    """What to tell the user."""
    where = f'the storage "{shown(url)}"'
    code = _sqlite_code(error)
    if code in _SQLITE:
        return StorageError(f"{where} {_SQLITE[code]}")
    said = " ".join(str(getattr(error, "orig", None) or error).split())
    if url.password:
        said = said.replace(str(url.password), "***")
    if is_disconnect(error):
        return StorageError(
            f"{where} cannot be reached: check that the server runs, and the host, port, user, password and name of "
            f"the database. It said: {said}"
        )
    return StorageError(f"{where} did not do what was asked. It said: {said}")


def _sqlite_code(error: SQLAlchemyError) -> int | None:
    """SQLite's primary result code, if it is SQLite's error."""
    cause = getattr(error, "orig", None)
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF if isinstance(cause, sqlite3.Error) else None
