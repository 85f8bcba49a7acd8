"""Why a question was asked, as it is kept with it: the one place that says what may stand there."""

import math
from collections.abc import Callable, Mapping

from pesky.problem.fields import FrozenDict
from pesky.store.attributes import as_json

Part = Callable[[object], object]
"""What is kept of a part; a TypeError if that is of another kind."""


def reasons(given: Mapping[str, object]) -> FrozenDict[object]:
    """What is kept of these reasons, as JSON has it, without the known parts that are not of their kind.

    Nothing decides by reasons: a study whose explanations are damaged goes on without them. What another version
    explains besides is kept as it is.
    """
    kept: dict[str, object] = {}
    for name, each in as_json(given).items():
        try:
            kept[name] = _PARTS[name](each) if name in _PARTS else each
        except TypeError:
            continue
    return FrozenDict(kept)


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError
    return given


def _number(given: object) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool) or not math.isfinite(given):
        raise TypeError
    return given


def _count(given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise TypeError
    return given


def _optional(part: Part) -> Part:
    return lambda given: None if given is None else part(given)


def _numbers(part: Part = _number) -> Part:
    def read(given: object) -> object:
        if not isinstance(given, Mapping):
            raise TypeError
        return {name: part(each) for name, each in given.items()}

    return read


def _outliers(given: object) -> object:
    if not isinstance(given, list):
        raise TypeError
    for each in given:
        if not isinstance(each, Mapping) or each.keys() != _OUTLIER.keys():
            raise TypeError
        for name, part in _OUTLIER.items():
            part(each[name])
    return given


def _texts(given: object) -> object:
    if not isinstance(given, list):
        raise TypeError
    return [_text(each) for each in given]


_OUTLIER: dict[str, Part] = {
    "evaluation": _count,
    "outcome": _text,
    "value": _number,
    "expected": _number,
    "deviation": _number,
    "others": _count,
}
_PARTS: dict[str, Part] = {
    "kind": _text,
    "rule": _optional(_text),
    "unit": _text,
    "values": _numbers(),
    "prices": _numbers(),
    "elsewhere": _numbers(),
    "left": _numbers(),
    "agreement": _optional(_number),
    "infeasible": _optional(_number),
    "unaffordable": _texts,
    "left_out": _outliers,
    "noise": _numbers(_optional(_number)),
}
"""As `pesky.study.Explanation` has them."""
