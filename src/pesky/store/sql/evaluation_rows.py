"""Evaluations as rows of a table and back, exactly."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, Integer, Text

from pesky.errors import StorageError
from pesky.problem import Option
from pesky.problem.fields import FrozenDict
from pesky.store.attributes import as_json
from pesky.store.evaluation import Attempt, Cause, Change, Correction, Evaluation, State
from pesky.store.sql.schema import evaluations
from pesky.text import harmless, one_line

COLUMNS = tuple(column for column in evaluations.c if column.name != "study")


def to_row(evaluation: Evaluation) -> dict[str, object]:
    """The evaluation as values of the columns."""
    row: dict[str, object] = {column.name: getattr(evaluation, column.name) for column in COLUMNS}
    return row | {
        "state": evaluation.state.value,
        "params": _text(evaluation.params),
        "outcomes": _text(evaluation.outcomes),
        "cause": None if evaluation.cause is None else evaluation.cause.value,
        "history": json.dumps([{**asdict(each), "cause": each.cause.value} for each in evaluation.history]),
        "attributes": _text(evaluation.attributes),
        "why": None if evaluation.why is None else _text(evaluation.why),
        "corrections": json.dumps([asdict(each) for each in evaluation.corrections]),
        "is_excluded": int(evaluation.is_excluded),
    }


def from_row(study: str, values: tuple[Any, ...]) -> Evaluation:
    """The evaluation of this study whose columns, in the order of COLUMNS, have these values.

    A StorageError if one of them is none that was ever written: a file may be damaged, and SQLite takes any type.
    """
    row: dict[str, Any] = {}
    for (name, is_optional, read, expected), value in zip(_READERS, values, strict=True):
        try:
            row[name] = None if value is None and is_optional else read(value)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise StorageError(
                f"evaluation #{values[_ID]} is damaged in the storage: its {name} was {one_line(repr(value), 100)}, "
                f"expected {expected}: restore a copy of the storage, or delete this row of pesky_evaluations."
            ) from error
    return Evaluation(study=study, **row)


def _text(values: Mapping[str, object]) -> str:
    return json.dumps(dict(values), allow_nan=False)


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return harmless(value)  # someone else may have written it


def _read_count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError
    return value


def _read_number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError
    return float(value)


def _read_params(value: str) -> FrozenDict[Option]:
    return FrozenDict({name: _read_option(each) for name, each in json.loads(value).items()})


def _read_option(value: object) -> Option:
    return value if isinstance(value, str | bool | int) else _read_number(value)


def _read_outcomes(value: str) -> FrozenDict[float]:
    return FrozenDict({name: _read_number(each) for name, each in json.loads(value).items()})


def _read_history(value: str) -> tuple[Attempt, ...]:
    return tuple(_read_attempt(**each) for each in json.loads(value))


def _read_attempt(worker: object, began: object, ended: object, cause: object, error: object) -> Attempt:
    return Attempt(
        None if worker is None else _read_text(worker),
        None if began is None else _read_number(began),
        _read_number(ended),
        Cause(cause),
        _read_text(error),
    )


def _read_object(value: str) -> FrozenDict[object]:
    found = json.loads(value)
    if not isinstance(found, dict):
        raise TypeError
    return as_json(found)  # someone else may have written more than we keep


def _read_corrections(value: str) -> tuple[Correction, ...]:
    return tuple(_read_correction(**each) for each in json.loads(value))


def _read_correction(
    when: object, change: object, outcome: object, old: object, new: object, reason: object
) -> Correction:
    return Correction(
        datetime.fromisoformat(_read_text(when)).isoformat(timespec="seconds"),
        Change(change),
        None if outcome is None else _read_text(outcome),
        None if old is None else _read_number(old),
        None if new is None else _read_number(new),
        _read_text(reason),
    )


def _read_truth(value: object) -> bool:
    if value not in (0, 1):
        raise ValueError
    return bool(value)


Reader = tuple[Callable[[Any], Any], str]

_BY_NAME: dict[str, Reader] = {
    "state": (State, f"one of {', '.join(State)}"),
    "cause": (Cause, f"one of {', '.join(Cause)}"),
    "params": (_read_params, "a JSON object of texts and finite numbers"),
    "outcomes": (_read_outcomes, "a JSON object of finite numbers"),
    "history": (_read_history, "a JSON list of attempts"),
    "attributes": (_read_object, "a JSON object"),
    "why": (_read_object, "a JSON object"),
    "corrections": (_read_corrections, "a JSON list of corrections"),
    "is_excluded": (_read_truth, "0 or 1"),
}
_BY_TYPE: dict[type, Reader] = {
    Text: (_read_text, "a text"),
    Double: (_read_number, "a finite number"),
    Integer: (_read_count, "a whole number, 0 or above"),
    BigInteger: (_read_count, "a whole number, 0 or above"),
}
_READERS = tuple(
    (column.name, bool(column.nullable), *(_BY_NAME.get(column.name) or _BY_TYPE[type(column.type)]))
    for column in COLUMNS
)
_ID = [column.name for column in COLUMNS].index("id")
