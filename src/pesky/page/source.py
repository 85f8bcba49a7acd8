"""What a page is of: a storage, and the study file that says more about one of its studies."""

import os
from dataclasses import dataclass
from pathlib import Path

from pesky.errors import StorageError, unknown_name
from pesky.problem import Problem
from pesky.store import Store, StudyRecord, open_store
from pesky.store.sql.url import EXPECTED, hidden, path_of, url_of
from pesky.study.changes import opened
from pesky.study.stored import stored_problem
from pesky.study_file import StudyFile
from pesky.study_file.toml import DATABASES, is_database


@dataclass(frozen=True)
class Source:
    """The studies of one storage."""

    given: str
    """What the user named, from which another process finds the same."""
    storage: str
    file: StudyFile | None = None

    def __repr__(self) -> str:
        return f"Source({hidden(self.given)!r})"

    @classmethod
    def of(cls, given: str) -> "Source":
        """That of a study file, a database file or the URL of a storage."""
        if "://" in given:
            return cls(given, given)
        path = Path(given)
        if os.path.isfile(path):  # unlike pathlib's, whatever lengths names have
            if is_database(path):
                return cls(given, url_of(path.resolve()))
        elif (said := hidden(given)) != given:  # a URL with a slip: what is said of a missing file would repeat it
            raise StorageError(f"there is no file {said!r}, and it is no URL of a storage: {EXPECTED}.")
        elif path.suffix in DATABASES:
            there = sorted(each.name for each in path.parent.glob(f"*{path.suffix}"))
            raise StorageError(unknown_name("database", given, there))
        file = StudyFile.read(path, importing=False)
        return cls(given, file.storage, file)

    @property
    def shown(self) -> str:
        """The storage for people to read: a file's name, or a URL without its password."""
        path = path_of(self.storage)
        return hidden(self.storage) if path is None else Path(path).name

    def open(self, *, read_only: bool) -> Store:
        """The store, which must be there."""
        return open_store(self.storage, create=False, read_only=read_only)

    def prepare(self, *, write: bool) -> None:
        """Nothing, or a StorageError where there is nothing to show; for writing, a file's study is begun."""
        file, path = self.file, path_of(self.storage)
        if write and file is not None:
            store = open_store(self.storage)
            if file.name not in store.names():
                opened(store, file.name, file.problem, file.run.seed)
            store.close()
        elif path is not None and not os.path.exists(path):
            begin = "" if file is None else f": `pesky run {file.path.name}` begins it, and so does --write here"
            raise StorageError(f"there is no storage {self.shown} yet{begin}.")

    def problem(self, record: StudyRecord) -> Problem:
        """The problem as it is stored; the file's own where it is the same, which knows where its functions are."""
        stored, file = stored_problem(record), self.file
        is_the_files = file is not None and record.name == file.name and file.problem == stored
        return file.problem if file is not None and is_the_files else stored
