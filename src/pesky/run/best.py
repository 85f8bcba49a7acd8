"""The best that was measured: without a model, and so at once."""

from collections.abc import Iterable

from pesky.problem import Option, Problem
from pesky.problem.known import values_at
from pesky.problem.values import belongs
from pesky.store import Evaluation


def best_measured(problem: Problem, evaluations: Iterable[Evaluation]) -> float | None:
    """The best value of the objective at a point where every constraint was measured, or is known, to hold.

    Of a point that was measured repeatedly the last values count, as noisy as they are. None while there is no such
    point.
    """
    points: dict[tuple[Option, ...], dict[str, float]] = {}
    for e in evaluations:
        values = tuple(e.params[name] for name in problem.parameters)
        is_inside = all(map(belongs, problem.parameters.values(), values))  # of the bounds as they are now
        if e.outcomes and is_inside and not e.is_excluded:
            points.setdefault(values, {}).update(e.outcomes)
    values = [_objective(problem, params, told) for params, told in points.items()]
    feasible = [problem.sign * value for value in values if value is not None]
    return problem.sign * min(feasible) if feasible else None


def _objective(problem: Problem, params: tuple[Option, ...], told: dict[str, float]) -> float | None:
    given = {**told, **values_at(problem.known, dict(zip(problem.parameters, params, strict=True)))}
    holds = (each.outcome in given and each.holds(given[each.outcome]) for each in problem.constraints)
    return given.get(problem.objective) if all(holds) else None
