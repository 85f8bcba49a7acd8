"""The file of an SQLite database, which may be deleted while it is open: SQLite would go on in one without a name."""

import os

from sqlalchemy.engine import URL

from pesky.errors import StorageError
from pesky.store.sql.url import is_uri, shown


class OpenFile:
    """The file that connections have open, if the URL says which one it is and it can be taken away meanwhile."""

    def __init__(self, url: URL):
        self._url = url
        # Windows deletes no open file; and a URI may be of a database in memory, or of another kind of file system
        self._path = None if is_uri(url) or os.name == "nt" else str(url.database)
        self._opened: tuple[int, int] | None = None

    def opened(self) -> None:
        """Remember the file that was opened just now; a StorageError if it is not the one of the other connections."""
        if self._opened is None and self._path is not None:
            self._opened = _identity(self._path)
        self.check()

    def closed(self) -> None:
        """There is no connection any more: the next one may be to another file."""
        self._opened = None

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


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino
