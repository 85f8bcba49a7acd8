"""Which database a URL means, and how to show it without its password."""

import os
import re

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from pesky.errors import StorageError

EXPECTED = 'expected one like "sqlite:///study.db" or "postgresql://user@host/database"'
_DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}


def parse(given: object) -> URL:
    """The URL with the driver that pesky uses, and a file's path in full: the process may change its folder."""
    if isinstance(given, URL):
        given = given.render_as_string(hide_password=False)
    if not isinstance(given, str) or "://" not in given:
        hint = f' Did you mean "sqlite:///{given}"?' if isinstance(given, str | os.PathLike) and str(given) else ""
        raise StorageError(f"the storage was {given!r}: {EXPECTED}.{hint}")
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):  # its text would repeat the password, and so would the chain of causes
        raise StorageError(f"the storage was {hidden(given)!r}, which is no URL: {EXPECTED}.") from None
    if url.drivername not in _DRIVERS:
        raise StorageError(f"the storage was {hidden(given)!r}: {EXPECTED}; there is no other kind.")
    if "@" in (url.host or ""):
        raise StorageError(f"the storage was {hidden(given)!r}: expected an @ in a password to be written as %40.")
    url = url.set(drivername=_DRIVERS[url.drivername])
    return _file(url) if url.drivername.startswith("sqlite") else url


def shown(url: URL) -> str:
    """The URL for people to read: no driver, no password."""
    secret = [key for key in url.query if "password" in key]
    url = url.set(drivername=url.get_backend_name()).difference_update_query(secret)
    return url.render_as_string(hide_password=True)


def hidden(text: str) -> str:
    """A text that should have been a URL, with whatever may be its password hidden."""
    text = re.sub(r"(://[^:@/]*):.*@", r"\1:***@", text, flags=re.DOTALL)
    return re.sub(r"(password=)[^&]*", r"\1***", text)


def _file(url: URL) -> URL:
    if url.database in (None, "", ":memory:") or url.query.get("mode") == "memory":
        raise StorageError(f'the storage was "{shown(url)}", in memory: leave it out to keep a study in memory.')
    if str(url.database).startswith("file:"):  # a URI of SQLite's own, which says itself where it lies
        return url
    path = os.path.abspath(str(url.database))
    if not os.path.isdir(os.path.dirname(path)):
        raise StorageError(
            f'the storage was "{shown(url)}", and the folder {os.path.dirname(path)!r} does not exist: '
            "create it, or correct the path (three slashes begin a relative path, four an absolute one)."
        )
    return url.set(database=path)
