"""Values far beyond all others of their outcome, as a slip of the pen is: who tells one is asked."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pesky.problem import Problem
from pesky.store import Evaluation

FEWEST = 5
"""Other values below which nothing is called unusual."""
FAR = 2.0
"""How many times the range of the others a value is beyond it. Before there are enough data for a model to contradict
a value (METHOD 23), this much is seen without one."""
DECADES = 1e9
"""How many times all others a value is that can be nothing but a slip: objectives that go to zero have no such gap."""


@dataclass(frozen=True)
class Unusual:
    """A value of an evaluation, and the range of the others."""

    evaluation: int
    outcome: str
    value: float
    low: float
    high: float
    others: int
    absurd: int = 0
    """How many more there are that are left out of the range, being absurd."""

    def __str__(self) -> str:
        but = f", but for {self.absurd} far beyond them," if self.absurd else ""
        return (
            f"Is {self.outcome} = {self.value:.6g} right? The other {self.others} values{but} are from {self.low:.4g} "
            f"to {self.high:.4g}."
        )

    @property
    def in_words(self) -> str:
        """What it is, for those who look at the study later."""
        return (
            f"#{self.evaluation}: {self.outcome} = {self.value:.6g} is far beyond the {self.others} values from "
            f"{self.low:.4g} to {self.high:.4g}"
        )


def unusual(
    problem: Problem, evaluations: Iterable[Evaluation], told: Evaluation, outcomes: Collection[str]
) -> list[Unusual]:
    """Which of these outcomes of an evaluation have a value far beyond those of all others that are learnt from."""
    others = [e for e in evaluations if e.id != told.id and not e.is_excluded]
    left_out = {(each.evaluation, each.outcome) for each in absurd(problem, others)}
    found = []
    for name in outcomes:
        odd = sum(outcome == name for _, outcome in left_out)
        values = [e.outcomes[name] for e in others if name in e.outcomes and (e.id, name) not in left_out]
        value = told.outcomes[name]
        if name in problem.yes_no or len(values) < FEWEST or (low := min(values)) == (high := max(values)):
            continue
        if max(low - value, value - high) > FAR * (high - low):
            found.append(Unusual(told.id, name, value, low, high, len(values), odd))
    return found


def absurd(problem: Problem, evaluations: Iterable[Evaluation]) -> list[Unusual]:
    """The values, a third of their outcome's at most, that are decades beyond all others; whoever told them."""
    learnt = [e for e in evaluations if not e.is_excluded]
    return [each for name in problem.outcomes for each in _absurd(name, learnt, FEWEST)]


def hopeless(problem: Problem, evaluations: Iterable[Evaluation]) -> list[Unusual]:
    """The values of the objective that are decades worse than all others.

    A model that learns from one sees no difference between the others any more. A value that is decades better is what
    a study looks for, and is none of them.
    """
    found = _absurd(problem.objective, evaluations, 0) if problem.objective in problem.outcomes else []
    return [each for each in found if problem.sign * each.value > 0]


def _absurd(name: str, evaluations: Iterable[Evaluation], fewest: int) -> list[Unusual]:
    told = sorted((abs(e.outcomes[name]), e.id, e.outcomes[name]) for e in evaluations if name in e.outcomes)
    least = max(fewest, math.ceil(len(told) * 2 / 3))
    cut = next((i for i in range(least, len(told)) if told[i][0] / DECADES > told[i - 1][0] > 0), len(told))
    values = [value for _, _, value in told[:cut]]
    return [Unusual(id_, name, value, min(values), max(values), cut) for _, id_, value in told[cut:]]
