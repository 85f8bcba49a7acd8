"""The study that a study file speaks of: opened to go on with it, or only looked at."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pesky.errors import ProblemError, StorageError
from pesky.file import StudyFile
from pesky.file.storage import hidden
from pesky.problem import Problem
from pesky.store import Evaluation, Store, open_store

if TYPE_CHECKING:
    from pesky.study import Study


@dataclass(frozen=True)
class Kept:
    """What the storage has of a study."""

    problem: Problem
    evaluations: list[Evaluation]


def where(file: StudyFile) -> str:
    """The storage for people to read: a path relative to here, or an URL without its password."""
    scheme, _, path = file.storage.partition(":///")
    return os.path.relpath(path) if scheme.startswith("sqlite") else hidden(file.storage)


def open_study(file: StudyFile) -> "Study":
    """The study, continued if it is there and begun if it is not."""
    from pesky.file.rules import rule_in
    from pesky.study import Study

    run = file.run
    try:
        return Study(
            file.problem,
            storage=file.storage,
            name=file.name,
            seed=run.seed,
            rule=rule_in(run),
            setting=run.setting,
            samples=run.samples,
            initial=run.initial,
            min_probability=run.min_probability,
            deciding_share=run.deciding_share,
        )
    except ProblemError as error:
        raise ProblemError(f"{error} `pesky run {file.path.name} --fresh` forgets the stored one.") from error


def look(file: StudyFile) -> Kept:
    """The study as it is kept; a StorageError if there is none. Nothing is created."""
    store = _existing(file)
    if store is None or file.name not in store.names():
        raise StorageError(
            f"there is no study {file.name!r} in {where(file)} yet: `pesky run {file.path.name}` or "
            f"`pesky ask {file.path.name}` begins it."
        )
    problem = Problem.from_json(store.load(file.name).problem)
    # The file's own knows where its functions are.
    problem = file.problem if file.problem == problem else problem
    return Kept(problem, store.changes(file.name, 0)[1])


def forget(file: StudyFile) -> None:
    """Delete the study from its storage, if it is there."""
    store = _existing(file)
    if store is not None:
        store.delete(file.name)
        store.close()


def count(file: StudyFile) -> int:
    """How many evaluations are kept of the study."""
    store = _existing(file)
    return 0 if store is None or file.name not in store.names() else len(store.changes(file.name, 0)[1])


def _existing(file: StudyFile) -> Store | None:
    """The store, unless it is a file that is not there: to look must not make one."""
    scheme, _, path = file.storage.partition(":///")
    if scheme.startswith("sqlite") and not os.path.exists(path):
        return None
    return open_store(file.storage)
