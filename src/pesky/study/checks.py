"""What a study is given, checked before anything is asked."""

from botorch.models.model import Model

from pesky.errors import ProblemError
from pesky.model.surrogate import GP
from pesky.problem import Problem
from pesky.problem.fields import finite
from pesky.space import Space
from pesky.study.deliberate import FitBotorch


def share(what: str, given: object) -> float | None:
    """The number between 0 and 1 that was given, if one was."""
    if given is None:
        return None
    value = finite(what, given)
    if not 0 < value < 1:
        raise ProblemError(f"{what} was {given!r}: expected a number between 0 and 1.")
    return value


def positive(what: str, given: object) -> float | None:
    """The number above 0 that was given, if one was."""
    value = None if given is None else finite(what, given)
    if value is not None and value <= 0:
        raise ProblemError(f"{what} was {given!r}: expected a number above 0.")
    return value


def checked_model(given: object, problem: Problem, space: Space) -> GP | FitBotorch:
    """The model that was given, or else ours, if it can be asked about this problem."""
    if given is None:
        return GP()
    if isinstance(given, GP):
        given.check(problem.outcomes, space.dim)
        return given
    if isinstance(given, Model) or not callable(given):
        raise ProblemError(
            f"model was {type(given).__name__}: expected GP(...), or a function that fits a BoTorch model to "
            "(X, Y) pairs, since a study fits anew as data come in."
        )
    if any(condition.is_yes_no for condition in problem.conditions):
        raise ProblemError(
            "a BoTorch model of your own cannot be asked about a yes or no: leave `model` out, or state the "
            'constraint on a number and failures="record".'
        )
    return given  # pyright: ignore[reportReturnType]
