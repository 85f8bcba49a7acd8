"""`pesky tell`: what came out of a measurement by hand, or data of one's own."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pesky.cli.arguments import BARE, StudyPath, all_params, claim, json_object, outcomes
from pesky.errors import DataError

if TYPE_CHECKING:
    from pesky.store import Evaluation
    from pesky.study.data import StudyData


def tell(
    study: StudyPath,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID] [NAME=VALUE]...", help="The evaluation, and what came out: f=1.5 converged=true."),
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="OBJECT", help="What came out, as a JSON object.")] = None,
    failed: Annotated[str | None, typer.Option(metavar="REASON", help="It failed, for this reason.")] = None,
    abandon: Annotated[bool, typer.Option("--abandon", help="It is not going to be measured (any further).")] = False,
    params: Annotated[
        str | None, typer.Option(help=f"Data of your own, without an ID, at these parameters: {BARE}, or JSON.")
    ] = None,
    untold: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Results that a run could not keep, in the file that it wrote.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="How long it took, where costs are measured.")] = None,
    task: Annotated[
        str | None, typer.Option(help="With --params and --failed: the task that failed, of several.")
    ] = None,
) -> None:
    """Tell what came out: all outcomes or some, now and later; or add data of your own with --params.

    An ID as `pesky ask` prints it, like 3@5f2c1e, is only taken by the study that asked; 3 alone is not checked.
    """
    from pesky.cli.format import measured
    from pesky.cli.format import values as in_words
    from pesky.cli.stored_study import open_data, read_snapshot
    from pesky.problem.reading import read_params
    from pesky.study.in_words import first_line
    from pesky.study_file import StudyFile

    if seconds is not None and not 0 <= seconds < math.inf:  # in this form, NaN is refused
        raise DataError(f"--seconds was {seconds:g}: expected how long it took, a finite number, 0 or above.")
    given = list(values or [])
    id_, tag = (None, "") if params is not None or not given or "=" in given[0] else claim(given.pop(0))
    told = outcomes(given) | (json_object("--json", json) if json else {})
    if untold is not None:
        _recover(study, untold)
        return
    if id_ is None and params is None:
        raise DataError("which evaluation? Give its ID, as `pesky ask` printed it, or --params for data of your own.")
    file = StudyFile.read(study, importing=False)
    if id_ is not None and id_ not in {evaluation.id for evaluation in read_snapshot(file).evaluations}:
        raise DataError(f"there is no evaluation #{id_}: `pesky show {study}` lists them; --params adds your own data.")
    opened = open_data(file)
    if not opened.identity.startswith(tag):
        raise DataError(
            f"#{id_} was asked by another study, {tag}, since when {file.name!r} was started anew: expected a question "
            f"of this one; `pesky tell {study} --params '{{...}}'` keeps what was measured as data of your own."
        )
    was_failed = False
    if params is not None:
        given_at = all_params(params)
        if failed:
            (evaluation,) = _failed_elsewhere(opened, {**given_at, **told}, failed, task)
        else:
            at = read_params(opened.problem.parameters, given_at)
            evaluation = opened.add_one(at, told)  # pyright: ignore[reportArgumentType]
    else:
        assert id_ is not None
        was_failed = opened.evaluations[id_].state.value == "failed"
        if told or not (failed or abandon):
            opened.tell(id_, told, seconds=seconds)  # pyright: ignore[reportArgumentType]
        if failed:
            opened.fail(id_, failed, seconds=seconds)
        if abandon:
            opened.abandon(id_)
        evaluation = opened.evaluations[id_]
    measures = file.problem.tasks.get(evaluation.task)  # None of one that the problem does not have any more
    missing = [] if measures is None else [name for name in measures.outcomes if name not in evaluation.outcomes]
    said = measured(evaluation, file.problem) or evaluation.error or "nothing measured"
    is_failed = was_failed and evaluation.state.value == "failed" and bool(told)
    if is_failed:
        said += f"; kept, and still failed ({first_line(evaluation.error)}) until all is told"
    rest = f"; still to come: {', '.join(missing)}" if missing and (evaluation.is_open or is_failed) else ""
    typer.echo(f"#{evaluation.id} {evaluation.state.value} at {in_words(evaluation.params)}: {said}{rest}")


def _failed_elsewhere(opened: "StudyData", row: dict[str, object], reason: str, task: str | None) -> "list[Evaluation]":
    """A measurement of one's own that failed, as a row of a table would say it."""
    from pesky.study.rows import data_of

    named = {} if task is None else {"task": task}
    data = data_of(opened.problem, [("--params", {**row, "failed": reason, **named})])
    return opened.store.add_all(opened.identity, data)


def _recover(study: Path, path: Path) -> None:
    from pesky.cli.stored_study import open_data
    from pesky.study_file import StudyFile
    from pesky.wording import counted

    taken = open_data(StudyFile.read(study, importing=False)).recover(path)
    typer.echo(f"{counted(len(taken))} told from {path}; it can be deleted.")
