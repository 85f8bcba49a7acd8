"""What a study was told, and by whom: the part of it that needs no model, and so no seconds to import one."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pesky.errors import DataError
from pesky.problem import Option, Problem
from pesky.problem.outcome_values import check_outcomes
from pesky.problem.values import check_params
from pesky.run.rescue import Result
from pesky.store import Evaluation, Store, StudyRecord
from pesky.study.stored import StoredEvaluations
from pesky.study.told import attempt_of, check_task, expected_of, id_of, rescued_results, task_of, told_values


class StudyData:
    """The evaluations of a study that is kept in a store: told, failed, corrected; `Study` asks them, too."""

    def __init__(self, problem: Problem, store: Store, kept: StudyRecord) -> None:
        self.problem, self.store, self.name, self.identity = problem, store, kept.name, kept.identity
        self._stored = StoredEvaluations(store, kept, problem)

    @property
    def evaluations(self) -> Mapping[int, Evaluation]:
        """Every evaluation by its id, as the storage has it now."""
        return self._stored.read()

    def tell(
        self, evaluation: Evaluation | int, outcomes: Mapping[str, float], *, seconds: float | None = None
    ) -> Evaluation:
        """Take in any subset of the evaluation's outcomes; the rest may come later.

        Telling the same again changes nothing; a different value for the same outcome is refused. `seconds` is how
        long the measurement took, where costs are measured.
        """
        asked, values = self._asked(evaluation), told_values(self.problem, outcomes)
        expected = expected_of(self.problem, asked.task, values)
        check_task(asked.task, expected, values)
        return self.store.tell(self.identity, asked.id, values, expected, seconds, attempt=attempt_of(evaluation))

    def fail(self, evaluation: Evaluation | int, reason: str, *, seconds: float | None = None) -> Evaluation:
        """Record that measuring failed, and why; a task with failures="learn" learns from it."""
        asked = self._asked(evaluation)
        return self.store.fail(
            self.identity, asked.id, str(reason), attempt=attempt_of(evaluation), seconds=seconds, outcomes={}
        )

    def recover(self, path: str | Path) -> list[Evaluation]:
        """Take in the results of a file that a run wrote when its storage would not take them; again, if need be."""
        return [self._recovered(each) for each in rescued_results(path, self.identity)]

    def _recovered(self, result: Result) -> Evaluation:
        values = check_outcomes(self.problem, result.outcomes)
        expected = expected_of(self.problem, self._asked(result.id).task, values)
        if result.error is None:
            tell = partial(self.store.tell, self.identity, result.id, values, expected, result.seconds)
            return tell(attempt=result.attempt, attributes=result.attributes)
        fail = partial(self.store.fail, self.identity, result.id, result.error, attempt=None, seconds=result.seconds)
        return fail(outcomes=values, attributes=result.attributes)

    def release(self, evaluation: Evaluation | int, reason: str = "let go") -> Evaluation:
        """Let go of an evaluation that is not measured after all: it is asked again, and counts as no failure."""
        return self.store.release(
            self.identity, self._asked(evaluation).id, str(reason), attempt=attempt_of(evaluation)
        )

    def renew(self, evaluation: Evaluation, lease: float) -> bool:
        """Extend the lease by so many seconds from now; False if the evaluation was handed to someone else since.

        A lease that ran out is there again, unless that happened.
        """
        if evaluation.lease is None:
            raise DataError(f"evaluation {evaluation.id} has no lease: ask with lease=... to renew it.")
        asked = self._asked(evaluation)
        return asked.id in self.store.renew(self.identity, {asked.id: evaluation.attempts}, lease)

    def abandon(self, evaluation: Evaluation | int) -> None:
        """Expect no further outcomes of this evaluation; what was told stays, and a late result is still accepted."""
        self.store.abandon(self.identity, self._asked(evaluation).id)

    def add_one(self, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation:
        """Take in data of your own: any outcomes at any point of the space."""
        check_params(self.problem.parameters, params)
        values = told_values(self.problem, outcomes)
        return self.store.add(self.identity, task_of(self.problem, values), params, values)

    def _asked(self, evaluation: Evaluation | int) -> Evaluation:
        """The evaluation that was given, or that has the number, if it is one of this very study."""
        id_ = id_of(evaluation, self.identity)
        if isinstance(evaluation, Evaluation):
            return evaluation
        is_number = isinstance(id_, int)
        known = self._stored.seen if is_number and id_ in self._stored.seen else self.evaluations
        if not is_number or id_ not in known:
            raise DataError(
                f"{id_!r} is no evaluation of this study: give what `ask` returned or its id, or use "
                "`study.add(params, outcomes)` for data of your own."
            )
        return known[id_]

    def outcomes(self, evaluation: Evaluation | int) -> dict[str, float]:
        """What was told of an evaluation so far."""
        found = self.evaluations.get(evaluation.id if isinstance(evaluation, Evaluation) else evaluation)
        return {} if found is None else dict(found.outcomes)

    def correct(self, evaluation: Evaluation | int, outcomes: Mapping[str, float], reason: str = "") -> Evaluation:
        """Put these values in place of those that were told; the old ones and the reason stay in its `corrections`."""
        values = told_values(self.problem, outcomes)
        return self.store.correct(self.identity, self._asked(evaluation).id, values, str(reason))

    def exclude(self, evaluation: Evaluation | int, reason: str = "") -> Evaluation:
        """Learn nothing from this evaluation, and ask it again where that is worth it; it is kept, and was paid for."""
        return self.store.exclude(self.identity, self._asked(evaluation).id, str(reason))

    def include(self, evaluation: Evaluation | int, reason: str = "") -> Evaluation:
        """Learn from an evaluation again that was excluded."""
        return self.store.include(self.identity, self._asked(evaluation).id, str(reason))
