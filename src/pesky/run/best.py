"""The best value as measured: without a model, and so at once."""

import heapq
from collections.abc import Iterable
from itertools import count

from pesky.problem import Option, Problem
from pesky.problem.known import values_at
from pesky.problem.values import belongs
from pesky.store import Evaluation
from pesky.store.evaluation import told_by


class BestMeasured:
    """The best measured value of the objective among the points that satisfied every condition, as measured or known.

    It takes each value as it is, with its noise. A success by chance (`failures="random"`) satisfies the condition
    that the task succeeds. Of a point that was measured repeatedly, the last values count. So it is the value of
    `Study.best()`, which needs a model, only where `is_exact` and no repetition contradicts another.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._told: dict[tuple[Option, ...], dict[str, float]] = {}
        self._feasible: dict[tuple[Option, ...], float] = {}
        # the values of all points, also those that they do not have any more: the least is found without a look at each
        self._least: list[tuple[float, int, tuple[Option, ...]]] = []
        self._order = count()

    def add(self, e: Evaluation) -> None:
        """Take in one more evaluation."""
        problem = self._problem
        values = tuple(e.params[name] for name in problem.parameters)
        is_inside = all(map(belongs, problem.parameters.values(), values))  # of the bounds as they are now
        if e.is_excluded or not is_inside or not (told := told_by(e, problem)):
            return
        self._told.setdefault(values, {}).update(told)
        self._feasible.pop(values, None)
        if (objective := _objective(problem, values, self._told[values])) is not None:
            self._feasible[values] = objective
            heapq.heappush(self._least, (problem.sign * objective, next(self._order), values))

    @property
    def value(self) -> float | None:
        """The best of all so far; None while there is no such point."""
        sign = self._problem.sign
        while self._least and self._feasible.get(self._least[0][2]) != sign * self._least[0][0]:
            heapq.heappop(self._least)
        return sign * self._least[0][0] if self._least else None


def best_measured(problem: Problem, evaluations: Iterable[Evaluation]) -> float | None:
    """The best value as measured of all of these; None while there is none."""
    best = BestMeasured(problem)
    for e in evaluations:
        best.add(e)
    return best.value


def is_exact(problem: Problem) -> bool:
    """Whether the objective and every condition are known, or declared to have no noise."""
    return problem.known.keys() | problem.declared_exact >= set(problem.rows)


def name_of_best(*, exact: bool) -> str:
    """The name that the value of `BestMeasured` is shown by: only exact values make it that of `Study.best()`."""
    return "best measured" if exact else "best as measured"


def _objective(problem: Problem, params: tuple[Option, ...], told: dict[str, float]) -> float | None:
    given = {**told, **values_at(problem.known, dict(zip(problem.parameters, params, strict=True)))}
    holds = (each.outcome in given and each.holds(given[each.outcome]) for each in problem.conditions)
    return given.get(problem.objective) if all(holds) else None
