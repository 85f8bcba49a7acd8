"""`pesky import`: data of one's own from a CSV file."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pesky.cli.arguments import StudyPath
from pesky.cli.consoles import say
from pesky.errors import DataError, unknown_name

if TYPE_CHECKING:
    from pesky.store import Datum, Evaluation
    from pesky.study.rows import Row

SHOWN = 5
"""Rows, or runs of rows, that are named in an error."""


def import_data(
    study: StudyPath,
    data: Annotated[Path, typer.Argument(metavar="DATA.csv", help="A table with a header.", show_default=False)],
    rename: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=NAME", help="What a column is called in the study; again for more."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Add rows though the very same are there already.")] = False,
) -> None:
    """Add the rows of a CSV file as data of your own: all of them, or none if one is wrong.

    Columns are parameters and outcomes; others are kept as attributes. An empty cell is an outcome that was not
    measured; a column `failed` has the reason, or yes, where measuring failed. Rows outside of the bounds are data.
    """
    from pesky.cli.stored_study import open_study
    from pesky.study.columns import FAILED, TASK, columns_of, in_words
    from pesky.study.rows import data_of, names_in, read_csv, read_rows
    from pesky.study_file import StudyFile
    from pesky.wording import counted

    opened = open_study(StudyFile.read(study, importing=False))
    problem = opened.problem
    rows = _renamed(read_csv(data), rename or [], [*problem.parameters, *problem.outcomes, FAILED, TASK])
    copies = None if again else _copies(opened.evaluations.values(), read_rows(problem, rows)[0], len(rows))
    if copies is not None:
        try:
            data_of(problem, rows)
        except DataError as error:
            raise DataError(f"{error}\nBesides, {copies}") from None
        raise DataError(f"nothing was added: {copies}")
    added = opened.add_rows(rows)
    numbers = f": #{added[0].id} to #{added[-1].id}" if added else ""
    say(f"{counted(len(added))} added from {data}{numbers}.")
    say(f"  {in_words(problem, columns_of(problem, names_in(rows)))}")


def _renamed(rows: "list[Row]", given: list[str], wanted: list[str]) -> "list[Row]":
    """The rows with other names of columns, which are to be these."""
    names: dict[object, str] = {}
    for each in given:
        old, mark, new = (part.strip() for part in each.rpartition("="))
        if not mark or not old or not new:
            raise DataError(f"--rename was {each!r}: expected COLUMN=NAME, like 'Cost (EUR)=cost'.")
        if rows and old not in rows[0][1]:
            raise DataError(f"--rename: {unknown_name('column', old, [str(name) for name in rows[0][1]])}")
        if new not in wanted:
            raise DataError(f"--rename was {each!r}: {unknown_name('name', new, wanted)}")
        names[old] = new
    for where, row in rows[:1]:
        if len({names.get(name, name) for name in row}) < len(row):
            raise DataError(f"--rename: two columns would have one name at {where}: rename the other one, too.")
    return [(where, {names.get(name, name): cell for name, cell in row.items()}) for where, row in rows]


def _copies(kept: "Iterable[Evaluation]", new: "Sequence[Datum]", count: int) -> str | None:
    """Which of so many rows are there already, or twice: a copy would pass for two values that agree."""
    from pesky.cli.format import values
    from pesky.study.repeats import facts, repeated
    from pesky.wording import counted

    said = []
    if there := [id_ for id_ in repeated(kept, new) if id_ is not None]:
        said.append(f"{len(there)} are there already, as {_ids(sorted({*there}))}")
    seen: set[object] = set()
    if copies := [each for each in new if (own := facts(each)) in seen or seen.add(own)]:
        where = "; ".join(values(each.params) for each in copies[:SHOWN]) + ("; .." if len(copies) > SHOWN else "")
        said.append(f"{len(copies)} repeat others of the file, at {where}")
    what = f"of {counted(count, 'row')} {', and '.join(said)}"
    return f"{what}. Leave them out, or give --again if they were measured twice." if said else None


def _ids(ids: list[int]) -> str:
    """Numbers of evaluations, those in a row by their ends."""
    every = set(ids)
    ends = [i for i in ids if i - 1 not in every], [i for i in ids if i + 1 not in every]
    parts = [f"#{low}" if low == high else f"#{low} to #{high}" for low, high in zip(*ends, strict=True)]
    return ", ".join(parts[:SHOWN]) + (", .." if len(parts) > SHOWN else "")
