"""One call of a user's function: whatever happens in it becomes a report, and whatever it returns becomes numbers.

Only the standard library is imported here: a child process loads this file alone, without the rest of the package.
"""

import math
import os
import reprlib
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from types import TracebackType
from typing import Any, NamedTuple, SupportsFloat

BARE = ""
"""The name in a report of a number that was returned without one; no outcome can be called that."""

_MESSAGE = 300
_LINE = 100
_FRAMES = 3
_STDLIB = os.path.dirname(os.__file__)

_short = reprlib.Repr()
_short.maxdict = _short.maxlist = _short.maxtuple = 6
_short.maxstring = _short.maxother = 60


class Report(NamedTuple):
    """What one call gave: the outcomes that are numbers, what went wrong, and how long it took.

    There may be outcomes beside an error: those that are numbers where others are not. A number that was returned
    without a name is called `BARE`; `check` names it.
    """

    outcomes: dict[str, float | bool] | None
    error: str | None
    seconds: float


def measure(function: Callable[[dict[str, Any]], Any], params: Mapping[str, Any]) -> Report:
    """The report of `function(params)`, which never raises, so that it may run anywhere; only Ctrl-C passes."""
    began, process = time.perf_counter(), os.getpid()
    outcomes = None
    try:
        # numbers are read off inside, because some libraries raise only then what went wrong before
        outcomes, error = _numbers(function(dict(params)))
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # also SystemExit: a script's `main` that gives up ends one call, not the study
        error = describe(raised)
    leave_if_forked(process)
    return Report(outcomes, error, time.perf_counter() - began)


def leave_if_forked(process: int) -> None:
    """Nothing in the process of this number; one that was forked off it ends here.

    A function that forks and returns in both processes has one result. The second process would go on as if it were the
    first: answer calls in its place, or run the study once more.
    """
    if os.getpid() != process:
        os._exit(0)


def check(
    report: Report, outcomes: Collection[str], yes_no: Collection[str] = ()
) -> tuple[dict[str, float], str | None]:
    """The valid values among the outcomes that a task measures, and why the call has failed if it has.

    Those in `yes_no` are a yes (1) or a no (0).
    """
    given = dict(report.outcomes or {})
    if len(outcomes) == 1 and BARE in given:
        given = {next(iter(outcomes)): given[BARE]}
    problems = [] if report.error is None else [report.error]
    values = {}
    for name, value in given.items():
        if name == BARE:
            problems.append(f"returned the number {value!r}: expected {_names(outcomes)}, as in {_example(outcomes)}")
        elif name not in outcomes:
            problems.append(f"returned the unknown outcome {name!r}: expected {_names(outcomes)}")
        elif name in yes_no and value not in (0, 1):
            problems.append(f"returned {name!r} = {value!r}: it is a yes or no, so expected True or False (or 1 or 0)")
        elif not math.isfinite(value):
            problems.append(f"returned {name!r} = {value!r}: expected a finite number")
        else:
            values[name] = float(value)
    missing = [name for name in outcomes if name not in given]
    if missing and report.error is None and BARE not in given:
        gave = _names(given) if given else "nothing"
        problems.append(f"returned no {_names(missing)}: it gave {gave}, expected {_names(outcomes)}")
    return values, "; ".join(problems) or None


def describe(error: BaseException) -> str:
    """The error in a few lines: its type and message, and where in the user's code it arose."""
    cause = "" if error.__cause__ is None else f" (from {_headline(error.__cause__)})"
    return "\n".join([_headline(error) + cause, *_places(error.__traceback__)])


def show(value: object) -> str:
    """The value on one short line; its own text may be anything, or fail."""
    return " ".join(_short.repr(value).split())


def _numbers(returned: object) -> tuple[dict[str, float | bool] | None, str | None]:
    if not isinstance(returned, Mapping):
        value, reason = _number(returned)
        if value is not None:
            return {BARE: value}, None
        hint = ": is a `return` missing?" if returned is None else f"{reason}."
        return None, f"returned {show(returned)}: expected a mapping from outcomes to numbers, or one number{hint}"
    outcomes, problems = {}, []
    for name, given in returned.items():
        value, reason = _number(given)
        if not isinstance(name, str) or name == BARE:
            problems.append(f"returned the key {show(name)}: expected an outcome's name")
        elif value is None:
            problems.append(f"returned {str(name)!r} = {show(given)}: expected a number{reason}")
        else:
            outcomes[str(name)] = value
    return outcomes, "; ".join(problems) or None


def _number(given: object) -> tuple[float | bool | None, str]:
    """The number that a scalar of any library is, also in an array of one element, or None and why it is none."""
    try:
        item = getattr(given, "item", None)
        plain = item() if callable(item) else given
        if isinstance(plain, bool):
            return plain, ""
        return (float(plain), "") if isinstance(plain, SupportsFloat) else (None, "")
    except Exception as error:
        return None, f" ({_headline(error)})"


def _headline(error: BaseException) -> str:
    try:
        message = str(error).strip()
    except Exception:
        message = "(its message cannot be shown)"
    name = type(error).__name__
    return f"{name}: {_cut(message, _MESSAGE)}" if message else name


def _places(frames: TracebackType | None) -> list[str]:
    """The last few frames of the user's own code, innermost last."""
    every = [frame for frame in traceback.extract_tb(frames) if frame.filename != __file__]
    own = [frame for frame in every if not _is_library(frame.filename)] or every
    return [
        _cut(
            f"  {os.path.basename(frame.filename)}:{frame.lineno} in {frame.name}: {frame.line or ''}".rstrip(": "),
            _LINE,
        )
        for frame in own[-_FRAMES:]
    ]


def _is_library(filename: str) -> bool:
    return filename.startswith(("<frozen", _STDLIB + os.sep)) or "site-packages" in filename


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."


def _names(names: Collection[str]) -> str:
    return ", ".join(map(repr, names))


def _example(names: Collection[str]) -> str:
    return "{" + ", ".join(f"{name!r}: ..." for name in names) + "}"
