"""The checks that every declaration shares, and the read-only mapping that problems are made of."""

import inspect
import json
import math
import numbers
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, SupportsFloat, TypeVar

from pesky.errors import ProblemError, brief, unknown_name

V = TypeVar("V")


class FrozenDict(Mapping[str, V]):
    """A read-only mapping from names that, unlike MappingProxyType, can be hashed, pickled and copied."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, V]):
        self._items = dict(items)

    def __getitem__(self, name: str) -> V:
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def finite(what: str, given: object) -> float:
    """The given number as a float, if it is one and finite."""
    value = math.nan
    # a bool is a number to Python, but never what the author of a bound or a cost meant
    if isinstance(given, numbers.Real) and not isinstance(given, bool):
        with suppress(OverflowError):  # an int can be too large for a float
            value = float(given)
    if not math.isfinite(value):
        raise ProblemError(f"{what} was {brief(given)}: expected a finite number.")
    return value


def number(given: object) -> float:
    """The float of whatever is one number, also an array or a tensor of one element; NaN if it is none."""
    try:
        if isinstance(given, float | int):  # most are, and need not be asked what they support
            return float(given)
        item = getattr(given, "item", None)
        given = item() if callable(item) else given
        return float(given) if isinstance(given, SupportsFloat) else math.nan
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return math.nan


def number_in(text: str) -> float | None:
    """The number that a text is; None if it is none, as 1_0 is, which Python takes for 10 and nobody means."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def json_in(text: str | bytes) -> object:
    """What a text of JSON says; a ValueError if it is none, be it nested too deeply or with too many digits."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def whole(what: str, given: object, least: int | None = None) -> int:
    """The given whole number, if it is one, at least `least` and small enough for a database."""
    try:
        value = operator.index(given)  # pyright: ignore[reportArgumentType]
    except TypeError:
        value = None
    if value is None or isinstance(given, bool) or (least is not None and value < least) or abs(value) >= 2**63:
        expected = "a whole number" + ("" if least is None else f", at least {least}")
        raise ProblemError(f"{what} was {brief(given)}: expected {expected}.")
    return value


def name(what: str, given: object) -> str:
    """The given name, if it is a text that a constraint could be written with and a terminal can show."""
    if not isinstance(given, str) or not given or given != given.strip() or any(c in "<>=\n" for c in given):
        raise ProblemError(f"{what} was {brief(given)}: expected a name without <, >, = or blanks around it.")
    if not given.isprintable():
        odd = next(each for each in given if not each.isprintable())
        raise ProblemError(f"{what} was {brief(given)}: expected a name that can be printed: leave out the {odd!r}.")
    return str(given)


def listed(what: str, given: object) -> tuple[object, ...]:
    """The given items as a tuple, if they are a list and not, say, a single text."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ProblemError(f"{what} was {brief(given)}: expected a list, like [...].")
    return tuple(given)


def named(what: str, given: object) -> dict[str, object]:
    """The given mapping as a dict, if it is one and its keys are names."""
    if not isinstance(given, Mapping):
        raise ProblemError(f"{what} was {brief(given)}: expected a mapping from names, like {{'name': ...}}.")
    return {name(f"a key of {what}", key): value for key, value in given.items()}


def build(what: str, declare: Callable[..., V], given: object) -> V:
    """What `declare` makes of the given plain data: a mapping whose keys are its arguments."""
    fields = named(what, given)
    every = inspect.signature(declare).parameters
    others = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    known = {key: each for key, each in every.items() if each.kind not in others}
    for key in fields:
        if key not in known:
            raise ProblemError(f"{what}: {unknown_name('key', key, known)}")
    for key, argument in known.items():
        if argument.default is argument.empty and key not in fields:
            raise ProblemError(f"{what}: {key!r} is missing: expected the keys {', '.join(map(repr, known))}.")
    return declare(**fields)


def figure(what: str, given: Any, default: object, metadata: Mapping[str, Any]) -> Any:
    """What was given for a figure, if it is of the kind of its default; a ProblemError if it is not.

    A whole number is at least the `least` of the metadata, or 1; another number from 0 to the `most`, if there is one.
    What the metadata call `optional` may be None, and is otherwise of their `kind`, and above 0.
    """
    if metadata.get("optional"):
        if given is None or metadata["kind"] is int:
            return given if given is None else whole(what, given, 1)
        if finite(what, given) <= 0:
            raise ProblemError(f"{what} was {given!r}: expected a number above 0, or None.")
        return float(given)
    if isinstance(default, bool):
        if not isinstance(given, bool):
            raise ProblemError(f"{what} was {given!r}: expected True or False.")
        return given
    if isinstance(default, int):
        return whole(what, given, metadata.get("least", 1))
    if isinstance(default, float):
        most = metadata.get("most", math.inf)
        if not 0 <= finite(what, given) <= most:
            bounds = "0 or above" if most == math.inf else f"from 0 to {most:g}"
            raise ProblemError(f"{what} was {given!r}: expected a number, {bounds}.")
        return float(given)
    return given
