"""Whatever a user's function returned besides its outcomes, as JSON that every store can hold and every reader bear."""

import math
from collections.abc import Mapping
from typing import Any

from pesky.problem.fields import FrozenDict
from pesky.text import NAME, harmless

KEYS = 200
"""Names that are kept at one level, and items of a list: the first ones."""
TEXT = 10_000
"""Characters of a text that are kept: its beginning and its end."""
TOTAL = 100_000
"""Characters that the attributes of one evaluation take, about: what comes after is left out."""
DEPTH = 6
"""Levels of lists and objects; what is deeper is kept as a text."""


def as_json(given: Mapping[str, object]) -> FrozenDict[object]:
    """The values as texts, numbers, truths, lists and objects; what is none of these as the text that shows it.

    It refuses nothing, since a result is not to be lost for what came with it. The same comes back when it is given
    again.
    """
    return FrozenDict(_object(given, 1, [TOTAL]))


def _object(given: Mapping[Any, object], depth: int, left: list[int]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in list(given.items())[:KEYS]:
        name = harmless(str(key), NAME)
        left[0] -= len(name) + 8
        if left[0] < 0:
            break
        found[name] = _value(value, depth, left)
    return found


def _value(given: object, depth: int, left: list[int]) -> object:
    tolist = getattr(given, "tolist", None)
    if callable(tolist):  # a scalar or an array of numpy or torch
        try:
            given = tolist()
        except Exception:
            return _text(given, left)
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, int) and given.bit_length() < 64:
        return int(given)
    if isinstance(given, float) and math.isfinite(given):
        return float(given)
    if isinstance(given, Mapping) and depth < DEPTH:
        return _object(given, depth + 1, left)
    if isinstance(given, list | tuple) and depth < DEPTH:
        found: list[object] = []
        for each in given[:KEYS]:
            left[0] -= 8
            if left[0] < 0:
                break
            found.append(_value(each, depth + 1, left))
        return found
    return _text(given, left)


def _text(given: object, left: list[int]) -> str:
    try:
        text = given if isinstance(given, str) else repr(given)
    except Exception:
        text = f"<{type(given).__name__} that cannot be shown>"
    kept = harmless(text, min(TEXT, max(left[0], 0)))
    left[0] -= len(kept)
    return kept
