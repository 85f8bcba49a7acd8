"""The stored study that a study file speaks of: opened to go on with it, read, or set aside."""

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pesky.errors import ProblemError, StorageAway, StorageError
from pesky.problem import Problem
from pesky.store import Evaluation, Store, open_store
from pesky.store.sql.url import hidden, path_of
from pesky.study.set_aside import set_aside, those_of
from pesky.study.stored import all_problems, check_fits, stored_problem
from pesky.study_file import StudyFile

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


def storage_shown(file: StudyFile) -> str:
    """The storage for people to read: a path relative to here, or an URL without its password."""
    path = path_of(file.storage)
    return hidden(file.storage) if path is None else os.path.relpath(path)


def open_study(file: StudyFile, *, read_only: bool = False) -> "Study":
    """The study, continued if it is there and begun if it is not; `read_only`, it must be there."""
    from pesky.study import Study
    from pesky.study_file.settings import settings_in

    try:
        return Study(
            file.problem,
            storage=open_store(file.storage, read_only=True) if read_only else file.storage,
            name=file.name,
            **settings_in(file.run),
        )
    except ProblemError as error:
        raise ProblemError(f"{error} `pesky run {file.path.name} --fresh` sets the stored one aside.") from error


def open_data(file: StudyFile) -> "StudyData":
    """The same without what decides and believes, which takes seconds to import: to tell a result takes none of it."""
    from pesky.study.changes import opened
    from pesky.study.data import StudyData

    store = open_store(file.storage)
    try:
        return StudyData(file.problem, store, opened(store, file.name, file.problem, file.run.seed))
    except ProblemError as error:
        raise ProblemError(f"{error} `pesky run {file.path.name} --fresh` sets the stored one aside.") from error


def read_snapshot(file: StudyFile) -> Snapshot:
    """The study as it is kept; a StorageError if there is none, or if it is damaged. Nothing is written."""
    store = _existing(file, read_only=True)
    if store is None or file.name not in store.names():
        raise StorageError(
            f"there is no study {file.name!r} in {storage_shown(file)} yet: `pesky run {file.path.name}` or "
            f"`pesky ask {file.path.name}` begins it."
        )
    kept = store.load(file.name)
    problem = stored_problem(kept)
    # The file's own knows where its functions are.
    problem = file.problem if file.problem == problem else problem
    _, evaluations = store.changes(kept.identity, 0)
    for evaluation in evaluations:
        check_fits(problem, evaluation, partial(all_problems, store, kept.identity))
    aside = those_of(file.name, store.names())
    store.close()
    return Snapshot(problem, evaluations, aside)


def put_aside(file: StudyFile) -> str | None:
    """The name under which the study is kept from now on, if it is there: its own is free for a new one."""
    store = _existing(file)
    if store is None:
        return None
    try:
        return set_aside(store, file.name) if file.name in store.names() else None
    finally:
        store.close()


def count(file: StudyFile) -> int | None:
    """How many evaluations are kept of the study; None if they cannot be read."""
    store = _existing(file, read_only=True)
    if store is None or file.name not in store.names():
        return 0
    try:
        return len(store.changes(store.load(file.name).identity, 0)[1])
    except StorageAway:
        raise
    except StorageError:
        return None


def _existing(file: StudyFile, *, read_only: bool = False) -> Store | None:
    """The store, unless it is a file that is not there: to look must not make one."""
    path = path_of(file.storage)
    if path is not None and not os.path.exists(path):
        return None
    return open_store(file.storage, create=False, read_only=read_only)
