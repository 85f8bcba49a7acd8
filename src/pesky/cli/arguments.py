"""Arguments that several commands share, and values as they are written on the command line."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from pesky.errors import DataError
from pesky.problem.fields import brief, json_in, number_in
from pesky.problem.reading import WORDS, YES_NO
from pesky.problem.wording import number_hint

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file.", show_default=False)]
LookedAt = Annotated[
    str,
    typer.Argument(
        metavar="STUDY.toml|STORAGE",
        help="The study file; or the storage by itself: a database file or a URL.",
        show_default=False,
    ),
]
StudyName = Annotated[
    str | None, typer.Option("--name", help="Which study of a storage; where there is one only, it need not be said.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only how it ended.")]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Go on though the first evaluations all fail in the same way.")
]
Evaluations = Annotated[
    int | None, typer.Option(min=1, help="Go on to so many evaluations in all, instead of the file's.")
]

BARE, _OBJECT = "'x=0.2 kind=a'", """'{"x": 0.2, "kind": "a"}'"""
"""Parameters in one argument, in the two ways that are read."""


def outcomes(texts: Iterable[str]) -> dict[str, float]:
    """The values of texts like `f=1.5` and `converged=true`."""
    values: dict[str, float] = {}
    for text in texts:
        name, mark, value = (part.strip() for part in text.partition("="))
        if not mark or not name:
            raise DataError(f"{text!r} is no outcome: expected name=value, like f=1.5 or converged=true.")
        if name in values:
            raise DataError(f"{name!r} was given twice: leave one out.")
        values[name] = _value(text, value)
    return values


def _value(text: str, value: str) -> float:
    if value.lower() in WORDS:
        return WORDS[value.lower()]
    if (number := number_in(value)) is None:
        raise DataError(f"{text!r}: expected a number, or {YES_NO}.{number_hint(value)}")
    return number


def params_in(what: str, given: Iterable[str]) -> dict[str, object]:
    """Parameters, be they one JSON object or texts like `x=0.5`."""
    several = [each for each in given if each.strip()]
    if len(several) == 1 and several[0].lstrip().startswith(("{", "[")):
        return json_object(what, several[0], f" or {BARE}")
    return dict(texts(several, f", or a JSON object like {_OBJECT}"))


def all_params(text: str) -> dict[str, object]:
    """The parameters of an option --params, one text in either form."""
    try:
        words = [text] if text.lstrip().startswith(("{", "[")) else shlex.split(text)
    except ValueError as error:
        raise DataError(f"--params was {text!r} ({error}): expected {BARE} or {_OBJECT}.") from None
    return params_in("--params", words)


def json_object(what: str, text: str, or_else: str = "") -> dict[str, object]:
    """The JSON object that was given as a text; `or_else` says what else might have been given."""
    try:
        given = json_in(text)
    except ValueError as error:
        raise DataError(f"{what} was {brief(text)}, which is no JSON ({error}): expected {_OBJECT}{or_else}.") from None
    if not isinstance(given, dict):
        raise DataError(f"{what} was {brief(text)}: expected a JSON object, like {_OBJECT}{or_else}.")
    return given


def claim(text: str) -> tuple[int, str]:
    """The number, and the beginning of the study's identity if it is given."""
    digits, _, tag = text.removeprefix("#").partition("@")
    if not digits.isdecimal() or len(digits) > 9:
        raise DataError(f"{text!r} is no evaluation: expected its number, as `pesky ask` printed it, or name=value.")
    return int(digits), tag


def check_claim(study: Path, id_: int, tag: str, identity: str) -> None:
    """Nothing, or a DataError if the number is one of another study than the one of this identity."""
    if not identity.startswith(tag):
        raise DataError(f"#{id_} is of another study, {tag}: expected one of those that `pesky show {study}` lists.")


def correcting(study: Path, id_: int, outcome: str) -> str:
    """The command that puts another value in place of one that was told."""
    return f"`pesky correct {shlex.quote(str(study))} {id_} {shlex.quote(outcome)}=...`"


def as_arguments(values: Mapping[str, object]) -> str:
    """Names and values as `texts` and `outcomes` read them."""
    return shlex.join(f"{name}={value}" for name, value in values.items())


def texts(given: Iterable[str], or_else: str = "") -> dict[str, str]:
    """The texts of arguments like `x=0.5`, by their names; `or_else` says what else might have been given."""
    found: dict[str, str] = {}
    for each in given:
        name, mark, value = (part.strip() for part in each.partition("="))
        if not mark or not name:
            raise DataError(f"{each!r} is no parameter: expected name=value, like x=0.5{or_else}.")
        if name in found:
            raise DataError(f"{name!r} was given twice: leave one out.")
        found[name] = value
    return found


AskedBy = Annotated[
    str | None,
    typer.Option("--strategy", help="Ask by this strategy, not by the file's: default, paper or plain; it is stored."),
]
