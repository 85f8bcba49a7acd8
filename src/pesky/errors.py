"""Errors written for the person who made the mistake: what was given, what was expected, what to do."""

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["DataError", "PeskyError", "ProblemChanged", "ProblemError", "StorageAway", "StorageError", "StudyGone"]


class PeskyError(ValueError):
    """Any mistake that pesky can name; catch this one to catch them all."""


class ProblemError(PeskyError):
    """The problem as written cannot be solved: contradictory, incomplete or misspelled."""


class DataError(PeskyError):
    """A point or a measured value does not fit the problem."""


class StorageError(PeskyError):
    """A storage cannot be opened or does not hold what was asked for; to try the same again does not help."""


class StorageAway(StorageError):
    """A storage does not answer for now, being locked, full or out of reach: to try again later may help."""


class StudyGone(StorageError):
    """The study that was opened is not there any more: it was deleted, set aside or started anew under its name."""


class ProblemChanged(StorageError):
    """The study that was opened asks something else by now: someone has continued it with another problem."""


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60
_short.maxlist = _short.maxtuple = _short.maxdict = 20


def brief(given: object) -> str:
    """What was given as Python shows it, but for the middle of what is long: a number may have hundreds of digits."""
    try:
        return _short.repr(given)
    except ValueError:  # Python itself shows no number of thousands of digits
        return "a number of thousands of digits"


def unknown_name(kind: str, given: object, known: Iterable[str]) -> str:
    """The message for a name nobody declared, with the nearest known one when there is one."""
    names = list(known)
    near = get_close_matches(given, names, n=1) if isinstance(given, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    expected = f"expected one of {', '.join(map(brief, names))}" if names else "there are none"
    return f"unknown {kind} {brief(given)}: {expected}.{hint}"
