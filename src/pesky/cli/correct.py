"""`pesky correct`, `pesky exclude` and `pesky include`: what was told wrongly, and what is not to be trusted."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pesky.cli.arguments import StudyPath, check_claim, claim, outcomes

if TYPE_CHECKING:
    from pesky.store import Evaluation
    from pesky.study import Study

Id = Annotated[str, typer.Argument(metavar="ID", help="The evaluation, as `pesky show` lists it.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", "-m", help="Why; it is kept and shown.")]


def correct(
    study: StudyPath,
    evaluation: Id,
    values: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", help="The right values, like f=1.2.")],
    reason: Reason = "",
) -> None:
    """Put a value in place of one that was told. The old one stays in the history of the evaluation."""
    opened, id_ = _opened(study, evaluation)
    _say(opened.correct(id_, outcomes(values), reason), opened)


def exclude(study: StudyPath, evaluation: Id, reason: Reason = "") -> None:
    """Learn nothing from an evaluation. It is kept and shown, and counts as spent; `pesky include` takes it back."""
    opened, id_ = _opened(study, evaluation)
    _say(opened.exclude(id_, reason), opened)


def include(study: StudyPath, evaluation: Id, reason: Reason = "") -> None:
    """Learn from an evaluation again that was excluded."""
    opened, id_ = _opened(study, evaluation)
    _say(opened.include(id_, reason), opened)


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
    from pesky.study.in_words import reason_of

    state = "excluded" if evaluation.is_excluded else evaluation.state.value
    said = measured(evaluation, study.problem) or "nothing measured"
    history = f" ({reason_of(evaluation)})" if evaluation.corrections else ""
    typer.echo(f"#{evaluation.id} {state}: {said}{history}")
