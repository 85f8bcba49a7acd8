"""`pesky report`: everything about a study in one page."""

import sys
from typing import Annotated

import typer

from pesky.cli.arguments import StudyPath


def report(
    study: StudyPath,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Its file; STUDY-report.html if not given.")
    ] = None,
) -> None:
    """Write one page, which opens offline: the problem, the answer, all pictures, failures and evaluations."""
    from pesky.cli.stored_study import open_study, read_snapshot
    from pesky.show import report as write_report
    from pesky.study_file import StudyFile

    file = StudyFile.read(study, importing=False)
    read_snapshot(file)
    if sys.stderr.isatty():
        typer.echo("Drawing all pictures, some of which take seconds each.", err=True)
    typer.echo(write_report(open_study(file, read_only=True), output or f"{file.path.stem}-report.html"))
