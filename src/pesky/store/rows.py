"""Evaluations as rows of a table and back, exactly."""

import json
from collections.abc import Mapping
from typing import Any

from pesky.problem.fields import Named
from pesky.store.evaluation import Evaluation, State
from pesky.store.schema import evaluations

COLUMNS = tuple(column for column in evaluations.c if column.name != "study")


def to_row(evaluation: Evaluation) -> dict[str, object]:
    """The evaluation as values of the columns."""
    row: dict[str, object] = {column.name: getattr(evaluation, column.name) for column in COLUMNS}
    return row | {
        "state": evaluation.state.value,
        "params": _text(evaluation.params),
        "outcomes": _text(evaluation.outcomes),
    }


def from_row(values: tuple[Any, ...]) -> Evaluation:
    """The evaluation whose columns, in the order of COLUMNS, have these values."""
    row = {column.name: value for column, value in zip(COLUMNS, values, strict=True)}
    return Evaluation(
        **row
        | {
            "state": State(row["state"]),
            "params": Named(json.loads(row["params"])),
            "outcomes": Named(json.loads(row["outcomes"])),
        }
    )


def _text(values: Mapping[str, object]) -> str:
    return json.dumps(dict(values), allow_nan=False)
