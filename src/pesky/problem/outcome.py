"""What is known of an outcome before it is measured: the range that no value of it leaves."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pesky.errors import DataError, ProblemError, unknown_name
from pesky.problem.fields import FrozenDict, build, finite, listed, name, named


@dataclass(frozen=True)
class Outcome:
    """An outcome that is never below `low` nor above `high`: an error rate, a time, a count.

    No prediction and no interval leaves the range, and a value outside it is refused when it is told.
    """

    name: str
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", name("Outcome: name", self.name))
        what = f"Outcome {self.name!r}"
        for key in ("low", "high"):
            if (given := getattr(self, key)) is not None:
                object.__setattr__(self, key, finite(f"{what}: {key}", given))
        if self.low is None and self.high is None:
            raise ProblemError(f"{what}: neither low nor high was given: expected one of them, or leave it out.")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ProblemError(f"{what}: low was {self.low:g} and high {self.high:g}: expected low below high.")

    def __str__(self) -> str:
        parts = [f"{word} {end:g}" for word, end in (("from", self.low), ("to", self.high)) if end is not None]
        return " ".join(parts)

    @property
    def ends(self) -> tuple[float, float]:
        """Its ends, infinite where none was declared."""
        return -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high

    def check(self, value: float) -> float:
        """The value, or a DataError if it is outside the range."""
        is_low, is_high = self.low is not None and value < self.low, self.high is not None and value > self.high
        if is_low or is_high:
            raise DataError(
                f"the outcome {self.name!r} was {value:g}: expected a value {self}, as the problem declares; leave it "
                "out if the measurement went wrong, or declare a wider range."
            )
        return value

    def to_plain(self) -> dict[str, float]:
        """Its ends, as JSON has them."""
        return {key: end for key, end in (("low", self.low), ("high", self.high)) if end is not None}


def declared_outcomes(
    given: object, outcomes: Collection[str], yes_no: Collection[str], known: Collection[str]
) -> FrozenDict[Outcome]:
    """What was declared of outcomes, by their names; given as a list, or as a mapping with low and high of each."""
    if given is None:
        return FrozenDict({})
    each = _of_mapping(given) if isinstance(given, Mapping) else [_of(item) for item in listed("outcomes", given)]
    found: dict[str, Outcome] = {}
    for outcome in each:
        if outcome.name in known:
            raise ProblemError(f"outcomes: {outcome.name!r} is known and needs no range: leave it out.")
        if outcome.name not in outcomes:
            raise ProblemError(f"outcomes: {unknown_name('outcome', outcome.name, outcomes)}")
        if outcome.name in yes_no:
            raise ProblemError(f"outcomes: {outcome.name!r} is a yes or no and has no range: leave it out.")
        if outcome.name in found:
            raise ProblemError(f"outcomes: {outcome.name!r} was given twice: leave one out.")
        found[outcome.name] = outcome
    return FrozenDict(found)


def _of_mapping(given: object) -> list[Outcome]:
    return [
        each if isinstance(each, Outcome) else _of({"name": key, **named(f"the outcome {key!r}", each)})
        for key, each in named("outcomes", given).items()
    ]


def _of(given: object) -> Outcome:
    return given if isinstance(given, Outcome) else build("an outcome", Outcome, given)
