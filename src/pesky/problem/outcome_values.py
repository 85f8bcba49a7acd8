"""Values of outcomes: what was told, as numbers."""

import math
from collections.abc import Collection, Mapping

from pesky.errors import DataError, unknown_name
from pesky.problem.fields import brief, number
from pesky.problem.problem import Problem

_NOTHING = "or say that nothing was measured, with `study.fail` or `pesky tell FILE ID --failed REASON`"


def check_outcomes(problem: Problem, outcomes: Mapping[str, object]) -> dict[str, float]:
    """The measured outcomes as floats (a yes as 1, a no as 0), or a DataError that says which one does not fit."""
    told = checked_outcomes(outcomes, problem.outcomes, problem.yes_no, problem.known)
    return {name: problem.ranges[name].check(each) if name in problem.ranges else each for name, each in told.items()}


def checked_outcomes(
    outcomes: Mapping[str, object], expected: Collection[str], yes_no: Collection[str], known: Collection[str]
) -> dict[str, float]:
    """The same where these are expected, some as a yes or a no, and those are known."""
    for name in outcomes:
        if name in known:
            raise DataError(f"the outcome {name!r} is known and not measured: its function gives it, so leave it out.")
        if name not in expected:
            raise DataError(unknown_name("outcome", name, expected))
    return {name: (answer if name in yes_no else finite_number)(name, value) for name, value in outcomes.items()}


def finite_number(name: str, given: object) -> float:
    """What was told of an outcome that is a number."""
    value = number(given)
    if not math.isfinite(value):
        raise DataError(
            f"the outcome {name!r} was {brief(given)}: expected a finite number; leave it out if it has none, "
            f"{_NOTHING}."
        )
    return value


def answer(name: str, given: object) -> float:
    """What was told of an outcome that is a yes or a no: 1 or 0."""
    value = number(given)
    if value not in (0.0, 1.0):
        raise DataError(
            f"the outcome {name!r} was {brief(given)}: it is a yes or no, so expected True or False (or 1 or 0); "
            f"leave it out if there is no answer, {_NOTHING}."
        )
    return value
