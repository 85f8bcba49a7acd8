"""`pesky import`: data of one's own from a CSV file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pesky.cli.arguments import StudyPath
from pesky.errors import DataError, unknown_name

if TYPE_CHECKING:
    from pesky.study.rows import Row


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
    from pesky.study.columns import columns_of, in_words
    from pesky.study.rows import data_of, names_in, read_csv
    from pesky.study_file import StudyFile
    from pesky.wording import counted

    rows = _renamed(read_csv(data), rename or [])
    opened = open_study(StudyFile.read(study, importing=False))
    if not again:
        known = {_facts(e.params, e.outcomes, e.error): e.id for e in opened.evaluations.values() if e.is_yours}
        new = [_facts(each.params, each.outcomes, each.error) for each in data_of(opened.problem, rows)]
        if there := [known[each] for each in new if each in known]:
            raise DataError(
                f"nothing was added: of {len(new)} rows {len(there)} are there already, as #{there[0]} to "
                f"#{there[-1]}. Leave them out, or give --again if they were measured twice."
            )
    added = opened.add_rows(rows)
    numbers = f": #{added[0].id} to #{added[-1].id}" if added else ""
    typer.echo(f"{counted(len(added))} added from {data}{numbers}.")
    typer.echo(f"  {in_words(opened.problem, columns_of(opened.problem, names_in(rows)))}")


def _renamed(rows: "list[Row]", given: list[str]) -> "list[Row]":
    """The rows with other names of columns."""
    names: dict[object, str] = {}
    for each in given:
        old, mark, new = (part.strip() for part in each.rpartition("="))
        if not mark or not old or not new:
            raise DataError(f"--rename was {each!r}: expected COLUMN=NAME, like 'Cost (EUR)=cost'.")
        if rows and old not in rows[0][1]:
            raise DataError(f"--rename: {unknown_name('column', old, [str(name) for name in rows[0][1]])}")
        names[old] = new
    for where, row in rows[:1]:
        if len({names.get(name, name) for name in row}) < len(row):
            raise DataError(f"--rename: two columns would have one name at {where}: rename the other one, too.")
    return [(where, {names.get(name, name): cell for name, cell in row.items()}) for where, row in rows]


def _facts(params: Mapping[str, object], outcomes: Mapping[str, float], error: str | None) -> tuple[object, ...]:
    """What makes two rows the same."""
    return (*sorted(params.items()), *sorted(outcomes.items()), error)
