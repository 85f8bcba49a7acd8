"""The measured points of a study: what was told of each, and whether it holds what it must."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pesky.data.measured import measured_points
from pesky.problem import Option, Problem
from pesky.problem.known import values_at
from pesky.store import Evaluation


@dataclass(frozen=True)
class Point:
    """A point of which something was told."""

    ids: tuple[int, ...]
    """Its evaluations."""
    params: Mapping[str, Option]
    told: Mapping[str, float]
    """What was told there and what is known, by outcome; the mean of repeated measurements."""
    holds: Mapping[str, bool]
    """Whether each outcome of a constraint is within all its limits, as far as that was told."""
    is_feasible: bool | None
    """Whether all constraints hold; None while that is open."""


def points_of(problem: Problem, evaluations: Iterable[Evaluation]) -> list[Point]:
    """The measured points in the order in which they were first asked; those that were excluded are none."""
    kept = [e for e in evaluations if not e.is_excluded and e.params.keys() == problem.parameters.keys()]
    kept = [e for e in kept if e.task in problem.tasks]
    found = []
    for each in measured_points(problem, sorted(kept, key=lambda e: e.id)):
        told = {**each.told, **values_at(problem.known, each.params)}
        holds = _holds(problem, told)
        ids = tuple(e.id for e in each.evaluations)
        found.append(Point(ids, each.params, told, holds, _is_feasible(problem, holds)))
    return found


def _holds(problem: Problem, told: Mapping[str, float]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for condition in problem.conditions:
        if condition.outcome in told:
            # of yes or no measured repeatedly, what most of them said
            value = round(told[condition.outcome]) if condition.is_yes_no else told[condition.outcome]
            found[condition.outcome] = found.get(condition.outcome, True) and condition.holds(value)
    return found


def _is_feasible(problem: Problem, holds: Mapping[str, bool]) -> bool | None:
    if not all(holds.values()):
        return False
    return True if holds.keys() >= {condition.outcome for condition in problem.conditions} else None
