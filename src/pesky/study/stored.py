"""What a storage says of a study, checked: it may be damaged, or written by anybody."""

import threading
from collections.abc import Mapping

from pesky.errors import DataError, ProblemError, StorageError
from pesky.problem import Problem
from pesky.problem.values import check_params
from pesky.store import Evaluation, Store, StudyRecord
from pesky.text import one_line


def opened(store: Store, name: str, problem: Problem, seed: int, identity: str) -> StudyRecord:
    """The study of that name, which is created if it is not there and must ask the same if it is."""
    kept = store.open(name, problem.to_json(), seed, identity)
    if kept.problem != problem.to_json():
        if changed := stored_problem(kept).difference(problem):
            raise ProblemError(
                f"the study {name!r} is stored with another problem:\n"
                + "\n".join(f"  {line}" for line in changed)
                + "\nExpected the same problem: restore it, or give the new study another name."
            )
        if not getattr(store, "is_read_only", False):
            store.replace_problem(kept.identity, problem.to_json())
    return kept


def name_in(store: Store, name: str | None) -> str:
    """The name that was given, or else that of the only study in a storage."""
    if name is not None:
        return name
    names = store.names()
    if len(names) != 1:
        listed = ", ".join(map(repr, names)) or "none"
        raise StorageError(f"which study? The storage holds {listed}: give a name.")
    return names[0]


def stored_problem(kept: StudyRecord) -> Problem:
    """The problem that a study was stored with; of known outcomes without the functions, which are never stored."""
    try:
        return Problem.from_json(kept.problem)
    except (ValueError, TypeError, RecursionError) as error:  # SQLite may hold anything in place of a text
        raise StorageError(
            f"the stored problem of the study {kept.name!r} is damaged ({one_line(str(error), 500)}): restore a copy "
            "of the storage, or start the study anew."
        ) from error


class StoredEvaluations:
    """The evaluations of a study, of which only those are read that have changed; any thread may ask."""

    def __init__(self, store: Store, study: str, problem: Problem) -> None:
        self.seen: Mapping[int, Evaluation] = {}
        """As they were read last."""
        self._store, self._study, self._problem = store, study, problem
        self._revision = 0
        self._lock = threading.Lock()

    def read(self) -> Mapping[int, Evaluation]:
        """Every evaluation by its id, as the storage has it now."""
        with self._lock:
            self._revision, changed = self._store.changes(self._study, self._revision)
            for e in changed:
                check_fits(self._problem, e)
            if changed:
                # A new mapping each time, since another thread may be going through the old one.
                self.seen = dict(sorted({**self.seen, **{e.id: e for e in changed}}.items()))
            return self.seen


def check_fits(problem: Problem, evaluation: Evaluation) -> None:
    """Nothing, or a StorageError if an evaluation is none of this problem: its row was damaged, or is not ours."""
    try:
        if evaluation.task not in problem.tasks:
            raise DataError(f"the task {evaluation.task!r} is none of {', '.join(map(repr, problem.tasks))}")
        check_params(problem.parameters, evaluation.params)
        for outcome in evaluation.outcomes:
            if outcome not in problem.outcomes:
                raise DataError(f"the outcome {outcome!r} is none of {', '.join(map(repr, problem.outcomes))}")
    except DataError as error:
        raise StorageError(
            f"evaluation {evaluation.id} is stored with what does not fit the problem ({one_line(str(error), 500)}): "
            "restore a copy of the storage, or delete the row."
        ) from error
