"""`pesky tell`: what came out of a measurement by hand, or data of one's own."""

from typing import Annotated

import typer

from pesky.cli.arguments import StudyPath, json_object, outcomes
from pesky.errors import DataError


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
        str | None, typer.Option(help="Data of your own, at these parameters (JSON), without an ID.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="How long it took, where costs are measured.")] = None,
) -> None:
    """Tell what came out: all outcomes or some, now and later; or add data of your own with --params."""
    from pesky.cli.kept import look, open_study
    from pesky.cli.words import measured
    from pesky.cli.words import values as in_words
    from pesky.file import StudyFile

    given = list(values or [])
    id_ = None if params is not None or not given or "=" in given[0] else _id(given.pop(0))
    told = outcomes(given) | (json_object("--json", json) if json else {})
    if id_ is None and params is None:
        raise DataError("which evaluation? Give its ID, as `pesky ask` printed it, or --params for data of your own.")
    file = StudyFile.read(study, importing=False)
    if id_ is not None and id_ not in {evaluation.id for evaluation in look(file).evaluations}:
        raise DataError(f"there is no evaluation #{id_}: `pesky show {study}` lists them; --params adds your own data.")
    opened = open_study(file)
    if params is not None:
        evaluation = opened.add(json_object("--params", params), told)  # pyright: ignore[reportArgumentType]
    else:
        assert id_ is not None
        if told or not (failed or abandon):
            opened.tell(id_, told, seconds=seconds)  # pyright: ignore[reportArgumentType]
        if failed:
            opened.fail(id_, failed, seconds=seconds)
        if abandon:
            opened.abandon(id_)
        evaluation = opened.evaluations[id_]
    missing = [name for name in file.problem.tasks[evaluation.task].outcomes if name not in evaluation.outcomes]
    said = measured(evaluation, file.problem) or evaluation.error or "nothing measured"
    rest = f"; still to come: {', '.join(missing)}" if missing and evaluation.is_open else ""
    typer.echo(f"#{evaluation.id} {evaluation.state.value} at {in_words(evaluation.params)}: {said}{rest}")


def _id(text: str) -> int:
    digits = text.removeprefix("#")
    if not digits.isdecimal():
        raise DataError(f"{text!r} is no evaluation: expected its number, as `pesky ask` printed it, or name=value.")
    return int(digits)
