"""Where things are printed: results on standard output, all else on standard error.

Texts may be anybody's. `pesky.text.guard_terminal` lets colors alone through, whoever prints; what is printed here is
plain text, or has the colors that the console gives it.
"""

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from pesky.text import Guarded, escaped, harmless, visible

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 240
"""Columns where there is no terminal: a table in a file or a pipe is not to be cut."""


LONG = 20_000
"""Characters of an error that are printed: a study file may have many mistakes."""


def console(*, stderr: bool = False) -> "Console":
    """A console that prints texts as they are: what users named may have brackets in it."""
    from pesky.cli.screen import Screen

    stream = sys.stderr if stderr else sys.stdout
    return Screen(
        file=stream.unguarded if isinstance(stream, Guarded) else stream,
        markup=False, highlight=False, emoji=False, soft_wrap=False,
        width=None if stream.isatty() else WIDE,
    )  # fmt: skip


def is_interactive() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def say(text: object, *, err: bool = False) -> None:
    """Print a text, without any orders to the terminal that are in it."""
    print(visible(str(text)), file=sys.stderr if err else sys.stdout, flush=True)


def say_error(text: str) -> None:
    """Print what went wrong."""
    typer.secho("error: ", nl=False, err=True, fg="red", bold=True)
    say(harmless(text, LONG), err=True)


def say_json(value: object) -> None:
    """Print a value for programs."""
    say_data(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def say_data(text: str) -> None:
    """Print a text for programs, with escapes where a terminal would obey."""
    print(escaped(text), end="", flush=True)


def pass_on(line: str) -> None:
    """Print a line of a measurement's messages, in its colors; that nobody reads them any more is no harm to it."""
    with suppress(OSError, ValueError):
        print(f"{line}\n", end="", file=sys.stderr, flush=True)
