"""The next question: the initial design first, then the task and point with the most gain per cost."""

import time
from collections.abc import Mapping

import torch

from pesky.acquire.fantasy import overlap
from pesky.decide import Decision
from pesky.decide.duplicates import size
from pesky.decide.fallback import NEGLIGIBLE
from pesky.numerics.rng import question_seed, source_of
from pesky.problem import Option, Problem
from pesky.run.budget import Exhausted
from pesky.run.spending import affordable, beyond, typical_price
from pesky.space import Space
from pesky.store import Evaluation, Limit, Question, State
from pesky.study.deliberate import Deliberation, duplicates

APART = 1e-3
"""Questions of one task closer than this, in the unit cube, are the same question."""
SHARED = 0.5
"""The part of a question that others may have asked meanwhile. They leave no more to learn than there was, so the best
question then tells at most twice what this one still does."""
PATIENCE = 5
"""How often who asks decides again because others asked meanwhile what leaves the question little to tell, before any
question will do that is not one of theirs; and for no longer than the longest of these decisions took."""


class Questioner:
    """What to ask given all evaluations; the last decision stays for whoever wants to know how it was made."""

    def __init__(
        self,
        problem: Problem,
        space: Space,
        mind: Deliberation,
        seed: int,
        initial: int,
        min_probability: float | None,
    ) -> None:
        self.problem, self.space, self.mind = problem, space, mind
        self.seed, self.initial, self.min_probability = seed, initial, min_probability
        self.design = [space.decode(u) for u in space.latin(initial, source_of(seed))]
        self.decision: Decision | None = None
        self._seconds: list[float] = []
        """How long the last question was decided, and every time that it was decided again."""

    def next(
        self,
        evaluations: Mapping[int, Evaluation],
        tasks: tuple[str, ...],
        limit: Limit,
        gain_per_cost: float | None,
        is_retry: bool,
    ) -> Question:
        """The best question of these tasks within the limit; `Exhausted` if there is none, or none worth its price.

        `is_retry` if it takes the place of the last one, which is not kept.
        """
        began, self._seconds = time.monotonic(), self._seconds if is_retry else []
        question = self._next(evaluations, tasks, limit, gain_per_cost, is_retry)
        self._seconds.append(time.monotonic() - began)
        return question

    def _next(
        self,
        evaluations: Mapping[int, Evaluation],
        tasks: tuple[str, ...],
        limit: Limit,
        gain_per_cost: float | None,
        is_retry: bool,
    ) -> Question:
        self.decision = None
        fitting = affordable(tasks, evaluations, self.problem, limit)
        wanted = self._left(tasks, evaluations)
        tasks = tuple(task for task in wanted if task in fitting)
        if not tasks:
            raise _in_vain(limit)
        self.mind.check_known()
        if (first := self._of_design(evaluations, tasks)) is not None:
            return first
        generator = source_of(question_seed(self.seed, len(evaluations) + 1))
        self.decision = best = self.mind.decide(evaluations, tasks, generator, self.min_probability, is_retry)
        # What a look tells is no measure of what is left to be told: the question after it is.
        told = None if best.acquisition.is_coarse else best.gain
        if gain_per_cost is not None and told is not None and told < gain_per_cost * best.price:
            raise Exhausted(
                "gain",
                f"nothing is left worth its price: the best question tells {told:.2g} nats for a cost of "
                f"{best.price:.3g}, and at least {gain_per_cost:.2g} nats per cost were asked",
            )
        if len(tasks) < len(wanted) and told is not None and told < NEGLIGIBLE:
            raise _in_vain(limit)
        return Question(tasks[best.task], self.space.decode(best.u), best.gain, best.price)

    def _left(self, tasks: tuple[str, ...], evaluations: Mapping[int, Evaluation]) -> tuple[str, ...]:
        """The tasks that are not settled everywhere; `Exhausted` if all of them are."""
        points = size(self.space)
        left = tuple(
            task for task in tasks if points is None or len(duplicates(self.problem, evaluations, task)) < points
        )
        if left:
            return left
        by = "" if {*tasks} == {*self.problem.tasks} else f" by {' and '.join(map(repr, tasks))}"
        awaited = " or is being measured" if any(e.is_open for e in evaluations.values()) else ""
        raise Exhausted(
            "space",
            f"every point of the space was measured{by}{awaited}, and without noise a repeat tells nothing: the space "
            f"of {points} points is exhausted",
        )

    def _of_design(self, evaluations: Mapping[int, Evaluation], tasks: tuple[str, ...]) -> Question | None:
        wanted = {task: duplicates(self.problem, evaluations, task) for task in tasks if self._wants(task, evaluations)}
        for params in self.design:
            for task, known in wanted.items():
                if not _is_asked(task, params, evaluations) and tuple(params.values()) not in known:
                    return Question(task, params, None, typical_price(task, evaluations, self.problem))
        return None

    def _wants(self, task: str, evaluations: Mapping[int, Evaluation]) -> bool:
        """Whether an outcome of the task has fewer values, told or awaited, than the initial design gives."""
        counts = dict.fromkeys(self.problem.outcomes, 0)
        for e in evaluations.values():
            awaited = self.problem.tasks[e.task].outcomes if e.is_open or e.state is State.LOST else ()
            for name in {*e.outcomes, *awaited}:
                counts[name] += 1
        return any(counts[name] < self.initial for name in self.problem.tasks[task].outcomes)

    def is_kept(
        self,
        question: Question,
        known: Mapping[int, Evaluation],
        now: Mapping[int, Evaluation],
        limit: Limit,
    ) -> bool:
        """Whether a question that was decided on what was known is still good beside what was asked and told since.

        It is none of theirs, and they leave it most of its gain; who is not patient any more does without the latter.
        """
        others, belief = [e for id_, e in now.items() if id_ not in known], self.mind.last_belief
        if self.decision is None or belief is None:
            return False  # a question of the initial design
        try:
            affordable((question.task,), now, self.problem, limit)
        except Exhausted:
            return False
        rows = torch.tensor([name in self.problem.informs(question.task) for name in self.problem.rows])
        share = overlap(belief, self.space.encode(question.params), rows, self.mind.points(others))
        is_worth_it, is_same = share <= SHARED, self._is_among(question, others)
        is_settled = tuple(question.params.values()) in duplicates(self.problem, now, question.task)
        is_patient = len(self._seconds) <= PATIENCE and sum(self._seconds) <= 2 * max(self._seconds)
        return not is_same and not is_settled and (is_worth_it or not is_patient)

    def _is_among(self, question: Question, others: list[Evaluation]) -> bool:
        u = self.space.encode(question.params)
        each = [self.space.encode(e.params) for e in others if e.task == question.task]
        return any(float((u - other).abs().max()) < APART for other in each)


def _in_vain(limit: Limit) -> Exhausted:
    return Exhausted("budget", f"{beyond(limit)}: what is left of it buys nothing that would tell anything")


def _is_asked(task: str, params: Mapping[str, Option], evaluations: Mapping[int, Evaluation]) -> bool:
    return any(e.task == task and dict(e.params) == dict(params) for e in evaluations.values())
