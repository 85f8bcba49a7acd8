"""`pesky run`: measure until the budget is spent."""

from typing import Annotated

import typer

from pesky.cli import exit_codes
from pesky.cli.arguments import AsJson, AskedBy, Evaluations, KeepGoing, Quiet, StudyPath


def run(
    study: StudyPath,
    workers: Annotated[int | None, typer.Option(min=1, help="Measurements at once, instead of the file's.")] = None,
    evaluations: Evaluations = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Set the stored study aside and start anew.")] = False,
    strategy: AskedBy = None,
    keep_going: KeepGoing = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure until the budget is spent, and recommend.

    A study that was begun before goes on where it ended. Ctrl-C waits for what is running; a second one lets go of it,
    to be measured again next time.
    """
    from pesky.cli.consoles import is_interactive, say
    from pesky.cli.run_study import run_study
    from pesky.cli.stored_study import count, put_aside
    from pesky.study_file import StudyFile
    from pesky.wording import counted

    file = StudyFile.read(study, running=True, evaluations=evaluations, strategy=strategy)
    if fresh and (kept := count(file)) != 0:
        what = "the damaged evaluations" if kept is None else counted(kept)
        if is_interactive() and not typer.confirm(f"Set aside {what} of {file.name!r}?", err=True):
            raise typer.Exit(exit_codes.INTERRUPTED)
        say(f"{file.name!r} was set aside: it is kept as {put_aside(file)!r}.", err=True)
    slots = sum(resource.slots for resource in file.problem.resources.values())
    raise typer.Exit(
        run_study(
            "run",
            file,
            workers or file.run.workers or slots or 1,
            tuple(file.problem.tasks),
            as_json=json,
            quiet=quiet,
            keep_going=keep_going,
        )
    )
