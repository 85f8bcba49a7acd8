"""`pesky report`: everything about a study in one page."""

import sys
from typing import Annotated

import typer

from pesky.cli.arguments import LookedAt, StudyName
from pesky.cli.consoles import say


def report(
    study: LookedAt,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Its file; STUDY-report.html if not given.")
    ] = None,
    name: StudyName = None,
) -> None:
    """Write one page, which opens offline: the problem, the answer, all pictures, failures and evaluations."""
    from pesky.cli.stored_study import Looked
    from pesky.show import report as write_report

    looked = Looked.of(study, name)
    looked.read()
    if sys.stderr.isatty():
        say("Drawing all pictures, some of which take seconds each.", err=True)
    say(write_report(looked.open(), output or f"{looked.stem}-report.html"))
