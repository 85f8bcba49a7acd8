"""Values of parameters: which belong to a problem."""

import numbers
from collections.abc import Mapping

from pesky.errors import DataError, unknown_name
from pesky.problem.parameters import Choice, Integer, Option, Parameter


def check_params(parameters: Mapping[str, Parameter], params: Mapping[str, object]) -> None:
    """Nothing, or a DataError that says which value does not belong to its parameter."""
    for name in params:
        if name not in parameters:
            raise DataError(unknown_name("parameter", name, parameters))
    for name, parameter in parameters.items():
        expected = f"expected {_expectation(parameter)}."
        if name not in params:
            raise DataError(f"the parameter {name!r} is missing: {expected}")
        if not belongs(parameter, params[name]):
            raise DataError(f"the parameter {name!r} was {params[name]!r}: {expected}")


def _expectation(parameter: Parameter) -> str:
    """What a value must be, in words."""
    if isinstance(parameter, Choice):
        return f"one of {', '.join(map(repr, parameter.options))}"
    number = "a whole number" if isinstance(parameter, Integer) else "a number"
    return f"{number} from {parameter.low} to {parameter.high}"


def belongs(parameter: Parameter, value: object) -> bool:
    """Whether the value is one that the parameter can take."""
    if isinstance(parameter, Choice):
        return isinstance(value, Option) and value in parameter.options
    if isinstance(value, bool) or not isinstance(value, numbers.Integral | numbers.Real):
        return False  # True and False are numbers, but to Python only
    if isinstance(parameter, Integer) and not isinstance(value, numbers.Integral):
        return False
    return value <= parameter.high and not value < parameter.low  # in this form, NaN does not belong
