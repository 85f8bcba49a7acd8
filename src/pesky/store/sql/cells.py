"""Values of columns, checked as they are read: a file may be damaged, and SQLite takes any type in any column."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Column, Double, Integer, Text

from pesky.errors import StorageError
from pesky.text import one_line

Reader = tuple[Callable[[Any], Any], str]
"""What makes the value, with any usual error if it is none, and what was expected then."""


def text(value: object) -> str:
    """The text."""
    if not isinstance(value, str):
        raise TypeError
    return value


def count(value: object) -> int:
    """The whole number, 0 or above."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError
    return value


def number(value: object) -> float:
    """The finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError
    return float(value)


def _moment(value: object) -> float:
    seconds = number(value)
    if abs(seconds) > 1e11:  # the year 5138: no calendar has much later ones
        raise ValueError
    return seconds


MOMENT: Reader = _moment, "seconds since 1970"

_BY_TYPE: dict[type, Reader] = {
    Text: (text, "a text"),
    Double: (number, "a finite number"),
    Integer: (count, "a whole number, 0 or above"),
    BigInteger: (count, "a whole number, 0 or above"),
}
NO_READERS: Mapping[str, Reader] = {}


def read(
    what: str, columns: Sequence[Column[Any]], values: Sequence[object], readers: Mapping[str, Reader] = NO_READERS
) -> list[Any]:
    """The values of these columns of a row; a StorageError that says `what` is damaged if one was never written so."""
    found = []
    for column, value in zip(columns, values, strict=True):
        make, expected = readers.get(column.name) or _BY_TYPE[type(column.type)]
        try:
            found.append(None if value is None and column.nullable else make(value))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise StorageError(
                f"{what} is damaged in the storage: its {column.name} was {one_line(repr(value), 100)}, expected "
                f"{expected}: restore a copy of the storage, or delete this row of {column.table.name}."
            ) from error
    return found
