"""`pesky show`: the evaluations in a table, or a picture of the study."""

from typing import TYPE_CHECKING, Annotated

import typer

from pesky.cli.arguments import AsJson, LookedAt, StudyName
from pesky.errors import DataError, unknown_name

if TYPE_CHECKING:
    from rich.table import Table

    from pesky.problem import Problem
    from pesky.store import Evaluation

NAMES = ("progress", "belief", "why", "limits", "importance", "parallel", "timeline", "calibration")
"""Those of `pesky.show.PICTURES`, which takes seconds to import."""
_SIGNS = {True: "yes", False: "no", None: "?"}


def show(
    study: LookedAt,
    name: StudyName = None,
    state: Annotated[str | None, typer.Option(help="Only those in this state, like done or failed.")] = None,
    csv: Annotated[str | None, typer.Option(metavar="FILE", help="Write them to a CSV file; - prints it.")] = None,
    json: AsJson = False,
    picture: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Write a picture instead: {', '.join(NAMES)}.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Its file: .html, .png, .svg or .pdf.")
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="For a dark page.")] = False,
    against: Annotated[
        str | None, typer.Option(help="Of progress: evaluations, cost or time.", show_default=False)
    ] = None,
    along: Annotated[
        list[str] | None,
        typer.Option(metavar="PARAMETER", help="Of belief and why: a parameter to look along; again for more."),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Of belief: where the others are, if not as in the answer."),
    ] = None,
    evaluation: Annotated[
        int | None, typer.Option(metavar="ID", help="Of why: the question; the last one if not given.")
    ] = None,
) -> None:
    """Print every evaluation: where, what came out, and whether it was feasible by what was measured.

    With --picture, write a picture of the study instead.
    """
    from pesky.cli.consoles import console, say, say_data, say_json
    from pesky.cli.stored_study import Looked
    from pesky.store import State

    given = {"against": against, "along": along, "at": at, "evaluation": evaluation}
    options = {key: each for key, each in given.items() if each not in (None, [])}
    if picture is not None:
        from pesky.cli.picture import write_picture

        if state is not None or csv is not None or json:
            raise DataError("--picture shows all evaluations, and is no table: leave out --state, --csv and --json.")
        say(write_picture(Looked.of(study, name), picture, output, dark, options))
        return
    if output is not None or dark or options:
        raise DataError(
            "--output, --dark, --against, --along, --at and --evaluation are those of a picture: say which, like "
            "--picture progress."
        )
    if state is not None and state not in {each.value for each in State}:
        raise DataError(f"--state: {unknown_name('state', state, [each.value for each in State])}")
    kept = Looked.of(study, name).read()
    evaluations = [e for e in kept.evaluations if state is None or e.state.value == state]
    if csv is not None:
        from pesky.study.export import to_csv
        from pesky.wording import counted

        text = to_csv(kept.problem, evaluations, None if csv == "-" else csv)
        if csv == "-":
            say_data(text)
        else:
            say(f"{counted(len(evaluations))} written to {csv}")
    elif json:
        from pesky.data.formatting import is_feasible
        from pesky.study.export import as_dict

        say_json([{**as_dict(e), "feasible": is_feasible(e, kept.problem)} for e in evaluations])
    elif evaluations:
        console().print(_table(evaluations, kept.problem))
    else:
        say("no evaluations" + ("" if state is None else f" that are {state}"))
    if csv is None and not json:
        for name in kept.set_aside:
            say(f"set aside before: {name!r}")


def _table(evaluations: "list[Evaluation]", problem: "Problem") -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from pesky.data.formatting import answers_in_words, is_feasible, reason_of, shown_state
    from pesky.store.evaluation import short

    has_errors = any(e.error or e.corrections for e in evaluations)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("task")
    for name in problem.parameters:
        table.add_column(Text(name), justify="right")
    for name in problem.outcomes:
        table.add_column(Text(name), justify="right", style="cyan")
    table.add_column("feasible")
    table.add_column("state")
    if has_errors:
        table.add_column("reason", overflow="fold")
    for e in evaluations:
        told = answers_in_words(e.outcomes, problem.yes_no)
        words = [short(told[name]) if name in told else "" for name in problem.outcomes]
        row = [str(e.id), e.task, *(short(e.params[name]) for name in problem.parameters), *words]
        row += [_SIGNS[is_feasible(e, problem)] if e.outcomes or e.error else "", shown_state(e)]
        table.add_row(*(Text(cell) for cell in row + ([reason_of(e)] if has_errors else [])))
    return table
