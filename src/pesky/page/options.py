"""What is to be seen of a picture: the options of its function, as the page sends them.

They are an object of JSON. Parameters and the options of a choice are sent by their places, so that it is short
whatever they are called: {"along": [0], "at": {"2": "0.5"}} is along the first, at 0.5 of the third.
"""

import json
from collections.abc import Collection
from typing import Any

from pesky.errors import DataError
from pesky.problem import Choice, Option, Problem
from pesky.problem.reading import read_value


def options_in(text: str, problem: Problem, taken: Collection[str]) -> dict[str, Any]:
    """The arguments for a function that takes those named; a DataError where it is none of them, or no value."""
    if not text:
        return {}
    given = _json(text)
    names, options = list(problem.parameters), {}
    for name, value in given.items():
        if name == "along":
            options["parameters"] = [_at(names, each) for each in _list(value)]
        elif name == "at" and isinstance(value, dict):
            at = {_at(names, each): typed for each, typed in value.items()}
            options["at"] = {each: _value(problem, each, typed) for each, typed in at.items()}
        else:
            options[name] = _plain(value)
    if unknown := [each for each in options if each not in taken or each == "study"]:
        raise DataError(f"{unknown[0][:40]!r} is none of the options of this picture.")
    return options


def _json(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError("the options of the picture were no JSON.") from error
    if not isinstance(given, dict):
        raise DataError("the options of the picture were no JSON object.")
    return given


def _list(given: object) -> list[object]:
    if not isinstance(given, list):
        raise DataError(f"the parameters were {given!r}: expected their places, like [0, 1].")
    return given


def _at(values: list[Any], place: object) -> Any:
    """What is at this place, be it a number or the text of one."""
    at = int(place) if isinstance(place, str) and place.isdecimal() else place
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < len(values):
        raise DataError(f"a place was {place!r}: expected one from 0 to {len(values) - 1}.")
    return values[at]


def _value(problem: Problem, name: str, typed: object) -> Option:
    parameter = problem.parameters[name]
    if isinstance(parameter, Choice):
        return _at(list(parameter.options), typed)
    return read_value(name, parameter, _plain(typed))


def _plain(given: object) -> str | int | float:
    if not isinstance(given, str | int | float):
        raise DataError(f"an option of the picture was {given!r}: expected a text or a number.")
    return given
