"""`pesky why`: why an evaluation was asked."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from pesky.cli.arguments import AsJson, LookedAt, StudyName

if TYPE_CHECKING:
    from pesky.cli.stored_study import Looked
    from pesky.store import Evaluation


def why(
    study: LookedAt,
    evaluation: Annotated[
        int | None, typer.Argument(metavar="[ID]", help="Its number; the last one if not given.")
    ] = None,
    name: StudyName = None,
    json: AsJson = False,
) -> None:
    """Print why an evaluation was asked: what was expected there, what each task was worth, and what is not known."""
    from pesky.cli.consoles import console, say_json
    from pesky.cli.stored_study import Looked
    from pesky.errors import DataError

    looked = Looked.of(study, name)
    kept = {e.id: e for e in looked.read().evaluations}
    asked = [id_ for id_, e in kept.items() if e.why is not None]
    number = evaluation if evaluation is not None else asked[-1] if asked else None
    if number is None or number not in kept:
        raise DataError(f"there is no evaluation {number!r} to explain: `pesky show {looked.again}` lists them.")
    from pesky.strategy.explain import Explanation

    found = Explanation.of(kept[number])
    expected = _expected(looked, kept, kept[number]) if not json and found.kind != "initial" else []
    if json:
        say_json({"id": number, "task": kept[number].task, **(kept[number].why or {})})
        return
    screen = console()
    screen.print(f"{kept[number]}", soft_wrap=True, markup=False)
    screen.print("\n".join([f"{found}", *expected]), soft_wrap=True, markup=False)


def _expected(looked: "Looked", kept: "Mapping[int, Evaluation]", asked: "Evaluation") -> list[str]:
    """What was expected at the point before it was measured, by what was known then; nothing where nothing was."""
    from pesky.answer.prediction import predict
    from pesky.errors import PeskyError
    from pesky.strategy.explain import known_before

    try:
        study = looked.open()
        if not study.space.contains(asked.params):
            return []
        known = study.inferred(known_before(kept.values(), asked))
        found = predict(known, study.space.encode(asked.params))
    except PeskyError:  # nothing was known, or a known function is missing
        return []
    values = [
        f"{name} = {each.mean:.4g}" + (f" ± {each.deviation:.2g}" if each.deviation else "")
        for name, each in found.outcomes.items()
    ]
    held = [f"{text} with probability {p:.2g}" for text, p in found.probabilities.items()]
    return [f"  expected here, by what was known then: {'; '.join([*values, *held])}"]
