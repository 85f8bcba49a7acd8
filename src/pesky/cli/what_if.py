"""`pesky what-if`: what other thresholds would change."""

from typing import Annotated

import typer

from pesky.cli.arguments import AsJson, StudyPath, outcomes


def what_if(
    study: StudyPath,
    thresholds: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OUTCOME=THRESHOLD]...", help="Other thresholds, like latency_ms=2.5."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Print what would be recommended under other thresholds, or what each limit costs. Nothing is measured."""
    from dataclasses import asdict

    from pesky.cli.consoles import console, say_json
    from pesky.cli.stored_study import open_study, read_snapshot
    from pesky.study_file import StudyFile

    file = StudyFile.read(study, importing=False)
    read_snapshot(file)
    opened = open_study(file, read_only=True)
    if thresholds:
        found = opened.what_if(outcomes(thresholds))
        if json:
            say_json(found.to_dict())
        else:
            console().print(f"{found}", soft_wrap=True, markup=False)
        return
    tables = opened.tradeoffs()
    if json:
        say_json([{**asdict(each), "shadow_price": each.shadow_price} for each in tables])
    else:
        console().print("\n".join(map(str, tables)) or "there is no limit to move", soft_wrap=True, markup=False)
