"""The file of an SQLite database: it may be deleted while it is open, and may only be looked at."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from sqlalchemy.engine import URL

from pesky.errors import StorageError
from pesky.store.sql.url import is_uri, shown

R = TypeVar("R")


class OpenFile:
    """The file that connections have open, if the URL says which one it is and it can be taken away meanwhile.

    SQLite would go on in one without a name.
    """

    def __init__(self, url: URL):
        self._url = url
        # Windows deletes no open file; and a URI may be of a database in memory, or of another kind of file system
        self._path = None if is_uri(url) or os.name == "nt" else str(url.database)
        self._opened: tuple[int, int] | None = None
        self._written: tuple[int, ...] | None = None

    def opened(self) -> None:
        """Remember the file that was opened just now; a StorageError if it is not the one of the other connections."""
        if self._opened is None and self._path is not None:
            self._opened = _identity(self._path)
        self.check()

    def closed(self) -> None:
        """There is no connection any more: the next one may be to another file."""
        self._opened = self._written = None

    def was_written(self) -> bool:
        """Whether somebody else has written to the file since `written`: a program like us, or one that copied over it.

        SQLite goes on with what it remembers of the file either way, and would mix the two.
        """
        return self._written is not None and self._path is not None and _state(self._path) != self._written

    def written(self) -> None:
        """Remember the file as it is now, after whatever we have written."""
        if self._opened is not None and self._path is not None:
            self._written = _state(self._path)

    def check(self) -> None:
        """Nothing, or a StorageError where the path leads to no file any more, or to another one."""
        if self._opened is None or self._path is None:
            return
        try:
            if _identity(self._path) == self._opened:
                return
        except FileNotFoundError:
            raise StorageError(
                f'the storage "{shown(self._url)}" is gone, its file was deleted or moved away: put it back, with the '
                "files beside it, and go on; or open the study again to begin a new one."
            ) from None
        except OSError:  # SQLite says what it makes of that
            return
        raise StorageError(
            f'the storage "{shown(self._url)}" is another file now than the one that was opened, and may lack what '
            "was told since: put that one back, or open the study again to go on with this one."
        )


def _state(path: str) -> tuple[int, ...]:
    """What changes with every writing to a file; nothing where it cannot be seen."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


class StillFile:
    """A file that is only looked at: while nobody writes to it, it is read as one that does not change.

    SQLite would otherwise make a log and its index beside it, which a connection that only reads cannot remove. It
    takes no locks for what does not change: whether that was so is asked afterwards.
    """

    def __init__(self, path: str):
        self._path, self._seen = path, threading.local()

    def is_still(self) -> bool:
        """Whether this thread may read the file, from now on, as one that does not change."""
        self._seen.state = None if getattr(self._seen, "is_written", False) else self._state()
        return self._seen.state is not None

    def read(self, work: Callable[[], R]) -> R:
        """What `work` returns; done again, as beside those who write, where somebody wrote meanwhile."""
        self._seen.state, self._seen.is_written = None, False
        try:
            result = work()
        except Exception:
            if self._was_still():
                raise
        else:
            if self._was_still():
                return result
        self._seen.is_written = True
        return work()

    def _was_still(self) -> bool:
        return self._seen.state is None or self._seen.state == self._state()

    def _state(self) -> tuple[int, ...] | None:
        """What differs once the file was written to; None if it is not there, or what was written waits beside it."""
        for end in ("-wal", "-journal"):
            with suppress(OSError):
                if os.stat(f"{self._path}{end}").st_size:
                    return None
        with suppress(OSError):
            found = os.stat(self._path)
            return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        return None
