"""Data of the user's own, from tables: a pandas frame, a list of mappings, a CSV file."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pesky.errors import DataError
from pesky.problem import Problem
from pesky.problem.outcome_values import check_outcomes
from pesky.problem.reading import is_empty, read_number, read_value
from pesky.store import Datum
from pesky.study.export import ATTRIBUTE, OURS
from pesky.study.told import task_of

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
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}): expected a CSV file in UTF-8.") from error
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
    return [(f"line {number}", dict(zip(names, map(_bare, cells), strict=False))) for number, cells in lines[1:]]


def data_of(problem: Problem, rows: Sequence[Row]) -> list[Datum]:
    """What the rows say was measured where; a DataError that lists the rows that say nothing that can be kept.

    Columns are parameters and outcomes, all others attributes. Empty cells are outcomes that were not measured. Of a
    table that a study exported, what had no result is left out, and so is what that study says of its evaluations.
    """
    if not rows:
        raise DataError("there are no rows of data: expected at least one.")
    columns = _columns(problem, list(dict.fromkeys(name for _, row in rows for name in row)))
    data, mistakes = [], []
    for where, row in rows:
        try:
            if (datum := _datum(problem, columns, row)) is not None:
                data.append(datum)
        except DataError as error:
            mistakes.append(f"{where}: {error}")
    if mistakes:
        more = [f"and {len(mistakes) - MOST} more rows"] if len(mistakes) > MOST else []
        listed = "\n".join(f"  {each}" for each in [*mistakes[:MOST], *more])
        raise DataError(f"nothing was added, since of {len(rows)} rows {len(mistakes)} cannot be:\n{listed}")
    return data


def _columns(problem: Problem, names: Sequence[object]) -> dict[object, tuple[str, str]]:
    """What each column is: of which kind, and its name there."""
    kinds = {"parameter": problem.parameters.keys(), "outcome": set(problem.outcomes)}
    found: dict[object, tuple[str, str]] = {}
    texts = set(map(str, names))
    for column in names:
        text = str(column)
        # a study exports a name that is like one of its own as "parameter x" or "outcome f"
        kind, _, name = text.partition(" ")
        plain = next((each for each in kinds if text in kinds[each] and f"{each} {text}" not in texts), None)
        if plain is not None:
            found[column] = plain, text
        elif name in kinds.get(kind, ()):
            found[column] = kind, name
        else:
            found[column] = ("ours", text) if text.startswith(OURS) else ("attribute", text.removeprefix(ATTRIBUTE))
    for name in problem.parameters:
        if ("parameter", name) not in found.values():
            raise DataError(f"there is no column for the parameter {name!r}: the columns are {_listed(names)}.")
    if not any(kind == "outcome" for kind, _ in found.values()):
        expected = ", ".join(map(repr, problem.outcomes))
        raise DataError(f"there is no column for an outcome: expected one of {expected}; they are {_listed(names)}.")
    return found


def _datum(problem: Problem, columns: Mapping[object, tuple[str, str]], row: Mapping[str, object]) -> Datum | None:
    cells: dict[str, dict[str, object]] = {"parameter": {}, "outcome": {}, "attribute": {}, "ours": {}}
    for column, value in row.items():
        kind, name = columns[column]
        if not is_empty(value):
            cells[kind][name] = value
    if not cells["outcome"] and STATE in cells["ours"]:
        return None
    for name in problem.parameters:
        if name not in cells["parameter"]:
            raise DataError(f"the parameter {name!r} is empty.")
    params = {name: read_value(name, p, cells["parameter"][name]) for name, p in problem.parameters.items()}
    numbers = {name: read_number(value) for name, value in cells["outcome"].items()}
    for name, value in numbers.items():
        if value != value:
            raise DataError(
                f"the outcome {name!r} was {cells['outcome'][name]!r}: expected a number, or an empty cell."
            )
    if not numbers:
        raise DataError("no outcome was measured: leave the row out.")
    outcomes = check_outcomes(problem, numbers)
    return Datum(task_of(problem, outcomes), params, outcomes, cells["attribute"])


def _bare(cell: str) -> str:
    """The text without the quote that keeps spreadsheets from taking it for a formula."""
    text = cell.strip()
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@") else text


def _listed(names: Iterable[object]) -> str:
    return ", ".join(repr(str(name)) for name in names) or "none"
