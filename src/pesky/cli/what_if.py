"""`pesky what-if`: what other thresholds would change."""

import re
from collections.abc import Iterable
from typing import Annotated

import typer

from pesky.cli.arguments import AsJson, LookedAt, StudyName
from pesky.errors import DataError
from pesky.problem.fields import number_in

_THRESHOLD = re.compile(r"(?P<name>[^<>=]+)(?P<sense>[<>]?=)(?P<value>[^<>=]+)")
"""`latency_ms=2.5`, or where an outcome has two limits `ph<=7.3`."""


def what_if(
    study: LookedAt,
    thresholds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OUTCOME=THRESHOLD]...",
            help="Other thresholds, like latency_ms=2.5; 'ph<=7.3' where there are two.",
        ),
    ] = None,
    name: StudyName = None,
    json: AsJson = False,
) -> None:
    """Print what would be recommended under other thresholds, or what each limit costs. Nothing is measured."""
    from dataclasses import asdict

    from pesky.cli.consoles import console, say_json
    from pesky.cli.stored_study import Looked

    looked = Looked.of(study, name)
    looked.read()
    opened = looked.open()
    if thresholds:
        found = opened.what_if(_thresholds(thresholds))
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


def _thresholds(texts: Iterable[str]) -> dict[str, float]:
    """The threshold of each outcome, or of one side of it, as they were typed."""
    found: dict[str, float] = {}
    for text in texts:
        typed = _THRESHOLD.fullmatch(text)
        threshold = None if typed is None else number_in(typed["value"])
        if typed is None or threshold is None or not typed["name"].strip():
            raise DataError(f"{text!r} is no threshold: expected outcome=number, like latency_ms=2.5 or 'ph<=7.3'.")
        name = typed["name"].strip() if typed["sense"] == "=" else f"{typed['name'].strip()} {typed['sense']}"
        if name in found:
            raise DataError(f"{name!r} was given twice: leave one out.")
        found[name] = threshold
    return found
