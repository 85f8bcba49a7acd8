"""`pesky correct`, `pesky exclude` and `pesky include`: what was told wrongly, and what is not to be trusted."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pesky.cli.arguments import StudyPath, as_arguments, check_claim, claim, outcomes
from pesky.cli.consoles import say
from pesky.errors import DataError

if TYPE_CHECKING:
    from pesky.store import Evaluation
    from pesky.study import Study

Id = Annotated[str, typer.Argument(metavar="ID", help="The evaluation, as `pesky show` lists it.", show_default=False)]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Evaluations, as `pesky show` lists them: 3 7 11-21.")]
Reason = Annotated[str, typer.Option("--reason", "-m", help="Why; it is kept and shown.")]


def correct(
    study: StudyPath,
    evaluation: Id,
    values: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", help="The right values, like f=1.2.")],
    reason: Reason = "",
) -> None:
    """Put a value in place of one that was told. The old one stays in the history of the evaluation."""
    opened, id_ = _opened(study, evaluation)
    _check_outcomes(study, opened, id_, values)
    _say(opened.correct(id_, outcomes(values), reason), opened)


def exclude(study: StudyPath, evaluations: Ids, reason: Reason = "") -> None:
    """Learn nothing from evaluations. They are kept and shown, and count as spent; `pesky include` takes them back."""
    opened, ids = _all_opened(study, evaluations)
    for id_ in ids:
        _say(opened.exclude(id_, reason), opened)


def include(study: StudyPath, evaluations: Ids, reason: Reason = "") -> None:
    """Learn from evaluations again that were excluded."""
    opened, ids = _all_opened(study, evaluations)
    for id_ in ids:
        _say(opened.include(id_, reason), opened)


def _check_outcomes(study: Path, opened: "Study", id_: int, values: list[str]) -> None:
    """Nothing, or a DataError that says what to do where a parameter is to be corrected."""
    from pesky.data.formatting import answers_in_words

    given = {name: value for name, _, value in (each.partition("=") for each in values)}
    moved = {name: given[name] for name in opened.problem.parameters if name in given}
    if moved and (e := opened.evaluations.get(id_)) is not None:
        told = answers_in_words(e.outcomes, opened.problem.yes_no)
        raise DataError(
            f"{', '.join(map(repr, moved))}: a parameter cannot be corrected, since another point is another "
            f"measurement. If #{id_} was measured elsewhere, exclude it and tell what was measured there:\n"
            f"  pesky exclude {shlex.quote(str(study))} {id_}\n"
            f"  pesky tell {shlex.quote(str(study))} --params {shlex.quote(as_arguments({**e.params, **moved}))} "
            f"{as_arguments(told)}"
        )


def _all_opened(study: Path, given: list[str]) -> "tuple[Study, list[int]]":
    """The study, and the evaluations that are named, all of which it has."""
    each = [(*_ends(text),) for text in given]
    opened, _ = _opened(study, each[0][0])
    ids: list[int] = []
    for first, last in each:
        (low, tag), (high, _) = claim(first), claim(last)
        check_claim(study, low, tag, opened.identity)
        if missing := [id_ for id_ in (low, high) if id_ not in opened.evaluations]:
            raise DataError(f"there is no evaluation #{missing[0]}: `pesky show {study}` lists them.")
        ids += [id_ for id_ in opened.evaluations if low <= id_ <= high]
    return opened, ids


def _ends(text: str) -> tuple[str, str]:
    """The first and the last of a range like 11-21; of a single one, twice the same."""
    first, mark, last = text.partition("-")
    return (first, last) if mark else (text, text)


def _opened(study: Path, evaluation: str) -> "tuple[Study, int]":
    from pesky.cli.stored_study import open_study, read_snapshot
    from pesky.study_file import StudyFile

    id_, tag = claim(evaluation)
    file = StudyFile.read(study, importing=False)
    read_snapshot(file)  # which must be there
    opened = open_study(file)
    check_claim(study, id_, tag, opened.identity)
    return opened, id_


def _say(evaluation: "Evaluation", study: "Study") -> None:
    from pesky.cli.format import measured
    from pesky.data.formatting import reason_of

    state = "excluded" if evaluation.is_excluded else evaluation.state.value
    said = measured(evaluation, study.problem) or "nothing measured"
    history = f" ({reason_of(evaluation)})" if evaluation.corrections else ""
    say(f"#{evaluation.id} {state}: {said}{history}")
