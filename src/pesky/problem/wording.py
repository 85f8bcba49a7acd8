"""How to write a constraint that was written another way."""

import re

from pesky.problem.fields import number_in

_SIGNS = {"≤": "<=", "≥": ">=", "=<": "<=", "=>": ">=", "==": "=", "≠": "!="}
_SIGN = re.compile("<=|>=|" + "|".join([*_SIGNS, "!=", "[<>=]"]))
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_STRICT = {"<": "<=", ">": ">="}
_ANSWERS = {"true": "true", "yes": "true", "1": "true", "false": "false", "no": "false", "0": "false"}
_ANSWERED = re.compile(rf"(?P<outcome>.*\S)\s+is\s+(?P<answer>{'|'.join(_ANSWERS)})", re.IGNORECASE)


_LONGEST = 100
"""Characters of what is nearly a number."""
_WITH_UNIT = re.compile(r"(?P<number>[-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\W\d_]+|%)")
_FACTORS = {"k": 1e3, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "%": 0.01}
"""Of units that are nothing but a number; a k, but neither an m nor a g."""


def how_to_write(text: str) -> str | None:
    """What the author of a text that does not parse probably meant; None if there is no telling."""
    signs = [_SIGNS.get(sign, sign) for sign in _SIGN.findall(text)]
    parts = [part.strip() for part in _SIGN.split(text)]
    if not all(parts):
        return None
    match parts, signs:
        case [low, outcome, high], [("<" | "<="), ("<" | "<=")] if is_number(low) and is_number(high):
            return f"For both sides write two constraints: '{outcome} >= {low}' and '{outcome} <= {high}'."
        case [high, outcome, low], [(">" | ">="), (">" | ">=")] if is_number(low) and is_number(high):
            return f"For both sides write two constraints: '{outcome} >= {low}' and '{outcome} <= {high}'."
        case [outcome, value], ["="] if value.lower() in _ANSWERS and not is_number(value):
            return f"Write '{outcome} is {_ANSWERS[value.lower()]}'."
        case [outcome, value], ["="] if is_number(value):
            return (
                f"A measured number never equals another: write two constraints with some room, '{outcome} >= ...' "
                f"and '{outcome} <= ...', around {value}."
            )
        case [outcome, value], [sign] if sign in _TURNED and is_number(value):
            return f"Write '{outcome} {_STRICT.get(sign, sign)} {value}'."
        case [value, outcome], [sign] if sign in _TURNED and is_number(value):
            turned = _TURNED[sign]
            return f"Write '{outcome} {_STRICT.get(turned, turned)} {value}'."
        case [left, right], [sign] if sign in _TURNED and (hint := number_hint(right) or _comma_hint(left)):
            return hint.strip()
        case [left, right], [sign] if sign in _TURNED:
            return (
                f"{right!r} is no number: let the measurement give the difference as an outcome of its own, "
                f"like '{left} minus {right}', and write '{left} minus {right} {_STRICT.get(sign, sign)} 0'."
            )
        case [text], [] if (answered := _ANSWERED.fullmatch(text)) is not None:
            return f"Write '{answered['outcome']} is {_ANSWERS[answered['answer'].lower()]}'."
        case [outcome], []:
            return f"For a yes or no write '{outcome} is true'."
        case _:
            return None


def number_hint(text: str) -> str:
    """What to write for a number with a decimal comma or a unit, like 1,5 and 400kB; nothing for what is none."""
    if len(text) > _LONGEST:
        return ""
    return _comma_hint(text) or _unit_hint(text) or _underscore_hint(text)


def _comma_hint(text: str) -> str:
    is_decimal = re.fullmatch(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?", text.strip()) is not None
    return f" Decimals have a point: write {text.strip().replace(',', '.')}." if is_decimal else ""


def _unit_hint(text: str) -> str:
    match = _WITH_UNIT.fullmatch(text.strip())
    if match is None or not is_number(match["number"]):
        return ""
    factor = _FACTORS.get(match["unit"].lower())
    whole = "" if factor is None else f", or {float(match['number']) * factor:.15g}"
    return f" A number has no unit: write {match['number']} and use {match['unit']} throughout{whole}."


def _underscore_hint(text: str) -> str:
    plain = text.strip().replace("_", "")
    return f" A number is written without '_': write {plain}." if plain != text.strip() and is_number(plain) else ""


def is_number(text: str) -> bool:
    """Whether the text is a number, be it infinite or NaN."""
    return number_in(text) is not None
