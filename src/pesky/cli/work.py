"""`pesky work`: one worker on this machine, for a study that others work on too."""

from typing import Annotated

import typer

from pesky.cli.arguments import AsJson, AskedBy, Evaluations, KeepGoing, Quiet, StudyPath
from pesky.errors import ProblemError, unknown_name


def work(
    study: StudyPath,
    tasks: Annotated[
        str | None, typer.Option(help="The tasks to measure here, like train,profile; all if not given.")
    ] = None,
    resource: Annotated[str | None, typer.Option(help="Measure the tasks of this resource.")] = None,
    evaluations: Evaluations = None,
    strategy: AskedBy = None,
    keep_going: KeepGoing = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Be one worker of a study until its budget is spent.

    Start as many as there are machines, or slots on one: they share the storage, and take over from one another what
    was lost.
    """
    from pesky.cli.run_study import run_study
    from pesky.study_file import StudyFile

    problem = StudyFile.read(study, importing=False).problem
    chosen = tuple(problem.tasks)
    if resource is not None:
        if resource not in problem.resources:
            raise ProblemError(f"--resource: {unknown_name('resource', resource, problem.resources)}")
        chosen = problem.resources[resource].tasks
    if tasks is not None:
        wanted = [name.strip() for name in tasks.split(",") if name.strip()]
        for name in wanted:
            if name not in chosen:
                raise ProblemError(f"--tasks: {unknown_name('task', name, chosen)}")
        chosen = tuple(wanted)
    file = StudyFile.read(study, running=chosen, evaluations=evaluations, strategy=strategy)
    raise typer.Exit(run_study("work", file, 1, chosen, as_json=json, quiet=quiet, keep_going=keep_going))
