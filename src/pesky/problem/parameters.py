"""What can be set: real, integer and categorical parameters, in the user's own units."""

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pesky.errors import ProblemError, unknown_name
from pesky.problem.fields import brief, build, finite, listed, named, number, whole

Option = str | int | float | bool


@dataclass(frozen=True)
class Real:
    """A real parameter between two bounds, both included; `log` for one that varies by factors."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self):
        object.__setattr__(self, "low", finite("Real: low", self.low))
        object.__setattr__(self, "high", finite("Real: high", self.high))
        _check_bounds(self)


@dataclass(frozen=True)
class Integer:
    """A whole-number parameter between two bounds, both included; `log` for one that varies by factors.

    With a `step` it is one of low, low + step, .., high.
    """

    low: int
    high: int
    log: bool = False
    step: int = 1

    def __post_init__(self):
        for bound in ("low", "high"):
            given = getattr(self, bound)
            if isinstance(given, bool) or not isinstance(given, numbers.Integral):
                raise ProblemError(f"Integer: {bound} was {brief(given)}: expected a whole number.")
            # a point of the unit cube, a float64, tells this many whole numbers apart even on a log scale
            if abs(int(given)) > 10**12:
                raise ProblemError(f"Integer: {bound} was {brief(given)}: expected at most 10**12: change the unit.")
            object.__setattr__(self, bound, int(given))
        object.__setattr__(self, "step", whole("Integer: step", self.step, 1))
        _check_bounds(self)
        if self.log and self.step > 1:
            raise ProblemError(f"{_said(self)}: a log scale has no step: leave out one of them.")
        if rest := (self.high - self.low) % self.step:
            raise ProblemError(
                f"{_said(self)}: no step ends at high: make it {self.high - rest} or {self.high - rest + self.step}."
            )

    def __repr__(self) -> str:
        step = "" if self.step == 1 else f", step={self.step}"
        return f"Integer(low={self.low}, high={self.high}, log={self.log}{step})"


@dataclass(frozen=True)
class Choice:
    """A parameter that takes one of a few options, which have no order."""

    options: tuple[Option, ...]

    def __init__(self, options: Iterable[Option] = (), *more: object, **others: object):
        if more:
            each = ", ".join(map(repr, (options, *more)))
            raise ProblemError(f"Choice: the options were {each}: expected one list of them: write Choice([{each}]).")
        if others:
            raise ProblemError(
                f"Choice: {', '.join(f'{name}=' for name in others)} is not known: write Choice([...]) or "
                "Choice(options=[...])."
            )
        object.__setattr__(self, "options", tuple(_option(each) for each in listed("Choice: options", options)))
        if len(self.options) < 2:
            raise ProblemError(f"{_said(self)}: expected at least two options: leave out what has only one value.")
        if len(set(self.options)) < len(self.options):
            raise ProblemError(f"{_said(self)}: expected options that all differ (to Python, 1 == 1.0 == True).")


Parameter = Real | Integer | Choice
_TYPES: dict[str, type[Parameter]] = {"real": Real, "integer": Integer, "choice": Choice}


def in_words(parameter: Parameter) -> str:
    """What values a parameter takes, for people to read."""
    if isinstance(parameter, Choice):
        return f"one of {', '.join(map(str, parameter.options))}"
    steps = f" in steps of {parameter.step}" if isinstance(parameter, Integer) and parameter.step > 1 else ""
    kind = "whole numbers from" if isinstance(parameter, Integer) else "from"
    scale = ", on a log scale" if parameter.log else ""
    return f"{kind} {parameter.low:.15g} to {parameter.high:.15g}{steps}{scale}"


def to_plain(parameter: Parameter) -> dict[str, object]:
    """The parameter as plain data: its type's name and its fields."""
    if isinstance(parameter, Choice):
        return {"type": "choice", "options": list(parameter.options)}
    kind = "real" if isinstance(parameter, Real) else "integer"
    plain: dict[str, object] = {"type": kind, "low": parameter.low, "high": parameter.high, "log": parameter.log}
    # only where there is one, so that what older versions stored has the same text
    return {**plain, "step": parameter.step} if isinstance(parameter, Integer) and parameter.step != 1 else plain


def from_plain(what: str, given: object) -> Parameter:
    """The parameter that `to_plain` wrote."""
    if not isinstance(given, Mapping):
        raise ProblemError(f"{what} was {brief(given)}: expected Real(low, high), Integer(low, high) or Choice([...]).")
    fields = named(what, given)
    kind = fields.pop("type", None)
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ProblemError(f"{what}: {unknown_name('type', kind, _TYPES)}")
    return build(what, _TYPES[kind], fields)


def _said(parameter: Parameter) -> str:
    """What was declared, in words that hold in Python and in a file."""
    if isinstance(parameter, Choice):
        return f"a choice of {', '.join(map(repr, parameter.options)) or 'nothing'}"
    kind = "a whole number" if isinstance(parameter, Integer) else "a real number"
    steps = f" in steps of {parameter.step}" if isinstance(parameter, Integer) and parameter.step > 1 else ""
    return f"{kind} from {parameter.low:.15g} to {parameter.high:.15g}{steps}"


def _check_bounds(parameter: Real | Integer) -> None:
    if not isinstance(parameter.log, bool):
        raise ProblemError(f"{_said(parameter)}: log was {brief(parameter.log)}: expected True or False.")
    if parameter.low >= parameter.high:
        raise ProblemError(f"{_said(parameter)}: expected low < high: swap them, or leave out what has only one value.")
    if parameter.log and parameter.low <= 0:
        raise ProblemError(f"{_said(parameter)}: a log scale needs low > 0: raise low, or leave log out.")
    # an infinite width would decode every point of the unit cube to infinity
    if not math.isfinite(parameter.high - parameter.low):
        raise ProblemError(f"{_said(parameter)}: high - low overflows: narrow the bounds.")


def _option(given: object) -> Option:
    plain = getattr(given, "item", lambda: given)()  # numpy's scalars do not go to JSON
    if not isinstance(plain, str) and not (isinstance(plain, int | float) and math.isfinite(number(plain))):
        raise ProblemError(f"Choice: the option {brief(given)}: expected a text, a finite number, True or False.")
    # any other text is an option, a tab as well, but half of a surrogate pair goes into no file
    if isinstance(plain, str) and any("\ud800" <= each <= "\udfff" for each in plain):
        raise ProblemError(f"Choice: the option {brief(given)}: expected a text that can be written as UTF-8.")
    return plain
