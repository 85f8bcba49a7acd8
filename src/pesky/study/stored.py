"""What a storage says of a study, checked: it may be damaged, or written by anybody."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from pesky.errors import DataError, StorageError, StudyGone
from pesky.problem import Problem
from pesky.problem.values import check_kinds
from pesky.store import Evaluation, Store, StudyRecord
from pesky.text import one_line


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

    def __init__(self, store: Store, study: StudyRecord, problem: Problem) -> None:
        self.seen: Mapping[int, Evaluation] = {}
        """As they were read last."""
        self._store, self._study, self._name, self._problem = store, study.identity, study.name, problem
        self._revision = 0
        self._lock = threading.Lock()

    def read(self) -> Mapping[int, Evaluation]:
        """Every evaluation by its id, as the storage has it now."""
        with self._lock:
            revision, changed = self._store.changes(self._study, self._revision)
            if revision != self._revision and (name := self._store.record(self._study).name) != self._name:
                raise set_aside_since(self._name, name)
            for e in changed:
                check_fits(self._problem, e, partial(all_problems, self._store, self._study))
            self._revision = revision
            if changed:
                # A new mapping each time, since another thread may be going through the old one.
                self.seen = dict(sorted({**self.seen, **{e.id: e for e in changed}}.items()))
            return self.seen


def set_aside_since(name: str, now: str) -> StudyGone:
    """The error for a study that has another name than when it was opened."""
    return StudyGone(
        f"the study {name!r} that was opened here was set aside, as {now!r}, with all that was measured: open the "
        "study again to work on the one that has its name now."
    )


def all_problems(store: Store, study: str) -> list[Problem]:
    """Every problem that the study had."""
    kept = store.record(study)
    return [stored_problem(replace(kept, problem=each.problem)) for each in store.problems(study)]


def check_fits(problem: Problem, evaluation: Evaluation, every: Callable[[], list[Problem]]) -> None:
    """Nothing, or a StorageError if an evaluation is none of this problem: its row was damaged, or is not ours.

    Bounds and options may have been others when it was asked; its task and outcomes are of one of the problems that
    the study had, which `every` gives.
    """
    try:
        check_kinds(problem.parameters, evaluation.params)
        _check_known("task", [evaluation.task], problem.tasks, lambda each: each.tasks, every)
        _check_known("outcome", evaluation.outcomes, problem.outcomes, lambda each: each.outcomes, every)
    except DataError as error:
        raise StorageError(
            f"evaluation {evaluation.id} is stored with what does not fit the problem ({one_line(str(error), 500)}): "
            "restore a copy of the storage, or delete the row."
        ) from error


def _check_known(
    what: str,
    names: Iterable[str],
    today: Iterable[str],
    of: Callable[[Problem], Iterable[str]],
    every: Callable[[], list[Problem]],
) -> None:
    if unknown := set(names).difference(today):
        known = [name for each in every() for name in of(each)]
        for name in unknown.difference(known):
            raise DataError(f"the {what} {name!r} is none of {', '.join(map(repr, dict.fromkeys(known)))}")
