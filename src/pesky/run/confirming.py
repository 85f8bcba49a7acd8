"""How much of a budget is kept for the end, to measure the point that is going to be recommended."""

import math
from collections.abc import Mapping

from pesky.problem import Problem
from pesky.run.budget import Budget
from pesky.run.spending import typical_price
from pesky.store import Evaluation, Limit

POINTS = 3
"""Points that are confirmed, unless that takes more than a tenth of the budget: then one, if a fifth pays for it."""


def most_confirmations(budget: Budget, problem: Problem) -> int:
    """How many evaluations confirm at most."""
    return (POINTS if budget.confirm is None else budget.confirm) * len(problem.tasks)


def limit_before(budget: Budget, evaluations: Mapping[int, Evaluation], problem: Problem) -> Limit:
    """What may be asked before the recommendation is confirmed."""
    count, cost = budget.limit.evaluations, budget.limit.cost

    def before(limit: float, point: float) -> float:
        kept = _kept(limit, point) if budget.confirm is None else budget.confirm * point
        return max(limit - kept, 0.0)

    if count is not None:
        count = math.ceil(before(count, len(problem.tasks)))
    if cost is not None:
        cost = before(cost, sum(typical_price(task, evaluations, problem) for task in problem.tasks))
    return Limit(count, cost)


def _kept(limit: float, point: float) -> float:
    """What is kept of a limit if nobody said: less than a point needs would confirm nothing."""
    most = max(limit / 10, point)
    return min(POINTS * point, most) if most <= limit / 5 else 0.0


def seconds_before(budget: Budget, evaluations: Mapping[int, Evaluation], problem: Problem) -> float | None:
    """The seconds of a run after which the recommendation is confirmed; None if time is not limited."""
    if budget.seconds is None:
        return None
    took = [e.seconds for e in evaluations.values() if e.seconds is not None]
    needed = most_confirmations(budget, problem) * sum(took) / len(took) if took else 0.0
    return budget.seconds - (min(needed, budget.seconds / 10) if budget.confirm is None else needed)
