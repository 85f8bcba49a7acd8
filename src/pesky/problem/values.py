"""Values of parameters: which belong to a problem."""

import math
import numbers
from collections.abc import Mapping
from typing import Any

from pesky.errors import DataError, unknown_name
from pesky.problem.fields import brief, number
from pesky.problem.parameters import Choice, Integer, Option, Parameter


def by_name(parameters: Mapping[str, Parameter], given: object) -> Mapping[str, Any]:
    """The given values of parameters, if they are by name; a DataError if not."""
    if not isinstance(given, Mapping):
        expected = ", ".join(f"{name!r}: ..." for name in parameters)
        raise DataError(f"the parameters were {brief(given)}: expected a mapping like {{{expected}}}.")
    return given


def check_params(parameters: Mapping[str, Parameter], params: Mapping[str, object]) -> None:
    """Nothing, or a DataError that says which value does not belong to its parameter."""
    for name in by_name(parameters, params):
        if name not in parameters:
            raise DataError(unknown_name("parameter", name, parameters))
    for name, parameter in parameters.items():
        expected = f"expected {_expectation(parameter)}."
        if name not in params:
            raise DataError(f"the parameter {name!r} is missing: {expected}")
        if not belongs(parameter, params[name]):
            raise DataError(f"the parameter {name!r} was {brief(params[name])}: {expected}")


def check_kinds(parameters: Mapping[str, Parameter], params: Mapping[str, object]) -> None:
    """Nothing, or a DataError if the values are not of these parameters, be it within their bounds or outside."""
    if params.keys() != parameters.keys():
        given, expected = (", ".join(map(repr, each)) or "none" for each in (params, parameters))
        raise DataError(f"the parameters were {given}: expected {expected}.")
    for name, parameter in parameters.items():
        if not is_of_kind(parameter, params[name]):
            kind = _expectation(parameter).partition(" from ")[0]
            raise DataError(f"the parameter {name!r} was {brief(params[name])}: expected {kind}.")


def is_of_kind(parameter: Parameter, value: object) -> bool:
    """Whether the parameter could take the value with other bounds or more options."""
    if isinstance(parameter, Choice):
        return isinstance(value, Option)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral | numbers.Real):
        return False
    return isinstance(value, numbers.Integral) if isinstance(parameter, Integer) else math.isfinite(number(value))


def _expectation(parameter: Parameter) -> str:
    """What a value must be, in words."""
    if isinstance(parameter, Choice):
        return f"one of {', '.join(map(repr, parameter.options))}"
    number = "a whole number" if isinstance(parameter, Integer) else "a number"
    step = getattr(parameter, "step", 1)
    return f"{number} from {parameter.low} to {parameter.high}" + (f" in steps of {step}" if step != 1 else "")


def belongs(parameter: Parameter, value: object) -> bool:
    """Whether the value is one that the parameter can take."""
    if isinstance(parameter, Choice):
        return isinstance(value, Option) and value in parameter.options
    if isinstance(value, float):  # most are, and are told in a tenth of the time
        return not isinstance(parameter, Integer) and parameter.low <= value <= parameter.high
    if isinstance(value, bool) or not isinstance(value, int | numbers.Integral | numbers.Real):
        return False  # True and False are numbers, but to Python only
    if isinstance(parameter, Integer) and not isinstance(value, int | numbers.Integral):
        return False
    if isinstance(value, int | numbers.Integral) and (int(value) - int(parameter.low)) % getattr(parameter, "step", 1):
        return False
    return value <= parameter.high and not value < parameter.low  # in this form, NaN does not belong
