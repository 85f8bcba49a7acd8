"""`pesky ask`: the next question, to be measured by hand."""

import getpass
import shlex
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pesky.cli.arguments import BARE, AsJson, AskedBy, StudyPath, all_params
from pesky.cli.format import claim_of

if TYPE_CHECKING:
    from pesky.store import Evaluation


def ask(
    study: StudyPath,
    task: Annotated[str | None, typer.Option(help="The task to ask of; the best one if not given.")] = None,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm", help="For the answer: measure where the best point is expected, beyond the budget too."
        ),
    ] = False,
    params: Annotated[
        str | None, typer.Option(help=f"Measure here, instead of where it tells most: {BARE}, or JSON.")
    ] = None,
    strategy: AskedBy = None,
    json: AsJson = False,
) -> None:
    """Print what to measure next: tell it what came out with `pesky tell`.

    Several may be asked before one is told. The question waits for its result until it is told, failed or abandoned.
    """
    from pesky.cli.consoles import console, say_json
    from pesky.cli.format import exact
    from pesky.cli.stored_study import open_study
    from pesky.run.budget import Exhausted
    from pesky.store import Limit
    from pesky.strategy import Confirm
    from pesky.strategy.explain import KINDS
    from pesky.study_file import StudyFile

    file = StudyFile.read(study, importing=False, strategy=strategy)
    # who wants the answer confirmed wants it after the budget is spent
    limit = Limit() if confirm else Limit(file.budget.evaluations, file.budget.cost)
    kept = open_study(file)
    given: Any = None if params is None else all_params(params)
    try:
        asked = kept.ask(
            task,
            worker=f"{getpass.getuser()}@{socket.gethostname()}",
            limit=limit,
            gain_per_cost=file.budget.gain_per_cost,
            confirm=confirm,
            params=given,
        )
    except Exhausted as error:
        if error.kind != "budget":
            raise
        raise Exhausted(
            error.kind,
            f"{error}: allow more in the [budget] of {study} to go on; `pesky recommend {study}` has the answer, and "
            f"`pesky ask {study} --confirm` measures it, beyond the budget, too.",
        ) from error
    expected = file.problem.tasks[asked.task].outcomes
    if json:
        fields = {"id": asked.id, "claim": claim_of(asked), "task": asked.task, "params": dict(asked.params)}
        say_json({**fields, "gain": asked.gain, "outcomes": list(expected)})
        return
    screen = console()
    why = KINDS.get(asked.kind or "", f"asked by {asked.kind}").partition(",")[0]
    why = why if asked.gain is None else f"expected gain {asked.gain:.3g} nats"
    if confirm and params is None and asked.kind not in Confirm.kinds:
        awaited = [e.named for e in kept.evaluations.values() if e.is_open and e.kind in Confirm.kinds]
        screen.print(_instead_of_confirming(asked, awaited, study), soft_wrap=True)
    screen.print(f"#{asked.id}: measure {asked.task} ({why})")
    width = max(map(len, asked.params))
    for name, value in asked.params.items():
        screen.print(f"  {name:<{width}} = {exact(value)}")
    screen.print(
        f"Then: pesky tell {study} {claim_of(asked)} " + " ".join(f"{shlex.quote(name)}=..." for name in expected),
        soft_wrap=True,
    )


def _instead_of_confirming(asked: "Evaluation", awaited: Sequence[str], study: Path) -> str:
    """Why this is asked, and not what would be measured for the answer; some of that is awaited."""
    before = {"enqueued": "was queued", "initial": "belongs to the initial design"}.get(asked.kind or "")
    before = "was asked and let go of" if asked.attempts > 1 else before
    if before is None and awaited:
        return f"What is asked for the answer is being measured ({', '.join(awaited)}): this is the next question."
    if before is None:
        return "Nothing is left to measure where the best point is expected: this is the next question."
    return f"This {before}, and comes first: after it, `pesky ask {study} --confirm` asks for the answer."
