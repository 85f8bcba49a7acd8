"""Values of parameters as people, tables and files write them."""

import math
import re
from collections.abc import Mapping

from pesky.errors import DataError
from pesky.problem.fields import brief, number, number_in
from pesky.problem.parameters import Choice, Integer, Option, Parameter
from pesky.problem.values import by_name
from pesky.problem.wording import number_hint

WORDS = {"true": True, "yes": True, "false": False, "no": False}
YES_NO = "yes or no (true or false, 1 or 0)"
MISSING = ("nan", "na", "n/a", "#n/a", "<na>", "null")
"""What tables have in the place of a number that is not there."""


def is_empty(given: object) -> bool:
    """Whether nothing is there: an empty cell of a table, of whichever library."""
    if given is None or type(given).__name__ in ("NAType", "NaTType"):
        return True
    return (isinstance(given, str) and not given.strip()) or (isinstance(given, float) and math.isnan(given))


def is_missing(given: object) -> bool:
    """Whether an outcome was not measured, as its cell says: it is empty, or says so."""
    return is_empty(given) or (isinstance(given, str) and given.strip().lower() in MISSING)


def read_outcome(name: str, given: object, *, is_yes_no: bool) -> float:
    """The number that was written, a yes as 1 and a no as 0; a DataError if it is none."""
    value = read_number(given)
    if math.isnan(value):
        expected, hint = (YES_NO, "") if is_yes_no else ("a number", _hint(given if isinstance(given, str) else ""))
        raise DataError(f"the outcome {name!r} was {brief(given)}: expected {expected}, or an empty cell.{hint}")
    return value


def _hint(text: str) -> str:
    """What to write in the place of what is nearly a number."""
    if re.fullmatch(r"[<>≤≥]\s*[\d.,]+", text.strip()):
        return " Of what is beyond a limit of detection, enter the limit itself, or leave the cell empty."
    return number_hint(text)


def read_number(given: object) -> float:
    """The number that was written, NaN if it is none; a yes is 1 and a no is 0."""
    if not isinstance(given, str):
        return number(given)
    text = given.strip().lower()
    return float(WORDS[text]) if text in WORDS else number(number_in(text))


def read_value(name: str, parameter: Parameter, given: object) -> Option:
    """The parameter's value, be it within its bounds or not; a DataError if it is none: 3.0 is a whole number."""
    plain = given if isinstance(given, str) else getattr(given, "item", lambda: given)()
    if isinstance(parameter, Choice):
        return _option(name, parameter, plain)
    value = math.nan if isinstance(plain, bool) else number(number_in(plain) if isinstance(plain, str) else plain)
    is_whole = math.isfinite(value) and value == int(value)
    if not math.isfinite(value) or (isinstance(parameter, Integer) and not is_whole):
        kind = "a whole number" if isinstance(parameter, Integer) else "a finite number"
        hint = number_hint(given) if isinstance(given, str) else ""
        raise DataError(f"the parameter {name!r} was {brief(given)}: expected {kind}.{hint}")
    return int(value) if isinstance(parameter, Integer) else value


def read_params(parameters: Mapping[str, Parameter], given: Mapping[str, object]) -> dict[str, Option]:
    """The values of those parameters that were given; those that are none of them are left as they are."""
    return {
        name: read_value(name, parameters[name], value) if name in parameters else value  # pyright: ignore[reportReturnType]
        for name, value in by_name(parameters, given).items()
    }


def _option(name: str, parameter: Choice, given: object) -> Option:
    for option in parameter.options:
        if type(option) is type(given) and option == given:
            return option
    text = given.strip() if isinstance(given, str) else given
    for option in parameter.options:
        if option == text or (isinstance(text, str) and text == str(option)):
            return option
        if isinstance(option, bool) and isinstance(text, str) and WORDS.get(text.lower()) is option:
            return option
        if isinstance(option, int | float) and isinstance(text, str) and number_in(text) == option:
            return option
    options = ", ".join(map(repr, parameter.options))
    raise DataError(f"the parameter {name!r} was {brief(given)}: expected one of {options}.")
