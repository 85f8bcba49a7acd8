"""A store that lives and dies with its process."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NoReturn

from pesky import host
from pesky.errors import DataError, StorageError
from pesky.problem import Option
from pesky.store import transitions
from pesky.store.checks import check_name, check_since, gone, name_taken, unknown_id, unknown_study
from pesky.store.contract import NOTHING, Datum, Limit, ProblemRecord, Question, Refusal, StudyRecord
from pesky.store.evaluation import Evaluation, State


@dataclass
class _Study:
    """A study's record; every change of an evaluation goes through `put`."""

    kept: StudyRecord
    problems: list[ProblemRecord]
    settings: str = "{}"
    revision: int = 0
    evaluations: list[Evaluation] = field(default_factory=list)
    leased: set[int] = field(default_factory=set)
    """The numbers of those that may expire: of thousands that are done nobody looks at each."""

    def put(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation as kept, at the next revision."""
        self.revision += 1
        kept = replace(evaluation, revision=self.revision, study=self.kept.identity)
        self.evaluations[kept.id : kept.id + 1] = [kept]
        (self.leased.discard if kept.expires is None else self.leased.add)(kept.id)
        return kept

    def get(self, id: int) -> Evaluation:
        """The evaluation of that number."""
        if not 0 <= id < len(self.evaluations):
            raise DataError(unknown_id(id, len(self.evaluations)))
        return self.evaluations[id]

    def update(self, before: Evaluation, after: Evaluation) -> Evaluation:
        """The evaluation as kept, at the next revision if it changed."""
        return before if after is before else self.put(after)


_BEGAN = time.time() - host.steady()


def _now() -> float:
    """Seconds since 1970, by the machine's clock as it was when this was imported: setting it ends no lease."""
    return _BEGAN + host.steady()


class MemoryStore:
    """Studies in this process's memory. `clock` gives seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = _now):
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

    def open(self, name: str, problem: str, seed: int, identity: str) -> StudyRecord:
        """The study of that name as it is kept; it is created with these if there is none."""
        check_name(name)
        with self._lock:
            first = ProblemRecord(self._clock(), problem)
            return self._studies.setdefault(name, _Study(StudyRecord(name, problem, seed, identity), [first])).kept

    def load(self, name: str) -> StudyRecord:
        """The study of that name; a StorageError that lists the names there are if there is none."""
        check_name(name)
        with self._lock:
            if name not in self._studies:
                raise StorageError(unknown_study(name, list(self._studies)))
            return self._studies[name].kept

    def names(self) -> list[str]:
        """The names of all studies, in the order of their creation."""
        with self._lock:
            return list(self._studies)

    def record(self, study: str) -> StudyRecord:
        """The study as it is kept now."""
        with self._change(study) as (record, _):
            return record.kept

    def replace_problem(self, study: str, problem: str) -> None:
        """Keep this problem in place of the present one."""
        with self._change(study) as (record, _):
            record.kept = replace(record.kept, problem=problem)
            record.problems[-1] = replace(record.problems[-1], problem=problem)
            record.revision += 1

    def change_problem(self, study: str, problem: str) -> None:
        """Keep this problem with the study from now on, and the earlier ones in its history."""
        with self._change(study) as (record, now):
            record.kept = replace(record.kept, problem=problem)
            record.problems.append(ProblemRecord(now, problem))
            record.revision += 1

    def problems(self, study: str) -> list[ProblemRecord]:
        """The problems that the study had, the present one last."""
        with self._change(study) as (record, _):
            return list(record.problems)

    def settings(self, study: str) -> str:
        """How the study is asked, as the JSON text that was kept last."""
        with self._change(study) as (record, _):
            return record.settings

    def keep_settings(self, study: str, settings: str) -> None:
        """Keep this JSON text of how the study is asked."""
        with self._change(study) as (record, _):
            record.settings = settings

    def rename(self, study: str, name: str) -> None:
        """Keep the study under another name."""
        check_name(name)
        with self._change(study) as (record, _):
            if name != record.kept.name and name in self._studies:
                raise name_taken(name)
            before, record.kept = record.kept.name, replace(record.kept, name=name)
            record.revision += 1
            self._studies = {name if key == before else key: each for key, each in self._studies.items()}

    def delete(self, study: str) -> None:
        """Forget a study and all its evaluations; nothing if it is gone already."""
        with self._lock:
            self._studies = {name: each for name, each in self._studies.items() if each.kept.identity != study}

    def changes(self, study: str, since: int) -> tuple[int, list[Evaluation]]:
        """The study's revision, and the evaluations that changed after revision `since`, by their ids."""
        with self._change(study) as (record, _):
            check_since(since, record.revision)
            return record.revision, [each for each in record.evaluations if each.revision > since]

    def append(
        self,
        study: str,
        question: Question,
        *,
        known: int | None,
        limit: Limit,
        worker: str | None,
        lease: float | None,
    ) -> Evaluation | Refusal:
        """The question as a new evaluation, unless others have asked since or the limit is reached."""
        with self._change(study) as (record, now):
            counted = [each.price for each in record.evaluations if transitions.counts(each)]
            is_beyond = transitions.is_beyond(limit, len(counted), sum(counted), question.price)
            is_outdated = known is not None and len(record.evaluations) > known
            if is_outdated or is_beyond:
                return Refusal(is_outdated, is_beyond)
            return record.put(transitions.asked(len(record.evaluations), question, now, worker, lease))

    def enqueue(self, study: str, questions: Sequence[Question]) -> list[Evaluation]:
        """The questions as evaluations that are queued."""
        with self._change(study) as (record, now):
            first = len(record.evaluations)
            new = [transitions.queued(first + number, each, now) for number, each in enumerate(questions)]
            return [record.put(each) for each in new]

    def add(self, study: str, task: str, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation:
        """Data of the user's own, as an evaluation that is done."""
        return self.add_all(study, [Datum(task, params, outcomes)])[0]

    def add_all(self, study: str, data: Sequence[Datum]) -> list[Evaluation]:
        """The same for many, or for none of them if one is refused."""
        with self._change(study) as (record, now):
            first = len(record.evaluations)
            new = [transitions.added(first + number, each, now) for number, each in enumerate(data)]
            return [record.put(each) for each in new]

    def claim(
        self,
        study: str,
        tasks: Collection[str],
        *,
        losses: int | None,
        worker: str | None,
        lease: float | None,
        limit: Limit = Limit(),  # noqa: B008
    ) -> Evaluation | None:
        """The first queued evaluation of these tasks, or else the first lost one; None if there is none."""
        with self._change(study) as (record, now):
            counted = [each.price for each in record.evaluations if transitions.counts(each)]
            for each in sorted(record.evaluations, key=lambda each: each.state is not State.QUEUED):
                is_new = each.state is State.QUEUED
                if is_new and transitions.is_beyond(limit, len(counted), sum(counted), each.price):
                    continue
                if each.task in tasks:
                    kept = record.update(each, transitions.claimed(each, now, losses, worker, lease))
                    if kept.attempts > each.attempts:
                        return kept
            return None

    def renew(self, study: str, attempts: Mapping[int, int], lease: float) -> set[int]:
        """Extend the leases of the evaluations whose present attempt is the one given, and say which they are."""
        with self._change(study) as (record, now):
            held = [each for each in record.evaluations if each.id in attempts]
            return {
                each.id
                for each in held
                if record.update(each, transitions.renewed(each, now, attempts[each.id], lease)) is not each
            }

    def tell(
        self,
        study: str,
        id: int,
        outcomes: Mapping[str, float],
        expected: Collection[str],
        seconds: float | None,
        *,
        attempt: int | None = None,
        attributes: Mapping[str, object] = NOTHING,
    ) -> Evaluation:
        """Keep these outcomes; the evaluation is done once it has all that are `expected` of its task."""
        return self._change_one(
            study, id, lambda each, now: transitions.told(each, now, outcomes, expected, seconds, attempt, attributes)
        )

    def fail(
        self,
        study: str,
        id: int,
        error: str,
        *,
        attempt: int | None,
        seconds: float | None,
        outcomes: Mapping[str, float],
        attributes: Mapping[str, object] = NOTHING,
    ) -> Evaluation:
        """The evaluation as failed, with what it measured nevertheless."""
        return self._change_one(
            study, id, lambda each, now: transitions.failed(each, now, error, attempt, seconds, outcomes, attributes)
        )

    def crash(self, study: str, id: int, error: str, *, attempt: int, attempts: int) -> Evaluation:
        """The evaluation as lost, since the process that ran it died; failed if that happened `attempts` times."""
        return self._change_one(study, id, lambda each, now: transitions.crashed(each, now, error, attempt, attempts))

    def release(self, study: str, id: int, error: str, *, attempt: int | None) -> Evaluation:
        """The evaluation as lost, for someone else to claim."""
        return self._change_one(study, id, lambda each, now: transitions.released(each, now, error, attempt))

    def abandon(self, study: str, id: int) -> Evaluation:
        """The evaluation as abandoned."""
        return self._change_one(study, id, transitions.abandoned)

    def correct(self, study: str, id: int, outcomes: Mapping[str, float], reason: str) -> Evaluation:
        """The evaluation with these values in place of those told, which its corrections keep."""
        return self._change_one(study, id, lambda each, now: transitions.corrected(each, now, outcomes, reason))

    def exclude(self, study: str, id: int, reason: str) -> Evaluation:
        """The evaluation as excluded, with the reason among its corrections."""
        return self._change_one(study, id, lambda each, now: transitions.excluded(each, now, reason))

    def include(self, study: str, id: int, reason: str) -> Evaluation:
        """The evaluation as not excluded."""
        return self._change_one(study, id, lambda each, now: transitions.included(each, now, reason))

    def close(self) -> None:
        """Nothing to let go of."""

    def _change_one(self, study: str, id: int, transition: Callable[[Evaluation, float], Evaluation]) -> Evaluation:
        """The evaluation as kept after the transition."""
        with self._change(study) as (record, now):
            before = record.get(id)
            return record.update(before, transition(before, now))

    @contextmanager
    def _change(self, study: str) -> Iterator[tuple[_Study, float]]:
        """The study, nobody else's meanwhile and with what has expired marked, and the present time."""
        with self._lock:
            record = next((each for each in self._studies.values() if each.kept.identity == study), None)
            if record is None:
                raise gone()
            now = self._clock()
            for each in [record.evaluations[id_] for id_ in sorted(record.leased)]:
                record.update(each, transitions.expired(each, now))
            yield record, now
