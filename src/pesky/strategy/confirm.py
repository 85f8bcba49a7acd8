"""Confirm: a share for the answer: what was not measured yet at the best point, or where a better one may be."""

import logging
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import exp
from typing import ClassVar

from pesky.answer.prediction import constraint_texts
from pesky.answer.recommend import best_anywhere, best_from, best_of, log_probability
from pesky.answer.recommendation import Recommendation
from pesky.inference.inferred import Inferred
from pesky.problem import Problem
from pesky.run.spending import cost_of, left_of, typical_price
from pesky.store import Evaluation
from pesky.strategy.query import Query, Reason
from pesky.strategy.situation import Situation
from pesky.strategy.step import Step

log = logging.getLogger("pesky")

ROUNDING = 1e-9
"""How far a sum of costs may be off."""


@dataclass(frozen=True)
class Confirm(Step):
    """The task that matters most at the point that would be recommended, the one first that most probably fails.

    It takes no more than its share of the cost of all queries, and never several points in a row; a run keeps a part of
    its budget for it. Measured together, the point must be clearly better than the best measured one; where it is not,
    the query is where a better one is most to be expected. Measured separately, it is asked for as soon as it is better
    at all.
    """

    kinds: ClassVar = {
        "confirming": "for the answer: the best point was expected here, and was not measured wholly",
        "improving": "for the answer: where a better measured point is most to be expected",
    }

    share: float = field(default=0.2, metadata={"most": 1.0})
    """Of the cost of all queries."""
    bold: float = field(default=0.6, metadata={"most": 1.0})
    """The confidence that suffices for a point that is measured without noise before anyone uses it."""
    clearly: float = 1e-2
    """The part of the range of measured values by which a point is clearly better."""
    attempts: int = field(default=2, metadata={"least": 1})
    """How often what fails is tried at a point; what is learnt of failures is once enough."""

    def propose(self, situation: Situation) -> Query | None:
        if not situation.snapshot.is_any_told(situation.problem.grounds):
            return None
        if situation.request.confirm:
            return self._requested(situation)
        if not self.share or not (most := allowance(situation.evaluations, situation.problem, self.share)):
            return None
        found = self._early(situation) if situation.level == "full" else None
        return found if found is not None and found.price <= most else None

    def _requested(self, situation: Situation) -> Query | None:
        """What is left at the best point anywhere, if anything is.

        Where that is no better than what was measured already, without noise, it is the best point that less confidence
        is asked of: if it holds, it is the better answer, and if it does not, the last one stays.
        """
        inferred, least = situation.inference.afresh(situation.snapshot), situation.min_probability
        target = best_anywhere(inferred)
        if not beats_measured(inferred, target):
            target = self._bolder(inferred) or target
        likely = _probability(inferred.problem, target, inferred.problem.rows)
        if least is not None and likely < least:
            log.warning(
                "the best point satisfies all constraints with a probability of %.3g, and min_probability is %.3g: "
                "another one is asked",
                likely,
                least,
            )
        return self._left_near(target, inferred, situation)

    def _early(self, situation: Situation) -> Query | None:
        """The same while there is more to learn: only at a point that is sure enough to be recommended."""
        inferred, target = situation.quick, situation.answer
        if not target.is_confident:
            return None
        if len(inferred.problem.tasks) == 1:
            is_settled = target.is_measured or not beats_measured(inferred, target, self.clearly)
            return _improving(situation) if is_settled else self._left_near(target, inferred, situation)
        if target.is_measured:
            is_best = is_no_better(inferred, best_anywhere(inferred), target)
            bolder = self._bolder(inferred) if is_best else None
            return None if bolder is None else self._left_near(bolder, inferred, situation)
        return self._left_near(target, inferred, situation)

    def _bolder(self, inferred: Inferred) -> Recommendation | None:
        """The best point that less confidence is asked of; None with noise, where no measurement would settle it."""
        return best_anywhere(inferred, most=self.bold) if inferred.is_noiseless else None

    def _left_near(self, target: Recommendation, inferred: Inferred, situation: Situation) -> Query | None:
        """What is left at a point that was measured in part and is as good as the target; if nothing is, at the target.

        Every value that is told moves the target a little: followed, it would never be measured wholly. As good is what
        is not clearly worse, and still better than what was measured wholly.
        """
        partly = [point for point in inferred.points if not point.is_complete(inferred.problem)]
        begun = best_of(inferred, partly, compared=1)  # the target, too, is the best that is expected
        targets = [target]
        if begun is not None and begun.is_confident and is_no_better(inferred, target, begun, self.clearly):
            targets = [begun, target] if beats_measured(inferred, begun) else targets
        queries = (_left_at(each, inferred, situation, self.attempts) for each in targets)
        return next((query for query in queries if query is not None), None)


def _improving(situation: Situation) -> Query | None:
    """Where a better point is most to be expected, if it may be asked."""
    _, best = situation.by_improvement(situation.context())
    params = situation.params_of(best)
    if not situation.is_allowed(params):
        return None
    return Query(situation.tasks[int(best.task)], params, float(best.price), Reason("improving"))


def allowance(evaluations: Mapping[int, Evaluation], problem: Problem, share: float) -> float:
    """What may be spent on the answer now: a point, each time that with it all queries cost so many points more.

    With a share of a fifth and a price of 1 that is every fifth query. What is asked since counts, whatever it was: so
    it takes no more than its share, and never several points in a row.
    """
    point = sum(typical_price(task, evaluations, problem) for task in problem.tasks)
    spent, most, points = 0.0, 0.0, 0
    for e in evaluations.values():
        spent += cost_of(e, problem)
        if (due := int(share * (spent / point + 1) + ROUNDING)) > points:
            most, points = spent + point, due
    left = most - spent
    return left * (1 + ROUNDING) if left > ROUNDING * point else 0.0


def is_no_better(inferred: Inferred, target: Recommendation, other: Recommendation, by: float | None = None) -> bool:
    """Whether a point is expected to be better than another by no more than a part of the measured range."""
    least = inferred.tolerance if by is None else by
    return inferred.problem.sign * (other.expected - target.expected) <= least * inferred.objective_range


def beats_measured(inferred: Inferred, target: Recommendation, by: float | None = None) -> bool:
    """Whether it is better, by more than what does not matter, than every point that was measured and may be used."""
    measured = best_from(inferred)
    return measured is None or not measured.is_confident or not is_no_better(inferred, target, measured, by)


def _left_at(target: Recommendation, inferred: Inferred, situation: Situation, attempts: int) -> Query | None:
    """The task that is left at a point, if any is."""
    problem, evaluations, least = inferred.problem, inferred.snapshot.learnt, situation.min_probability
    if least is not None and _probability(problem, target, problem.rows) < least:
        return None
    u = inferred.space.encode(target.params)
    outliers = {id_ for id_, _ in inferred.left_out}
    here = [
        e
        for e in evaluations.values()
        if e.task in situation.request.tasks and e.id not in outliers and inferred.is_at(e, u)
    ]
    failed = Counter(e.task for e in inferred.failures_at(u))
    tried = {e.task for e in here if e not in inferred.snapshot.failed or failed[e.task] >= attempts}
    told = inferred.told_at(u)
    left = {
        task: rest
        for task in situation.request.tasks
        if task not in tried and (rest := {*problem.informs(task)} - told.keys())
    }
    prices = {task: typical_price(task, evaluations, problem) for task in left}
    count, cost = left_of(situation.request.limit, situation.evaluations, problem)
    if not left or len(left) > count or sum(prices.values()) > cost:
        return None  # what cannot be finished is not begun
    failing = {task: 1 - _probability(problem, target, rest) for task, rest in left.items()}
    # what probably fails for little money comes first: it saves the rest
    first = min(left, key=lambda task: (-failing[task] / prices[task], prices[task]))
    return Query(first, target.params, prices[first], Reason("confirming"))


def _probability(problem: Problem, target: Recommendation, outcomes: Collection[str]) -> float:
    """The probability that all conditions on these outcomes hold there."""
    each = zip(problem.conditions, constraint_texts(problem), strict=True)
    of = {text: condition for condition, text in each if condition.outcome in outcomes}
    return exp(log_probability([*of.values()], [target.probabilities[text] for text in of]))
