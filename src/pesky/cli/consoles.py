"""Where things are printed: results on standard output, all else on standard error."""

import json
import sys
from typing import TYPE_CHECKING

import typer

from pesky.text import escaped, harmless

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 240
"""Columns where there is no terminal: a table in a file or a pipe is not to be cut."""


LONG = 20_000
"""Characters of an error that are printed: a study file may have many mistakes."""


def console(*, stderr: bool = False) -> "Console":
    """A console that prints texts as they are: what users named may have brackets in it."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream, markup=False, highlight=False, emoji=False, soft_wrap=False,
        width=None if stream.isatty() else WIDE,
    )  # fmt: skip


def is_interactive() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def say_error(text: str) -> None:
    """Print what went wrong."""
    typer.secho("error: ", nl=False, err=True, fg="red", bold=True)
    typer.echo(harmless(text, LONG), err=True)


def say_json(value: object) -> None:
    """Print a value for programs."""
    typer.echo(escaped(json.dumps(value, indent=1, ensure_ascii=False)))
