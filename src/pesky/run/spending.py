"""What a study has cost, and what still fits in its limit."""

import math
from collections.abc import Mapping

from pesky.problem import Problem
from pesky.run.budget import Exhausted
from pesky.store import Evaluation, Limit
from pesky.store.transitions import counts
from pesky.wording import counted


def cost_of(evaluation: Evaluation, problem: Problem) -> float:
    """What an evaluation cost or is going to: its price, or the seconds that it took where costs are measured."""
    if not counts(evaluation):
        return 0.0
    task = problem.tasks.get(evaluation.task)  # None of one that the problem does not have any more
    is_measured = task is not None and task.cost == "measured"
    return evaluation.seconds if is_measured and evaluation.seconds is not None else evaluation.price


def spent(evaluations: Mapping[int, Evaluation], problem: Problem) -> dict[str, float]:
    """What each task has cost so far, what is running included."""
    each = dict.fromkeys(problem.tasks, 0.0)
    for e in evaluations.values():
        each[e.task] = each.get(e.task, 0.0) + cost_of(e, problem)
    return each


def typical_price(task: str, evaluations: Mapping[int, Evaluation], problem: Problem) -> float:
    """The task's cost; where that is measured, how long it took on average, and 1 where nobody knows yet."""
    cost = problem.tasks[task].cost
    if cost != "measured":
        return cost
    seconds = [e.seconds for e in evaluations.values() if e.task == task and e.seconds is not None]
    return sum(seconds) / len(seconds) if seconds else 1.0


def affordable(
    tasks: tuple[str, ...], evaluations: Mapping[int, Evaluation], problem: Problem, limit: Limit
) -> tuple[str, ...]:
    """The tasks that fit in what is left of the limit; `Exhausted` if none does."""
    count, cost = left_of(limit, evaluations, problem)
    fitting = tuple(task for task in tasks if typical_price(task, evaluations, problem) <= cost)
    if count < 1 or not fitting:
        raise beyond(limit)
    return fitting


def left_of(limit: Limit, evaluations: Mapping[int, Evaluation], problem: Problem) -> tuple[float, float]:
    """How many evaluations and what cost are left of a limit; infinite where there is none."""
    count = math.inf if limit.evaluations is None else limit.evaluations - sum(map(counts, evaluations.values()))
    if limit.cost is None:
        return count, math.inf
    # A rounding error of the sum is no reason to stop one short.
    return count, limit.cost * (1 + 1e-9) - sum(spent(evaluations, problem).values())


def kept_by_store(limit: Limit, problem: Problem) -> Limit:
    """The part of a limit that the storage can keep: it knows what was expected to be spent, not what was measured."""
    is_measured = any(task.cost == "measured" for task in problem.tasks.values())
    return Limit(limit.evaluations, None if is_measured else limit.cost)


def beyond(limit: Limit) -> Exhausted:
    """The error that says that a limit is reached."""
    parts = [
        counted(limit.evaluations) if limit.evaluations is not None else "",
        f"a cost of {limit.cost:g}" if limit.cost is not None else "",
    ]
    return Exhausted("budget", f"the budget of {' and '.join(filter(None, parts))} is spent")
