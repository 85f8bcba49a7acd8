"""One call of a user's function: whatever happens in it becomes a report, and whatever it returns becomes numbers.

Only the standard library is imported here: a child process loads this file alone, without the rest of the package.
"""

import itertools
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
_TRACED = 50
_DEPTH, _MANY = 5, 200
_TEXT, _TOTAL, _NAMES, _BITS = 10_000, 1_000_000, 10_000, 10_000
"""Characters of a text, and of all that a call returned, that leave the process; its names; bits of an integer."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STDLIB = os.path.dirname(os.__file__)

_short = reprlib.Repr()
_short.maxdict = _short.maxlist = _short.maxtuple = 6
_short.maxstring = _short.maxother = 60


TRACEBACK, MISTAKE = "pesky:traceback", "pesky:mistake"
"""Attributes of a failed evaluation: the whole traceback; and that the fault is the program's, not the point's."""
OURS = "pesky:"
"""How the attributes begin that no user's key may be."""


class Report(NamedTuple):
    """What one call gave: the values that are numbers, what went wrong, and how long it took.

    There may be numbers beside an error: where a key is none. A number that was returned without a name is called
    `BARE`; `check` names it, and knows which of the values are outcomes.
    """

    outcomes: dict[str, float | bool] | None
    error: str | None
    seconds: float
    others: dict[str, str] | None = None
    """Why each of the other values is no number."""
    returned: dict[str, object] | None = None
    """All that was returned under a name, as plain data."""
    traceback: str | None = None
    """The whole traceback of what was raised."""
    is_mistake: bool = False
    """Whether the call itself was wrong, or what it returned was nothing that any point could have: the program's
    interface is at fault, and not the point."""


class Checked(NamedTuple):
    """What a report says of a task."""

    values: dict[str, float]
    """The valid ones among its outcomes."""
    error: str | None
    """Why the call has failed if it has."""
    attributes: dict[str, object]
    """What else it gave."""


def measure(function: Callable[[dict[str, Any]], Any], params: Mapping[str, Any]) -> Report:
    """The report of `function(params)`, which never raises, so that it may run anywhere; only Ctrl-C passes."""
    began, process = time.perf_counter(), os.getpid()
    try:
        # numbers are read off inside, because some libraries raise only then what went wrong before
        report = _report(function(dict(params)))
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # also SystemExit: a script's `main` that gives up ends one call, not the study
        trace = _shortened("".join(traceback.format_exception(raised, limit=-_TRACED)))
        report = Report(None, describe(raised), 0.0, traceback=trace, is_mistake=_is_mistake(raised))
    leave_if_forked(process)
    return report._replace(seconds=time.perf_counter() - began)


def leave_if_forked(process: int) -> None:
    """Nothing in the process of this number; one that was forked off it ends here.

    A function that forks and returns in both processes has one result. The second process would go on as if it were the
    first: answer calls in its place, or run the study once more.
    """
    if os.getpid() != process:
        os._exit(0)


def check(report: Report, outcomes: Collection[str], yes_no: Collection[str] = ()) -> Checked:
    """What a report says of the outcomes that a task measures.

    Those in `yes_no` are a yes (1) or a no (0). A key more is an attribute. A key less is a mistake in the program.
    """
    given, others = dict(report.outcomes or {}), dict(report.others or {})
    if len(outcomes) == 1 and BARE in given:
        given = {next(iter(outcomes)): given[BARE]}
    problems, is_mistake = [] if report.error is None else [report.error], report.is_mistake
    values: dict[str, float] = {}
    for name in outcomes:
        if name in others:
            problems.append(others[name])
        elif name in given and name in yes_no and given[name] not in (0, 1):
            is_mistake = is_mistake or math.isfinite(given[name])
            problems.append(
                f"returned {name!r} = {given[name]!r}: it is a yes or no, so expected True or False (or 1 or 0)"
            )
        elif name in given and not math.isfinite(given[name]):
            problems.append(f"returned {name!r} = {given[name]!r}: expected a finite number")
        elif name in given:
            values[name] = float(given[name])
    missing = [name for name in outcomes if name not in given and name not in others]
    if BARE in given:
        is_mistake = True
        problems.append(f"returned the number {given[BARE]!r}: expected {_names(outcomes)}, as in {_example(outcomes)}")
    elif missing and report.error is None:
        is_mistake = True
        gave = _names(report.returned) if report.returned else "nothing"
        problems.append(f"returned no {_names(missing)}: it gave {gave}, expected {_names(outcomes)}")
    attributes = {name: value for name, value in (report.returned or {}).items() if name not in outcomes}
    if problems:
        attributes |= {} if report.traceback is None else {TRACEBACK: report.traceback}
        attributes |= {MISTAKE: True} if is_mistake else {}
    return Checked(values, "; ".join(problems) or None, attributes)


def describe(error: BaseException) -> str:
    """The error in a few lines: its type and message, and where in the user's code it arose."""
    cause = "" if error.__cause__ is None else f" (from {_headline(error.__cause__)})"
    return "\n".join([_headline(error) + cause, *_places(error.__traceback__)])


def show(value: object) -> str:
    """The value on one short line; its own text may be anything, or fail."""
    if isinstance(value, int) and value.bit_length() > _BITS:  # Python refuses to write thousands of digits
        return f"<an integer of {value.bit_length()} bits>"
    if isinstance(value, bytes | bytearray):
        value = value[:_LINE]
    try:
        return " ".join(_short.repr(value).split())
    except Exception:
        return f"<{type(value).__name__} that cannot be shown>"


def _report(returned: object) -> Report:
    """What was returned, read."""
    if not isinstance(returned, Mapping):
        value, reason = _number(returned)
        if value is not None:
            return Report({BARE: value}, None, 0.0)
        hint = ": is a `return` missing?" if returned is None else f"{reason}."
        error = f"returned {show(returned)}: expected a mapping from outcomes to numbers, or one number{hint}"
        return Report(None, error, 0.0, is_mistake=True)
    if len(returned) > _NAMES:
        error = f"returned {len(returned)} names: expected the outcomes, and no more than {_NAMES} in all"
        return Report(None, error, 0.0, is_mistake=True)
    outcomes, others, plain, left = {}, {}, {}, [_TOTAL]
    for key, given in returned.items():
        name, (value, reason) = _name(key), _number(given)
        plain[f"returned {name}" if name.startswith(OURS) else name] = _plain(given, 0, left)
        if value is None:
            others[name] = f"returned {name!r} = {show(given)}: expected a number{reason}"
        else:
            outcomes[name] = value
    return Report(outcomes, None, 0.0, others, plain)


def _name(key: object) -> str:
    """A key as the name of a value; a long one shortened, as no outcome's is."""
    return str.__str__(key) if isinstance(key, str) and key != BARE and len(key) <= _MESSAGE else show(key)


def _plain(given: object, depth: int, left: list[int]) -> object:
    """The value as plain data, which any process can read, while any of the characters are `left`."""
    if left[0] <= 0:
        return "[...]"
    left[0] -= 8
    try:
        tolist = getattr(given, "tolist", None)
        if callable(tolist) and not getattr(given, "ndim", 0):  # a whole array would fill the memory first
            given = tolist()
        if given is None or isinstance(given, bool | int | float):
            is_short = not isinstance(given, int) or given.bit_length() <= _BITS
            return given if type(given) in (bool, int, float, type(None)) and is_short else show(given)
        if type(given) is str:
            text = _shortened(given)
            left[0] -= len(text)
            return text
        if isinstance(given, Mapping) and depth < _DEPTH:
            some = itertools.islice(given.items(), _MANY)
            return {_shortened(str(key), _MESSAGE): _plain(value, depth + 1, left) for key, value in some}
        if (isinstance(given, list | tuple) or callable(tolist)) and depth < _DEPTH:
            return [_plain(value, depth + 1, left) for value in given[:_MANY]]  # pyright: ignore[reportIndexIssue]
    except Exception:  # a value of the user's own may fail at anything
        return show(given)
    return show(given)


def _shortened(text: str, most: int = _TEXT) -> str:
    """The text, or its beginning and its end; of a kind of the user's own, its characters."""
    text = str.__str__(text)
    return text if len(text) <= most else f"{text[: most // 2]} [...] {text[-most // 2 :]}"


def _is_mistake(error: BaseException) -> bool:
    """Whether an exception says that the call was wrong, and not what the point led to.

    It does if it says so itself, as those of commands do, or if arguments did not fit: the last place is then the one
    that calls, in this package.
    """
    if getattr(error, "is_mistake", False):
        return True
    last = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
    return isinstance(error, TypeError) and all(frame.f_code.co_filename.startswith(_PACKAGE) for frame in last)


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
