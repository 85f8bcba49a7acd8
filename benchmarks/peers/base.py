"""What every optimizer is, to those who compare it with others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pesky.problem import Option, Problem

Params = dict[str, Option]
Values = Mapping[str, float]


class Peer(Protocol):
    """An optimizer at work on one problem."""

    def ask(self) -> Params:
        """Where to measure next."""
        ...

    def tell(self, params: Params, values: Values) -> None:
        """Takes in what was measured there."""
        ...

    def answer(self) -> Params | None:
        """The point that it would have used now; None if it knows of none."""
        ...


@dataclass(frozen=True)
class Measured:
    """One point that was measured, with every outcome."""

    params: Params
    values: dict[str, float]

    def holds(self, problem: Problem) -> bool:
        """Whether every constraint held, by the values measured."""
        return all(each.holds(self.values[each.outcome]) for each in problem.constraints)


def best_measured(problem: Problem, points: list[Measured]) -> Measured | None:
    """The best of the points that held every constraint; None if none did."""
    held = [point for point in points if point.holds(problem)]
    return min(held, key=lambda point: problem.sign * point.values[problem.objective], default=None)
