"""`pesky tell`: what came out of a measurement by hand, or data of one's own."""

import math
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pesky.cli.arguments import BARE, StudyPath, all_params, claim, correcting, json_object, outcomes
from pesky.cli.consoles import say
from pesky.errors import DataError

if TYPE_CHECKING:
    from pesky.problem import Problem
    from pesky.store import Datum, Evaluation


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
    again: Annotated[bool, typer.Option("--again", help="With --params: though the same is there already.")] = False,
) -> None:
    """Tell what came out: all outcomes or some, now and later; or add data of your own with --params.

    An ID as `pesky ask` prints it, like 3@5f2c1e, is only taken by the study that asked; 3 alone is not checked.
    """
    from pesky.cli.format import measured
    from pesky.cli.format import values as in_words
    from pesky.cli.stored_study import open_data, read_snapshot
    from pesky.data.formatting import first_line
    from pesky.data.slips import unusual
    from pesky.study.repeats import repeated
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
        own = _of_your_own(file.problem, all_params(params), told, failed, task)
        if not again and (there := repeated(opened.evaluations.values(), [own])[0]) is not None:
            raise DataError(f"nothing was added: this is there already, as #{there}; if measured twice, give --again.")
        (evaluation,) = opened.store.add_all(opened.identity, [own])
    else:
        assert id_ is not None
        was_failed = opened.evaluations[id_].state.value == "failed"
        _check_unfinished(study, opened.evaluations[id_], told, file.problem, failed, abandon)
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
    say(f"#{evaluation.id} {evaluation.state.value} at {in_words(evaluation.params)}: {said}{rest}")
    for each in unusual(file.problem, opened.evaluations.values(), evaluation, told):
        say(f"{each} If not: {correcting(study, evaluation.id, each.outcome)}")


def _of_your_own(
    problem: "Problem", given: dict[str, object], told: dict[str, Any], failed: str | None, task: str | None
) -> "Datum":
    """What was measured without being asked; a measurement that failed as a row of a table would say it."""
    from pesky.problem.reading import read_params
    from pesky.problem.values import check_params
    from pesky.store import Datum
    from pesky.study.rows import data_of
    from pesky.study.told import task_of, told_values

    if failed:
        named = {} if task is None else {"task": task}
        (datum,) = data_of(problem, [("--params", {**given, **told, "failed": failed, **named})])
        return datum
    params = read_params(problem.parameters, given)
    check_params(problem.parameters, params)
    values = told_values(problem, told)
    return Datum(task_of(problem, values), params, values)


def _check_unfinished(
    study: Path, asked: "Evaluation", told: Collection[str], problem: "Problem", failed: str | None, abandon: bool
) -> None:
    """Nothing, or a DataError if what is left of an evaluation cannot fail or be abandoned."""
    from pesky.study.told import expected_of

    if failed and asked.state.value == "abandoned":
        raise DataError(
            f"#{asked.id} is abandoned, and no failure of it is taken any more: `pesky tell {study} --params '...' "
            "--failed REASON` adds one as data of your own."
        )
    if not (failed or abandon):
        return
    if asked.state.value == "done" or {*asked.outcomes, *told} >= {*expected_of(problem, asked.task, asked.outcomes)}:
        raise DataError(
            f"all of #{asked.id} is measured, and so it neither failed nor is it abandoned. If not to be trusted: "
            f"`pesky exclude {study} {asked.id}`; if a value is wrong: {correcting(study, asked.id, 'NAME')}."
        )


def _recover(study: Path, path: Path) -> None:
    from pesky.cli.stored_study import open_data
    from pesky.study_file import StudyFile
    from pesky.wording import counted

    taken = open_data(StudyFile.read(study, importing=False)).recover(path)
    say(f"{counted(len(taken))} told from {path}; it can be deleted.")
