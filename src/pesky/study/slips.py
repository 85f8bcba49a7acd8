"""Values far beyond all others of their outcome, as a slip of the pen is: who tells one is asked."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pesky.problem import Problem
from pesky.store import Evaluation

FEWEST = 5
"""Other values below which nothing is called unusual."""
FAR = 2.0
"""How many times the range of the others a value is beyond it. Before there are enough data for a model to contradict
a value (METHOD 23), this much is seen without one."""


@dataclass(frozen=True)
class Unusual:
    """A value of an evaluation, and the range of the others."""

    evaluation: int
    outcome: str
    value: float
    low: float
    high: float
    others: int

    def __str__(self) -> str:
        return (
            f"Is {self.outcome} = {self.value:.6g} right? The other {self.others} values are from {self.low:.4g} to "
            f"{self.high:.4g}."
        )


def unusual(
    problem: Problem, evaluations: Iterable[Evaluation], told: Evaluation, outcomes: Collection[str]
) -> list[Unusual]:
    """Which of these outcomes of an evaluation have a value far beyond those of all others that are learnt from."""
    others = [e for e in evaluations if e.id != told.id and not e.is_excluded]
    found = []
    for name in outcomes:
        value, values = told.outcomes[name], [e.outcomes[name] for e in others if name in e.outcomes]
        if name in problem.yes_no or len(values) < FEWEST or (low := min(values)) == (high := max(values)):
            continue
        if max(low - value, value - high) > FAR * (high - low):
            found.append(Unusual(told.id, name, value, low, high, len(values)))
    return found
