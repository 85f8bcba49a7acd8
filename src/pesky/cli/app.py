"""The commands in one application, and the exit code of every error."""

import importlib.metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pesky.cli import exit_codes
from pesky.cli.ask import ask
from pesky.cli.check import check
from pesky.cli.consoles import say, say_error
from pesky.cli.copy import copy
from pesky.cli.correct import correct, exclude, include
from pesky.cli.enqueue import enqueue
from pesky.cli.import_data import import_data
from pesky.cli.import_spearmint import import_spearmint
from pesky.cli.init import init
from pesky.cli.page import page
from pesky.cli.recommend import recommend
from pesky.cli.report import report
from pesky.cli.run import run
from pesky.cli.show import show
from pesky.cli.status import status
from pesky.cli.tell import tell
from pesky.cli.upgrade import upgrade
from pesky.cli.what_if import what_if
from pesky.cli.why import why
from pesky.cli.work import work
from pesky.errors import PeskyError, StorageError
from pesky.run.budget import Exhausted
from pesky.text import guard_terminal, one_line


class Commands(TyperGroup):
    """The group of commands; what pesky can name as a mistake is said without a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """What the command line ends with; from here on, no text orders the terminal about."""
        guard_terminal()
        return super().main(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """What the command returns, or its exit."""
        try:
            return super().invoke(ctx)
        except PeskyError as error:
            say_error(str(error))
            raise typer.Exit(_code(error)) from error
        except OSError as error:
            if error.filename is None:
                raise
            say_error(f"{one_line(str(error.filename), 300)}: {error.strerror}. Name a file that can be used.")
            raise typer.Exit(exit_codes.MISTAKE) from error
        except KeyboardInterrupt as error:
            say_error("interrupted")
            raise typer.Exit(exit_codes.INTERRUPTED) from error


def _code(error: PeskyError) -> int:
    if isinstance(error, StorageError):
        return exit_codes.STORAGE
    return exit_codes.SPENT if isinstance(error, Exhausted) else exit_codes.MISTAKE


app = typer.Typer(
    cls=Commands,
    name="pesky",
    help="Bayesian optimization under pesky constraints: which function to measure, and where.",
    epilog="\n".join(["Exit codes:", *(f"{code:>3}  {meaning}" for code, meaning in exit_codes.MEANINGS.items())]),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(is_wanted: bool) -> None:
    if is_wanted:
        say(f"pesky {importlib.metadata.version('pesky')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """Bayesian optimization under pesky constraints: which function to measure, and where."""


for panel, commands in {
    "Begin": {"init": init, "check": check, "import-spearmint": import_spearmint},
    "Let it measure": {"run": run, "work": work},
    "Measure by hand": {"ask": ask, "tell": tell},
    "Change": {
        "enqueue": enqueue,
        "import": import_data,
        "correct": correct,
        "exclude": exclude,
        "include": include,
        "copy": copy,
    },
    "Look": {
        "recommend": recommend,
        "why": why,
        "what-if": what_if,
        "show": show,
        "report": report,
        "page": page,
        "status": status,
    },
    "Keep": {"upgrade": upgrade},
}.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=panel)(command)
