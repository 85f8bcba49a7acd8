"""Evaluations as rows of a table and back, exactly."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from pesky.problem import Option
from pesky.problem.fields import FrozenDict
from pesky.store.attributes import as_json
from pesky.store.evaluation import Attempt, Cause, Change, Correction, Evaluation, State
from pesky.store.reasons import reasons
from pesky.store.sql import cells
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
    row = cells.read(f"evaluation #{one_line(str(values[_ID]), 20)}", COLUMNS, values, _READERS)
    return Evaluation(study=study, **dict(zip(_NAMES, row, strict=True)))


def _text(values: Mapping[str, object]) -> str:
    return json.dumps(dict(values), allow_nan=False)


def _read_text(value: object) -> str:
    return harmless(cells.text(value))  # someone else may have written it


def _read_moment(value: object) -> float:
    return cells.MOMENT[0](value)


def _read_params(value: str) -> FrozenDict[Option]:
    return FrozenDict({name: _read_option(each) for name, each in json.loads(value).items()})


def _read_option(value: object) -> Option:
    if isinstance(value, str | bool):
        return value
    finite = cells.number(value)  # a whole number may be too large for a float
    return value if isinstance(value, int) else finite


def _read_outcomes(value: str) -> FrozenDict[float]:
    return FrozenDict({name: cells.number(each) for name, each in json.loads(value).items()})


def _read_history(value: str) -> tuple[Attempt, ...]:
    return tuple(_read_attempt(**each) for each in json.loads(value))


def _read_attempt(worker: object, began: object, ended: object, cause: object, error: object) -> Attempt:
    return Attempt(
        None if worker is None else _read_text(worker),
        None if began is None else _read_moment(began),
        _read_moment(ended),
        Cause(cause),
        _read_text(error),
    )


def _read_object(value: str) -> dict[str, object]:
    found = json.loads(value)
    if not isinstance(found, dict):
        raise TypeError
    return found


def _read_corrections(value: str) -> tuple[Correction, ...]:
    return tuple(_read_correction(**each) for each in json.loads(value))


def _read_correction(
    when: object, change: object, outcome: object, old: object, new: object, reason: object
) -> Correction:
    return Correction(
        datetime.fromisoformat(_read_text(when)).isoformat(timespec="seconds"),
        Change(change),
        None if outcome is None else _read_text(outcome),
        None if old is None else cells.number(old),
        None if new is None else cells.number(new),
        _read_text(reason),
    )


def _read_truth(value: object) -> bool:
    if value not in (0, 1):
        raise ValueError
    return bool(value)


_READERS: dict[str, cells.Reader] = {
    **dict.fromkeys(("task", "error", "worker"), (_read_text, "a text")),
    **dict.fromkeys(("asked", "began", "ended"), cells.MOMENT),
    "state": (State, f"one of {', '.join(State)}"),
    "cause": (Cause, f"one of {', '.join(Cause)}"),
    "params": (_read_params, "a JSON object of texts and finite numbers"),
    "outcomes": (_read_outcomes, "a JSON object of finite numbers"),
    "history": (_read_history, "a JSON list of attempts"),
    "attributes": (lambda value: as_json(_read_object(value)), "a JSON object"),  # others may have written more
    "why": (lambda value: reasons(_read_object(value)), "a JSON object"),
    "corrections": (_read_corrections, "a JSON list of corrections"),
    "is_excluded": (_read_truth, "0 or 1"),
}
_NAMES = [column.name for column in COLUMNS]
_ID = _NAMES.index("id")
