"""`pesky import`: data of one's own from a CSV file."""

from pathlib import Path
from typing import Annotated

import typer

from pesky.cli.arguments import StudyPath


def import_data(
    study: StudyPath,
    data: Annotated[Path, typer.Argument(metavar="DATA.csv", help="A table with a header.", show_default=False)],
) -> None:
    """Add the rows of a CSV file as data of your own: all of them, or none if one is wrong.

    Columns are parameters and outcomes; others are kept as attributes. An empty cell is an outcome that was not
    measured. Rows outside of the bounds are data, too.
    """
    from pesky.cli.stored_study import open_study
    from pesky.study.rows import read_csv
    from pesky.study_file import StudyFile
    from pesky.wording import counted

    rows = read_csv(data)
    added = open_study(StudyFile.read(study, importing=False)).add_rows(rows)
    numbers = f": #{added[0].id} to #{added[-1].id}" if added else ""
    typer.echo(f"{counted(len(added))} added from {data}{numbers}.")
