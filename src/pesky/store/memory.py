"""A store that lives and dies with its process."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NoReturn

from pesky.errors import DataError, StorageError
from pesky.problem import Option
from pesky.store import transitions
from pesky.store.checks import check_name, check_since, unknown_id, unknown_study
from pesky.store.contract import Kept, Limit, Question, Refusal
from pesky.store.evaluation import Evaluation


@dataclass
class _Study:
    """A study's record; every change of an evaluation goes through `put`."""

    kept: Kept
    revision: int = 0
    evaluations: list[Evaluation] = field(default_factory=list)

    def put(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation as kept, at the next revision."""
        self.revision += 1
        kept = replace(evaluation, revision=self.revision)
        self.evaluations[kept.id : kept.id + 1] = [kept]
        return kept

    def get(self, id: int) -> Evaluation:
        """The evaluation of that number."""
        if not 0 <= id < len(self.evaluations):
            raise DataError(unknown_id(self.kept.name, id, len(self.evaluations)))
        return self.evaluations[id]

    def update(self, before: Evaluation, after: Evaluation) -> Evaluation:
        """The evaluation as kept, at the next revision if it changed."""
        return before if after is before else self.put(after)


class MemoryStore:
    """Studies in this process's memory. `clock` gives seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time):
        self._clock = clock
        self._lock = threading.RLock()
        self._studies: dict[str, _Study] = {}

    def __repr__(self) -> str:
        return "MemoryStore()"

    def __reduce__(self) -> NoReturn:
        raise StorageError(
            "a study in memory cannot be sent to another process: expected a storage that both can open, "
            'like storage="sqlite:///study.db".'
        )

    def open(self, name: str, problem: str, seed: int) -> Kept:
        """The study of that name as it is kept; it is created with this problem and seed if there is none."""
        check_name(name)
        with self._lock:
            return self._studies.setdefault(name, _Study(Kept(name, problem, seed))).kept

    def load(self, name: str) -> Kept:
        """The study of that name; a StorageError that lists the names there are if there is none."""
        check_name(name)
        with self._lock:
            return self._find(name).kept

    def names(self) -> list[str]:
        """The names of all studies, in the order of their creation."""
        with self._lock:
            return list(self._studies)

    def replace_problem(self, name: str, problem: str) -> None:
        """Keep this problem with the study from now on."""
        with self._lock:
            study = self._find(name)
            study.kept = replace(study.kept, problem=problem)
            study.revision += 1

    def delete(self, name: str) -> None:
        """Forget a study and all its evaluations; nothing if there is none of that name."""
        with self._lock:
            self._studies.pop(name, None)

    def changes(self, name: str, since: int) -> tuple[int, list[Evaluation]]:
        """The study's revision, and the evaluations that changed after revision `since`, by their ids."""
        with self._change(name) as (study, _):
            check_since(name, since, study.revision)
            return study.revision, [each for each in study.evaluations if each.revision > since]

    def append(
        self,
        name: str,
        question: Question,
        *,
        known: int | None,
        limit: Limit,
        worker: str | None,
        lease: float | None,
    ) -> Evaluation | Refusal:
        """The question as a new evaluation, unless others have asked since or the limit is reached."""
        with self._change(name) as (study, now):
            counted = [each.price for each in study.evaluations if transitions.counts(each)]
            is_beyond = transitions.is_beyond(limit, len(counted), sum(counted), question.price)
            is_outdated = known is not None and len(study.evaluations) > known
            if is_outdated or is_beyond:
                return Refusal(is_outdated, is_beyond)
            return study.put(transitions.asked(len(study.evaluations), question, now, worker, lease))

    def add(self, name: str, task: str, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation:
        """Data of the user's own, as an evaluation that is done."""
        with self._change(name) as (study, now):
            return study.put(transitions.yours(len(study.evaluations), task, params, outcomes, now))

    def claim(
        self, name: str, tasks: Collection[str], *, attempts: int, worker: str | None, lease: float | None
    ) -> Evaluation | None:
        """The first lost evaluation of these tasks, handed out again; None if there is none."""
        with self._change(name) as (study, now):
            for each in study.evaluations:
                if each.task in tasks:
                    kept = study.update(each, transitions.claimed(each, now, attempts, worker, lease))
                    if kept.attempts > each.attempts:
                        return kept
            return None

    def renew(self, name: str, ids: Collection[int], worker: str, lease: float) -> set[int]:
        """Extend the leases of those running evaluations that are still this worker's, and say which they are."""
        with self._change(name) as (study, now):
            mine = [each for each in study.evaluations if each.id in ids]
            return {
                each.id
                for each in mine
                if study.update(each, transitions.renewed(each, now, worker, lease)) is not each
            }

    def tell(
        self, name: str, id: int, outcomes: Mapping[str, float], expected: Collection[str], seconds: float | None
    ) -> Evaluation:
        """Keep these outcomes; the evaluation is done once it has all that are `expected` of its task."""
        with self._change(name) as (study, now):
            before = study.get(id)
            return study.update(before, transitions.told(before, now, outcomes, expected, seconds))

    def fail(
        self,
        name: str,
        id: int,
        error: str,
        *,
        attempt: int | None,
        seconds: float | None,
        outcomes: Mapping[str, float],
    ) -> Evaluation:
        """The evaluation as failed, with what it measured nevertheless."""
        with self._change(name) as (study, now):
            before = study.get(id)
            return study.update(before, transitions.failed(before, now, error, attempt, seconds, outcomes))

    def release(self, name: str, id: int, error: str, *, attempt: int | None) -> Evaluation:
        """The evaluation as lost, for someone else to claim."""
        with self._change(name) as (study, now):
            before = study.get(id)
            return study.update(before, transitions.released(before, now, error, attempt))

    def abandon(self, name: str, id: int) -> Evaluation:
        """The evaluation as abandoned."""
        with self._change(name) as (study, now):
            before = study.get(id)
            return study.update(before, transitions.abandoned(before, now))

    def close(self) -> None:
        """Nothing to let go of."""

    @contextmanager
    def _change(self, name: str) -> Iterator[tuple[_Study, float]]:
        """The study, nobody else's meanwhile and with what has expired marked, and the present time."""
        with self._lock:
            study, now = self._find(name), self._clock()
            for each in study.evaluations:
                study.update(each, transitions.expired(each, now))
            yield study, now

    def _find(self, name: str) -> _Study:
        if name not in self._studies:
            raise StorageError(unknown_study(name, list(self._studies)))
        return self._studies[name]
