"""`pesky enqueue`: what is to be measured before anything else."""

from typing import Annotated, Any

import typer

from pesky.cli.arguments import StudyPath, params_in
from pesky.cli.consoles import say


def enqueue(
    study: StudyPath,
    params: Annotated[
        list[str], typer.Argument(metavar="NAME=VALUE...", help="All parameters, like x=0.5 kind=a, or as JSON.")
    ],
    task: Annotated[list[str] | None, typer.Option(help="A task to measure there; all of them if not given.")] = None,
) -> None:
    """Have these parameters measured before anything else, by whoever asks next: try my default first."""
    from pesky.cli.format import values
    from pesky.cli.stored_study import open_study
    from pesky.study_file import StudyFile

    given: Any = params_in("the parameters", params)
    queued = open_study(StudyFile.read(study, importing=False)).enqueue(given, task or None)
    for each in queued:
        say(f"#{each.id} {each.task} queued at {values(each.params)}")
