"""Data of the user's own, from tables: a pandas frame, a list of mappings, a CSV file."""

import csv
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from pesky.errors import DataError
from pesky.problem import Option, Problem
from pesky.problem.outcome_values import check_outcomes
from pesky.problem.reading import is_empty, is_missing, read_outcome, read_value
from pesky.store import Datum
from pesky.study.columns import FAILED, TASK, Columns, columns_of, listed
from pesky.study.export import OURS
from pesky.study.told import task_of

log = logging.getLogger("pesky")

T = TypeVar("T")
STATE = f"{OURS}state"
MOST = 10
"""Mistakes that are listed."""
Row = tuple[str, Mapping[str, object]]
"""Where a row is, for people, and its cells by their columns."""


def rows_of(table: object) -> list[Row]:
    """The rows of a frame or of a list of mappings."""
    records = table.to_dict("records") if hasattr(table, "columns") and hasattr(table, "to_dict") else table  # pyright: ignore
    if isinstance(records, str | Mapping) or not isinstance(records, Iterable):
        raise DataError(
            f"the data were {type(table).__name__}: expected a pandas frame, or a list of mappings like "
            "[{'x': 0.2, 'f': 1.5}, ...]; for a single point, add(params, outcomes)."
        )
    rows = [(f"row {number}", row) for number, row in enumerate(records, 1)]
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise DataError(f"{where} was {row!r}: expected a mapping like {{'x': 0.2, 'f': 1.5}}.")
    return rows


def read_csv(path: str | Path) -> list[Row]:
    """The rows of a CSV file whose first line names the columns; cells are separated by commas, semicolons or tabs."""
    text = _text(path)
    head = text.partition("\n")[0]
    reader = csv.reader(text.splitlines(keepends=True), delimiter=max(",;\t", key=head.count))
    try:
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}: expected a CSV file.") from error
    if not lines:
        raise DataError(f"{path} is empty: expected a line with the names of the columns, and the data below it.")
    names = [_bare(cell) for cell in lines[0][1]]
    if len(set(names)) < len(names):
        raise DataError(f"{path}: a column is named twice: expected {', '.join(map(repr, dict.fromkeys(names)))} once.")
    for number, cells in lines[1:]:
        if len(cells) > len(names):
            raise DataError(f"{path}, line {number} has {len(cells)} cells: expected {len(names)}, as the first line.")
    table = [(number, [_bare(cell) for cell in cells]) for number, cells in lines[1:]]
    if reader.dialect.delimiter == ";":
        table = _with_points(table)
    return [(f"line {number}", dict(zip(names, cells, strict=False))) for number, cells in table]


def _text(path: str | Path) -> str:
    """The text of a file in UTF-8, or else in the encoding of many a spreadsheet."""
    try:
        with suppress(UnicodeDecodeError):
            return Path(path).read_text(encoding="utf-8-sig")
        text = Path(path).read_text(encoding="cp1252")
        if "\0" in text:
            raise DataError(f"{path} cannot be read: expected a CSV file in UTF-8.")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}): expected a CSV file in UTF-8.") from error
    log.warning("%s is not in UTF-8 and was read as Windows-1252: save it as CSV UTF-8 if letters are wrong", path)
    return text


def _with_points(table: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The table with 1.5 for 1,5 where all of its numbers are written like that, as many a spreadsheet does."""
    every = [cell for _, cells in table for cell in cells]
    if any(re.fullmatch(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", cell) for cell in every):
        return table
    decimal = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
    return [(n, [c.replace(",", ".") if decimal.fullmatch(c) else c for c in cells]) for n, cells in table]


def data_of(problem: Problem, rows: Sequence[Row]) -> list[Datum]:
    """What the rows say was measured where; a DataError that lists the rows that say nothing that can be kept.

    Columns are parameters and outcomes; `failed` is why a measurement failed, or yes, and `task` which one, where there
    are several; all others are attributes. Empty cells are outcomes that were not measured. Of a table that a study
    exported, what had no result is left out, and so is what that study says of its evaluations.
    """
    data, wrong = read_rows(problem, rows)
    if wrong:
        mistakes = [f"{where}: {each}" for where, error in wrong for each in error.args]
        more = [f"and {len(mistakes) - MOST} more"] if len(mistakes) > MOST else []
        listed = "\n".join(f"  {each}" for each in [*mistakes[:MOST], *more])
        raise DataError(f"nothing was added, since of {len(rows)} rows {len(wrong)} cannot be:\n{listed}")
    return data


def read_rows(problem: Problem, rows: Sequence[Row]) -> tuple[list[Datum], list[tuple[str, DataError]]]:
    """What the rows say, and which of them say nothing that can be kept, and why: see `data_of`."""
    if not rows:
        raise DataError("there are no rows of data: expected at least one.")
    columns = columns_of(problem, names_in(rows))
    data, wrong = [], []
    for where, row in rows:
        try:
            if (datum := _datum(problem, columns, row)) is not None:
                data.append(datum)
        except DataError as error:
            wrong.append((where, error))
    return data, wrong


def names_in(rows: Sequence[Row]) -> list[object]:
    """The columns of a table, each once."""
    return list(dict.fromkeys(name for _, row in rows for name in row))


def _datum(problem: Problem, columns: Columns, row: Mapping[str, object]) -> Datum | None:
    kinds = ("parameter", "outcome", "attribute", "ours", FAILED, TASK)
    cells: dict[str, dict[str, object]] = {kind: {} for kind in kinds}
    for column, value in row.items():
        kind, name = columns[column]
        if not (is_missing if kind == "outcome" else is_empty)(value):
            cells[kind][name] = value
    if not cells["outcome"] and STATE in cells["ours"]:
        return None
    params, wrong = _each(partial(_param, problem, cells["parameter"]), problem.parameters)
    outcomes, also_wrong = _each(partial(_outcome, problem, cells["outcome"]), cells["outcome"])
    error = _error(cells[FAILED].get(FAILED))
    if not cells["outcome"] and error is None:
        wrong.append("no outcome was measured: leave the row out, or say in a column 'failed' why it failed.")
    if wrong or also_wrong:
        raise DataError(*wrong, *also_wrong)
    task = _task(problem, cells[TASK].get(TASK), outcomes, is_failed=error is not None)
    beside = cells["attribute"] | (cells[TASK] if error is None else {})
    return Datum(task, params, outcomes, beside, error)


def _each(read: Callable[[str], T], names: Iterable[str]) -> tuple[dict[str, T], list[str]]:
    """What is read of each name, and what is said of those that are wrong."""
    values, wrong = {}, []
    for name in names:
        try:
            values[name] = read(name)
        except DataError as error:
            wrong.append(str(error))
    return values, wrong


def _param(problem: Problem, cells: Mapping[str, object], name: str) -> Option:
    if name not in cells:
        raise DataError(f"the parameter {name!r} is empty.")
    return read_value(name, problem.parameters[name], cells[name])


def _outcome(problem: Problem, cells: Mapping[str, object], name: str) -> float:
    value = read_outcome(name, cells[name], is_yes_no=name in problem.yes_no)
    return check_outcomes(problem, {name: value})[name]


def _error(given: object) -> str | None:
    """Why it failed, if it did: a reason, or yes."""
    said = "" if given is None else str(given).strip()
    if said.lower() in ("", "no", "false", "0", "0.0", "ok"):
        return None
    return "failed" if said.lower() in ("yes", "true", "1", "1.0", "x") else said


def _task(problem: Problem, given: object, outcomes: Mapping[str, float], *, is_failed: bool) -> str:
    """The task that measured it; of several, one that failed has to be named."""
    if not is_failed:
        return task_of(problem, outcomes)
    if given is not None and str(given) in problem.tasks:
        return str(given)
    if given is not None or len(problem.tasks) > 1:
        raise DataError(f"the task that failed was {given!r}: expected a column 'task' with {listed(problem.tasks)}.")
    return next(iter(problem.tasks))


def _bare(cell: str) -> str:
    """The text without the quote that keeps spreadsheets from taking it for a formula."""
    text = cell.strip()
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@") else text
