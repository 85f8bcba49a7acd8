"""How much of a budget is kept for the end, to measure the point that is going to be recommended."""

from collections.abc import Mapping

from pesky.problem import Problem
from pesky.run.budget import Budget
from pesky.run.spending import typical_price
from pesky.store import Evaluation, Limit

POINTS = 3
"""Points that are confirmed, unless that takes more than a tenth of the budget."""


def most_confirmations(budget: Budget, problem: Problem) -> int:
    """How many evaluations confirm at most."""
    return (POINTS if budget.confirm is None else budget.confirm) * len(problem.tasks)


def limit_before(budget: Budget, evaluations: Mapping[int, Evaluation], problem: Problem) -> Limit:
    """What may be asked before the recommendation is confirmed."""
    most, limit = most_confirmations(budget, problem), budget.limit
    is_tenth = budget.confirm is None
    count, cost = limit.evaluations, limit.cost
    if count is not None:
        count = max(count - (min(most, count // 10) if is_tenth else most), 0)
    if cost is not None:
        point = sum(typical_price(task, evaluations, problem) for task in problem.tasks)
        kept = point * most / len(problem.tasks)
        if is_tenth:  # less than a point costs would confirm nothing
            kept = min(kept, cost / 10) if point <= cost / 10 else 0.0
        cost = max(cost - kept, 0.0)
    return Limit(count, cost)


def seconds_before(budget: Budget, evaluations: Mapping[int, Evaluation], problem: Problem) -> float | None:
    """The seconds of a run after which the recommendation is confirmed; None if time is not limited."""
    if budget.seconds is None:
        return None
    took = [e.seconds for e in evaluations.values() if e.seconds is not None]
    needed = most_confirmations(budget, problem) * sum(took) / len(took) if took else 0.0
    return budget.seconds - (min(needed, budget.seconds / 10) if budget.confirm is None else needed)
