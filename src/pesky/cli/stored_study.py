"""The stored study that a study file speaks of: opened to go on with it, read, or set aside.

To look at a study takes its storage alone: `Looked`.
"""

import os
import re
import shlex
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pesky.errors import DataError, ProblemError, StorageAway, StorageError, unknown_name
from pesky.page.source import Source
from pesky.problem import Problem
from pesky.store import Evaluation, Store, open_store
from pesky.store.sql.url import hidden, path_of
from pesky.study.set_aside import set_aside, those_of
from pesky.study.stored import all_problems, check_fits
from pesky.study_file import StudyFile
from pesky.study_file.tables import BudgetTable

if TYPE_CHECKING:
    from pesky.study import Study
    from pesky.study.data import StudyData


@dataclass(frozen=True)
class Snapshot:
    """A study as the storage had it when it was read."""

    problem: Problem
    evaluations: list[Evaluation]
    set_aside: list[str]
    """The names of the studies that made room for this one."""


@dataclass(frozen=True)
class Looked:
    """A study to look at: that of a study file, or one of a storage by itself."""

    source: Source
    name: str
    again: str
    """What names it on the command line."""

    @classmethod
    def of(cls, given: str, name: str | None) -> "Looked":
        """That of a study file, or the one of this name in a storage; if none is given, the only one there is."""
        source = Source.of(given)
        if source.file is None:
            chosen = _name_in(source, name)
            again = shlex.quote(hidden(given))
            return cls(source, chosen, again if name is None else f"{again} --name {shlex.quote(name)}")
        if name is not None and name != source.file.name:
            raise DataError(
                f"--name was {name!r}, and the study of {given} is {source.file.name!r}: leave --name out, or give the "
                f"storage, {storage_shown(source.storage)}, in the place of the file."
            )
        return cls.at(source.file)

    @classmethod
    def at(cls, file: StudyFile) -> "Looked":
        """That of a study file."""
        return cls(Source(str(file.path), file.storage, file), file.name, file.path.name)

    @property
    def file(self) -> StudyFile | None:
        return self.source.file

    @property
    def stem(self) -> str:
        """What files that are made of it are called."""
        return self.file.path.stem if self.file is not None else re.sub(r"[^\w.-]+", "-", self.name)

    @property
    def budget(self) -> BudgetTable:
        """What the file says of it; a storage by itself says nothing."""
        return BudgetTable() if self.file is None else self.file.budget

    @property
    def shown(self) -> str:
        """The storage for people to read."""
        return storage_shown(self.source.storage)

    def read(self) -> Snapshot:
        """The study as it is kept; a StorageError if there is none, or if it is damaged. Nothing is written."""
        store = _existing(self.source.storage, read_only=True)
        if store is None or self.name not in store.names():
            begins = (
                f": `pesky run {self.again}` or `pesky ask {self.again}` begins it" if self.file is not None else ""
            )
            raise StorageError(f"there is no study {self.name!r} in {self.shown} yet{begins}.")
        kept = store.load(self.name)
        problem = self.source.problem(kept)
        _, evaluations = store.changes(kept.identity, 0)
        for evaluation in evaluations:
            check_fits(problem, evaluation, partial(all_problems, store, kept.identity))
        aside = those_of(self.name, store.names())
        store.close()
        return Snapshot(problem, evaluations, aside)

    def open(self) -> "Study":
        """The study, for reading; it must be there. Of a storage by itself the settings are the default ones."""
        if self.file is not None:
            return open_study(self.file, read_only=True)
        from pesky.study import Study

        return Study.load(self.source.open(read_only=True), self.name)


def _name_in(source: Source, name: str | None) -> str:
    """The study of this name, or the only one but for those that were set aside."""
    store, shown = source.open(read_only=True), storage_shown(source.storage)
    names = store.names()
    store.close()
    if name is not None:
        if name not in names:
            raise StorageError(f"{shown}: {unknown_name('study', name, names)}")
        return name
    aside = {each for own in names for each in those_of(own, names)}
    present = [each for each in names if each not in aside]
    if not present:
        raise StorageError(f"there is no study in {shown}.")
    if len(present) > 1:
        listed = ", ".join(map(repr, present))
        raise DataError(f"which study? {shown} holds {listed}: say it, like --name {shlex.quote(present[0])}.")
    return present[0]


def storage_shown(storage: str) -> str:
    """The storage for people to read: a path relative to here, or an URL without its password."""
    path = path_of(storage)
    return hidden(storage) if path is None else os.path.relpath(path)


def open_study(file: StudyFile, *, read_only: bool = False) -> "Study":
    """The study, continued if it is there and begun if it is not; `read_only`, it must be there."""
    from pesky.study import Study
    from pesky.study.changes import StoredOtherwise
    from pesky.study_file.settings import settings_in

    try:
        return Study(
            file.problem,
            storage=open_store(file.storage, read_only=True) if read_only else file.storage,
            name=file.name,
            **settings_in(file),
        )
    except StoredOtherwise as error:
        raise ProblemError(f"{error} `pesky run {file.path.name} --fresh` sets the stored one aside.") from error


def open_data(file: StudyFile) -> "StudyData":
    """The same without what decides and believes, which takes seconds to import: to tell a result takes none of it."""
    from pesky.study.changes import StoredOtherwise, opened
    from pesky.study.data import StudyData

    store = open_store(file.storage)
    try:
        return StudyData(file.problem, store, opened(store, file.name, file.problem, file.run.seed))
    except StoredOtherwise as error:
        raise ProblemError(f"{error} `pesky run {file.path.name} --fresh` sets the stored one aside.") from error


def read_snapshot(file: StudyFile) -> Snapshot:
    """The study of a study file as it is kept: see `Looked.read`."""
    return Looked.at(file).read()


def put_aside(file: StudyFile) -> str | None:
    """The name under which the study is kept from now on, if it is there: its own is free for a new one."""
    store = _existing(file.storage)
    if store is None:
        return None
    try:
        return set_aside(store, file.name) if file.name in store.names() else None
    finally:
        store.close()


def count(file: StudyFile) -> int | None:
    """How many evaluations are kept of the study; None if they cannot be read."""
    store = _existing(file.storage, read_only=True)
    if store is None or file.name not in store.names():
        return 0
    try:
        return len(store.changes(store.load(file.name).identity, 0)[1])
    except StorageAway:
        raise
    except StorageError:
        return None


def _existing(storage: str, *, read_only: bool = False) -> Store | None:
    """The store, unless it is a file that is not there: to look must not make one."""
    path = path_of(storage)
    if path is not None and not os.path.exists(path):
        return None
    return open_store(storage, create=False, read_only=read_only)
