"""Who asks: a situation for the strategy, its query, and whether that is still good once others have asked theirs."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pesky.data.outliers import as_reasons
from pesky.data.snapshot import Answered, Snapshot
from pesky.errors import DataError
from pesky.inference.inference import Inference
from pesky.numerics.runtime import threads_for
from pesky.run.budget import Exhausted
from pesky.run.spending import affordable
from pesky.space.region import Region
from pesky.store import Evaluation, Limit, Question
from pesky.strategy.conflict import is_among, is_mostly_left
from pesky.strategy.initial import Initial
from pesky.strategy.limits import Request, in_vain, tasks_left
from pesky.strategy.schedule import TimeBudget
from pesky.strategy.situation import Last, Situation
from pesky.strategy.strategy import Strategy
from pesky.strategy.task_values import TaskValues

MAX_RETRIES = 5
"""How often an asker decides again because others asked meanwhile what leaves its query little to tell, before any
query will do that is not one of theirs; and for no longer than the longest of these decisions took."""


class Asker:
    """What to ask next given all evaluations; remembers only the last query, to be faster."""

    def __init__(self, inference: Inference, strategy: Strategy, min_probability: float | None = None) -> None:
        self.inference, self.strategy, self.min_probability = inference, strategy, min_probability
        self.problem, self.space = inference.problem, inference.space
        self.region = Region.of(self.problem, self.space)
        self.schedule = TimeBudget(strategy.acquire.deciding_share)
        self.last = Last()

    def suggest(self, evaluations: Mapping[int, Evaluation], request: Request, *, is_retry: bool = False) -> Question:
        """The best question that is requested; `Exhausted` if there is none, or none worth its price.

        `is_retry` if it takes the place of the last one, which is not kept.
        """
        self.last.decision, self.last.known = None, evaluations
        situation = self._situation(evaluations, request, is_retry=is_retry)
        with self._timed(situation), threads_for(len(situation.snapshot.key)):
            query = self.strategy.propose(situation)
        if query is None:
            raise Exhausted("space", "no step of the strategy has anything to ask")
        return query.knowing(as_reasons(situation.left_out)).question()

    def _situation(self, evaluations: Mapping[int, Evaluation], request: Request, *, is_retry: bool) -> Situation:
        snapshot = self.inference.snapshot(evaluations)
        fitting = affordable(request.tasks, evaluations, self.problem, request.limit)
        known = self._inside(snapshot.answered(request.tasks))
        wanted = tasks_left(self.problem, self._size, request.tasks, evaluations, known)
        tasks = tuple(task for task in wanted if task in fitting)
        if not tasks:
            raise in_vain(request.limit)
        self.inference.check_known()
        unaffordable = tuple(task for task in wanted if task not in tasks)
        found = self._of(snapshot, request, tasks, unaffordable=unaffordable, is_retry=is_retry)
        self._check_begun(found)
        return found

    def _of(self, snapshot: Snapshot, request: Request, tasks: tuple[str, ...], **given: Any) -> Situation:
        return Situation(
            snapshot,
            request,
            tasks,
            inference=self.inference,
            rule=self.strategy.rule,
            region=self.region,
            min_probability=self.min_probability,
            schedule=self.schedule,
            last=self.last,
            **given,
        )

    def _check_begun(self, situation: Situation) -> None:
        """Raise DataError if nothing is known that the first question could rest on."""
        initial, told = self.strategy.get(Initial), situation.snapshot.told_outcomes
        if self.min_probability is not None and (
            missing := [c.outcome for c in self.problem.conditions if c.outcome not in told]
        ):
            raise DataError(
                f"min_probability was {self.min_probability:g}, and no value of {missing[0]!r} is known: no point "
                "can be called probably feasible. Add a measured point with `study.add(params, outcomes)` or "
                "`pesky import`, or leave min_probability out."
            )
        is_begun = any(e.outcomes for e in situation.learnt.values())
        if (initial is None or not initial.points) and self.strategy.rule.learns and not is_begun:
            raise DataError(
                "initial was 0, and nothing is measured: add data of your own with `study.add(params, outcomes)` or "
                "`pesky import`, or let `initial` be 1 or more."
            )

    @contextmanager
    def _timed(self, situation: Situation) -> Iterator[None]:
        """Count how long the strategy takes, for those who decide again and for what can be afforded."""
        began, self.last.seconds = time.monotonic(), self.last.seconds if situation.is_retry else []
        try:
            yield
        finally:
            seconds = time.monotonic() - began
            self.last.seconds.append(seconds)
            if situation.is_decided:
                self.schedule.took(situation.level, seconds)

    def reconsider(self, question: Question, evaluations: Mapping[int, Evaluation], request: Request) -> Question:
        """The last question, if it is still good beside what was asked and told since; else another."""
        if self.is_still_good(question, evaluations, request.limit):
            return question
        return self.suggest(evaluations, request, is_retry=True)

    def is_still_good(self, question: Question, evaluations: Mapping[int, Evaluation], limit: Limit) -> bool:
        """Whether the last question is none of those that others asked since, and these leave it most of its gain.

        After several retries the latter does not matter any more.
        """
        last = self.last
        if last.decision is None or last.full is None:
            return False  # no rule chose it
        try:
            affordable((question.task,), evaluations, self.problem, limit)
        except Exhausted:
            return False
        snapshot = self.inference.snapshot(evaluations)
        if self.problem.place_of(question.task, question.params) in snapshot.answered((question.task,))[question.task]:
            return False
        others = [e for id_, e in snapshot.learnt.items() if id_ not in last.known]
        columns = self.space.columns_of(self.problem.tasks[question.task].parameters or self.problem.parameters)
        if is_among(question, others, snapshot, columns):
            return False
        is_patient = len(last.seconds) <= MAX_RETRIES and sum(last.seconds) <= 2 * max(last.seconds)
        return not is_patient or is_mostly_left(question, others, last.full.context.belief, snapshot)

    def values(self, evaluations: Mapping[int, Evaluation]) -> TaskValues:
        """What each task of the problem is worth given these evaluations, as a full decision computes it."""
        tasks = tuple(self.problem.tasks)
        with threads_for(len(evaluations)):
            return self._of(self.inference.snapshot(evaluations), Request(tasks), tasks).values

    def _size(self, task: str) -> int | None:
        """How many different questions of a task there are; None where they cannot be counted."""
        own = self.problem.tasks[task].parameters
        if own is not None:
            return self.space.size_of(own)
        return self.space.size if self.region is None else self.region.size

    def _inside(self, known: Answered) -> Answered:
        """What is answered where the constraints on parameters hold; data of the user's own may break them."""
        if self.region is None or self.region.size is None:
            return known
        inside = {}
        for task, points in known.items():
            holds = self.region.contains(self.inference.points.stack(points.values())).tolist() if points else []
            inside[task] = {point: points[point] for point, each in zip(points, holds, strict=True) if each}
        return inside
