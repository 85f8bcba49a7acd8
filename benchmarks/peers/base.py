"""What every optimizer is, to those who compare it with others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pesky.problem import Choice, Constraint, Integer, Option, Problem

Params = dict[str, Option]
Values = Mapping[str, float]


@dataclass(frozen=True)
class Question:
    """What is to be measured: a task at a point; without a task, every outcome."""

    params: Params
    task: str | None = None


class Peer(Protocol):
    """An optimizer at work on one problem."""

    def ask(self) -> Question:
        """Where to measure next, and what."""
        ...

    def tell(self, params: Params, values: Values) -> None:
        """Takes in what was measured there."""
        ...

    def answer(self) -> Params | None:
        """The point that it would have used now; None if it knows of none."""
        ...


@dataclass(frozen=True)
class Measured:
    """One point that was measured, with the outcomes that were.

    spent:  what had been measured by then, this included, in evaluations of everything
    """

    params: Params
    values: dict[str, float]
    spent: float = field(default=0.0, compare=False)

    def holds(self, problem: Problem) -> bool:
        """Whether every constraint held, by the values measured."""
        return all(each.holds(self.values[each.outcome]) for each in problem.constraints)


def named_outcomes(problem: Problem) -> tuple[str, ...]:
    """The objective and the outcomes of constraints, in their order and none twice."""
    return tuple(dict.fromkeys((problem.objective, *(each.outcome for each in problem.constraints))))


def slack(constraint: Constraint, value: float) -> float:
    """By how much a value breaks a constraint: zero or less where it holds, as most others than pesky write it."""
    return -constraint.direction * (value - constraint.threshold)


def best_measured(problem: Problem, points: Iterable[Measured]) -> Measured | None:
    """The best of the points that held every constraint; None if none did.

    What was measured of a point one outcome after the other counts as if it had been measured at once.
    """
    wanted, whole = set(named_outcomes(problem)), {}
    for point in points:
        key = tuple(point.params.items())
        values = {**(whole[key].values if key in whole else {}), **point.values}
        whole[key] = Measured(point.params, values)
    held = [point for point in whole.values() if wanted <= point.values.keys() and point.holds(problem)]
    return min(held, key=lambda point: problem.sign * point.values[problem.objective], default=None)


def what_is_not_real(problem: Problem) -> str:
    """What a problem has besides real parameters and numbers, in words; nothing if there is nothing else."""
    kinds = [
        (any(isinstance(each, Choice) for each in problem.parameters.values()), "choices"),
        (any(isinstance(each, Integer) for each in problem.parameters.values()), "integers"),
        (bool(problem.yes_no), "a yes or no among its outcomes"),
    ]
    return " and ".join(words for is_there, words in kinds if is_there)
