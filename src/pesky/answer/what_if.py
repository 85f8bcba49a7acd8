"""What other thresholds would change, by what is believed already: nothing is measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pesky.answer.recommend import best_anywhere, recommendation_from
from pesky.answer.recommendation import Recommendation
from pesky.errors import ProblemError, unknown_name
from pesky.inference.inferred import Inferred
from pesky.problem import Problem
from pesky.problem.fields import finite

STEPS = (-2, -1, 0, 1, 2)
"""Thresholds of a table: so many tenths of the range of the outcome's values away from the present one."""


@dataclass(frozen=True)
class Price:
    """What the best point is expected to be under one threshold."""

    threshold: float
    expected: float
    """Of the objective."""
    deviation: float
    interval: tuple[float, float]
    """Holds the objective's value with a probability of 90 %."""
    is_confident: bool
    """Whether a point is known to hold every constraint with its confidence."""


@dataclass(frozen=True)
class Tradeoff:
    """The objective against the threshold of one constraint, all others as they are."""

    constraint: str
    objective: str
    prices: tuple[Price, ...]

    @property
    def shadow_price(self) -> float | None:
        """By how much the objective changes for each unit of the threshold, around the present one; None if unknown."""
        sure = [each for each in self.prices[1:-1] if each.is_confident]
        if len(sure) < 2:
            return None
        first, last = sure[0], sure[-1]
        return (last.expected - first.expected) / (last.threshold - first.threshold)

    def price_in_words(self) -> str:
        """What the limit costs, for a step of the size of those in the table."""
        price, thresholds = self.shadow_price, [each.threshold for each in self.prices]
        if price is None:
            return "what it costs is not known"
        reach = max(thresholds) - min(thresholds)
        if abs(price) * reach <= 1e-6 * max(abs(each.expected) for each in self.prices):
            return "costs nothing: the limit does not bind"
        step = reach / max(len(thresholds) - 1, 1)
        unit = 1.0 if 1 <= step < 10 else 10.0 ** math.floor(math.log10(step))
        return f"about {price * unit:.3g} of {self.objective} for each {'unit' if unit == 1 else f'{unit:g}'}"

    def __str__(self) -> str:
        lines = [f"{self.constraint}: {self.objective} against the threshold, at the best point, measured or not"]
        for each in self.prices:
            value = f"{each.expected:.6g} ± {each.deviation:.2g}" if each.is_confident else "nothing is known to hold"
            lines.append(f"  {each.threshold:>12.6g}  {value}")
        if self.shadow_price is not None:
            lines.append(f"  {self.price_in_words()}")
        return "\n".join(lines)


def thresholds_of(problem: Problem, given: Mapping[str, float]) -> dict[int, float]:
    """The thresholds by the numbers of their constraints; by outcome, or "outcome <=" where one has two."""
    names = {}
    for k, constraint in enumerate(problem.constraints):
        if constraint.is_yes_no:
            continue
        names[f"{constraint.outcome} {constraint.sense}"] = k
        if sum(other.outcome == constraint.outcome for other in problem.constraints) == 1:
            names[constraint.outcome] = k
    if not isinstance(given, Mapping):
        expected = "a mapping from constraints to numbers, like {'latency_ms': 2.5}"
        raise ProblemError(f"what if: the thresholds were {given!r}: expected {expected}.")
    found = {}
    for name, threshold in given.items():
        if name not in names:
            raise ProblemError(f"what if: {unknown_name('constraint', name, names)}")
        found[names[name]] = finite(f"the threshold of {name!r}", threshold)
    return found


def recommendation_under(inferred: Inferred, thresholds: Mapping[int, float]) -> Recommendation:
    """What would be recommended under other thresholds, and what the present ones allow, measured or not.

    An answer is a point that was measured, unless another one is surely better: under a limit that excludes it, that
    may be one that is expected to be better than the present answer.
    """
    under = inferred.under(thresholds)
    found, now = recommendation_from(under), best_anywhere(inferred)
    if found.is_measured or not now.is_confident or under.problem == inferred.problem:
        return found
    beside = f"Under the present limits the best point, measured or not, is expected to have {now.objective} = "
    return replace(found, advice=f"{found.advice} {beside}{now.value}.")


def tradeoffs(inferred: Inferred) -> tuple[Tradeoff, ...]:
    """A table for each constraint on a number that is measured."""
    return tuple(
        _tradeoff(inferred, k)
        for k, constraint in enumerate(inferred.problem.constraints)
        if not constraint.is_yes_no and constraint.outcome not in inferred.problem.known
    )


def _contradicts(problem: Problem, k: int, threshold: float) -> bool:
    """Whether no value would satisfy a constraint at this threshold and another one on the same outcome."""
    constraint = problem.constraints[k]
    against = [each for each in problem.constraints if each.outcome == constraint.outcome]
    return any(
        constraint.direction * (threshold - each.threshold) > 0
        for each in against
        if each.direction == -constraint.direction
    )


def _tradeoff(inferred: Inferred, k: int) -> Tradeoff:
    constraint, objective = inferred.problem.constraints[k], inferred.problem.objective
    values = [each.told[constraint.outcome] for each in inferred.points if constraint.outcome in each.told]
    step = (max(values) - min(values)) / 10 if len(values) > 1 else 0.0
    prices = []
    for times in STEPS if step > 0 else (0,):
        threshold = constraint.threshold + times * step
        if times and _contradicts(inferred.problem, k, threshold):
            continue
        best = best_anywhere(inferred.under({k: threshold}))
        prices.append(Price(threshold, best.expected, best.deviation, best.interval, best.is_confident))
    return Tradeoff(str(constraint), objective, tuple(prices))
