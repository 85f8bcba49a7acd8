"""`pesky why`: why an evaluation was asked."""

from typing import Annotated

import typer

from pesky.cli.arguments import AsJson, StudyPath


def why(
    study: StudyPath,
    evaluation: Annotated[
        int | None, typer.Argument(metavar="[ID]", help="Its number; the last one if not given.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Print why an evaluation was asked: what each task was worth there, its price, and what is not known yet."""
    from pesky.cli.consoles import console, say_json
    from pesky.cli.stored_study import read_snapshot
    from pesky.errors import DataError
    from pesky.study_file import StudyFile

    file = StudyFile.read(study, importing=False)
    kept = {e.id: e for e in read_snapshot(file).evaluations}
    asked = [id_ for id_, e in kept.items() if e.why is not None]
    number = evaluation if evaluation is not None else asked[-1] if asked else None
    if number is None or number not in kept:
        raise DataError(f"there is no evaluation {number!r} to explain: `pesky show {file.path.name}` lists them.")
    from pesky.study.explain import Explanation

    found = Explanation.of(kept[number])
    if json:
        say_json({"id": number, "task": kept[number].task, **(kept[number].why or {})})
        return
    screen = console()
    screen.print(f"{kept[number]}", soft_wrap=True, markup=False)
    screen.print(f"{found}", soft_wrap=True, markup=False)
