"""A program named in a study file, as a callable: parameters in on standard input, outcomes out on standard output."""

import json
import shutil
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pesky.problem import Option
from pesky.run.reaped import Reaped
from pesky.study_file.output import Output, Pipe, Tail
from pesky.text import colored, harmless, one_line

LAST = 200
"""Characters at the end of a failed program's messages that are kept with the failure."""

MOST = 2**20
"""Bytes at the end of a program's standard output that are kept: the outcomes are to be found there."""


class CommandError(RuntimeError):
    """A program did not give the outcomes; the message says how it ended."""

    is_mistake = False
    """Whether it would not have given them at any point: `pesky.run.call` asks, since nothing is learnt from that."""


class CommandMistake(CommandError):
    """A program is not there, or prints other outcomes than it was expected to."""

    is_mistake = True


@dataclass(frozen=True)
class Command:
    """A program that is run in `folder` and prints the `outcomes` as one JSON object, on its last line."""

    arguments: tuple[str, ...]
    folder: str
    outcomes: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.arguments)

    @property
    def program(self) -> str | None:
        """Where the program is: relative to the folder if it says so, on the PATH otherwise; None if nowhere."""
        first = self.arguments[0]
        return shutil.which(str(Path(self.folder, first)) if "/" in first else first)

    def __call__(self, params: Mapping[str, Option]) -> dict[str, object]:
        """All that the program prints for these parameters, the outcomes among it; a CommandError if it prints none."""
        said: deque[str] = deque(maxlen=LAST)
        printed = Tail(MOST)
        with tempfile.TemporaryFile() as given:
            given.write(json.dumps(dict(params)).encode())
            given.seek(0)
            with Output(lambda line: _pass_on(line, said)) as messages, Pipe(printed) as out:
                status = self._run(given, out, messages)
        last_said, last_printed = _last("\n".join(said)), _last(printed.text)
        if status:
            raise CommandError(f"{self} {_ended(status)}{last_said or last_printed}")
        return self._chosen(_last_json(printed, f"{self} printed no JSON{last_printed or last_said}"))

    def _run(self, given: IO[bytes], out: Pipe, messages: Output) -> int:
        """The program's exit status; when this returns, or this process dies, all that it started is killed."""
        if self.program is None:
            raise CommandMistake(f"{self.arguments[0]!r} is no program, neither in {self.folder} nor on the PATH")
        with Reaped(
            [self.program, *self.arguments[1:]],
            signal.SIGTERM,
            cwd=self.folder,
            stdin=given,
            stdout=out.fileno(),
            stderr=messages.fileno(),
            process_group=0,
        ) as reaped:
            return reaped.process.wait()

    def _chosen(self, printed: object) -> dict[str, object]:
        if isinstance(printed, int | float) and len(self.outcomes) == 1:
            return {self.outcomes[0]: printed}
        expected = ", ".join(f'"{name}": ...' for name in self.outcomes)
        shown = one_line(json.dumps(printed))
        if not isinstance(printed, dict):
            raise CommandMistake(f"{self} printed {shown}: expected an object, {{{expected}}}")
        missing = [name for name in self.outcomes if name not in printed]
        if missing:
            raise CommandMistake(f"{self} printed {shown}, without {', '.join(map(repr, missing))}")
        return printed


def _pass_on(line: str, kept: deque[str]) -> None:
    print(colored(line), file=sys.stderr, flush=True)
    kept.append(line.rstrip()[-LAST - 1 :])  # one more than is shown: that there was more is said


def _last_json(printed: Tail, otherwise: str) -> object:
    """What the last line that is not empty says in JSON, or the whole text."""
    whole = printed.text.rstrip()
    last = next(reversed(whole.rpartition("\n")[2].splitlines()), "")
    if last and last == whole and printed.is_cut:  # what is left of it may well be JSON, but not what was printed
        raise CommandError(
            f"{otherwise}\n(this line is longer than {MOST} bytes: print the outcomes on one of their own)"
        )
    for text in [last] if printed.is_cut else [last, whole]:
        # besides what is no JSON: numbers of thousands of digits, brackets in thousands of brackets
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    raise CommandError(otherwise)


def _ended(status: int) -> str:
    if status > 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by the signal {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by the signal {-status}"


def _last(text: str) -> str:
    """The end of what was printed, as much as fits with a failure."""
    # enough that LAST characters are left of it without colors
    text = harmless(text.rstrip()[-5 * LAST :]).rstrip()
    return "" if not text else f"\n{text}" if len(text) <= LAST else f"\n...{text[-LAST:]}"
