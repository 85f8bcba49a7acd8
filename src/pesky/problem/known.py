"""What needs no measuring: outcomes that a function of the parameters gives exactly."""

import importlib
import re
import sys
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from pesky.errors import ProblemError, brief, unknown_name
from pesky.problem.expression import Expression
from pesky.problem.fields import FrozenDict, named, number

KnownFunction = Callable[[dict[str, Any]], object]
"""The parameters, as functions that measure get them -> the outcome's exact value, a number of any kind."""

_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_EXPECTED = "expected a function that takes the parameters as a dict and returns a number, or its import path, like"


@dataclass(frozen=True)
class Imported:
    """The function that an import path, like "prices:total", names; it is imported when it is first called."""

    path: str

    def __call__(self, params: dict[str, Any]) -> object:
        return self.function(params)

    @cached_property
    def function(self) -> KnownFunction:
        """The function itself."""
        module, _, name = self.path.partition(":")
        try:
            found: object = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except Exception as error:
            raise ProblemError(
                f"the known function {self.path!r} could not be imported ({type(error).__name__}: {error}): put its "
                "module where Python finds it, or give the function itself."
            ) from error
        if not callable(found):
            raise ProblemError(f"the known function {self.path!r} is {found!r}: {_EXPECTED} 'prices:total'.")
        return found


@dataclass(frozen=True)
class Forgotten:
    """The place of a function that the problem was read without: it says so when it is called.

    A problem that is read, from a storage above all, may have been written by anybody. So the path that it names is for
    people to read, and is never imported.
    """

    outcome: str
    path: str | None

    def __call__(self, params: dict[str, Any]) -> object:
        was = "a lambda or a function of a script" if self.path is None else f"{self.path!r} when it was stored"
        raise ProblemError(
            f"the function of the known outcome {self.outcome!r} is not here: it was {was}, and nothing that is stored "
            "is called. Give its study file, or in Python the problem again, as in Study(problem, storage=...), or the "
            f"function, as in Study.load(storage, known={{{self.outcome!r}: ...}})."
        )


def known_functions(given: object, outcomes: tuple[str, ...], yes_no: Set[str]) -> FrozenDict[KnownFunction]:
    """The function of each known outcome; `outcomes` are all that the problem names."""
    if given is None:
        return FrozenDict({})
    known = {outcome: _function(outcome, each, outcomes, yes_no) for outcome, each in named("known", given).items()}
    if all(outcome in known for outcome in outcomes):
        raise ProblemError(
            f"known: {', '.join(map(repr, outcomes))} is all that the problem names: expected at least one outcome "
            "that is measured: leave it out of `known`, or use an optimizer for functions that cost nothing."
        )
    return FrozenDict(known)


def _function(outcome: str, given: object, outcomes: tuple[str, ...], yes_no: Set[str]) -> KnownFunction:
    if outcome not in outcomes:
        raise ProblemError(f"known: {unknown_name('outcome', outcome, outcomes)}")
    if outcome in yes_no:
        raise ProblemError(
            f"known: {outcome!r} is a yes or no, and only numbers can be known: let its function return a number, "
            f"positive where it is a yes, and write the constraint '{outcome} >= 0'."
        )
    if isinstance(given, str) and _PATH.fullmatch(given):
        return Imported(given)
    if isinstance(given, str) or not callable(given):
        raise ProblemError(f"known: the function of {outcome!r} was {brief(given)}: {_EXPECTED} 'prices:total'.")
    return given


def to_paths(known: Mapping[str, KnownFunction]) -> dict[str, str | None]:
    """The import path of each function, None where it has none: what can be written of it."""
    return {outcome: _import_path(function) for outcome, function in without_expressions(known).items()}


V = TypeVar("V")


def without_expressions(known: V) -> V:
    """What is given as known, less what follows from the text of a constraint."""
    if not isinstance(known, Mapping):
        return known
    return {key: each for key, each in known.items() if not isinstance(each, Expression)}  # pyright: ignore[reportReturnType]


def from_paths(given: object) -> object:
    """What `to_paths` wrote, as `known_functions` takes it; whatever else it may be is left for that to judge."""
    if not isinstance(given, Mapping):
        return given
    return {
        outcome: Forgotten(outcome, path) if path is None or isinstance(path, str) else path
        for outcome, path in given.items()
    }


def _import_path(function: object) -> str | None:
    if isinstance(function, Imported | Forgotten):
        return function.path
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module == "__main__":
        return None
    found: object = sys.modules.get(module)
    for part in name.split("."):  # a lambda and a function within another are not found there
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is function else None


def values_at(known: Mapping[str, KnownFunction], params: Mapping[str, Any]) -> dict[str, float]:
    """The known outcomes at these parameters; without those whose functions do not work here.

    Whoever only looks at a study may not have them; they are asked again where that matters.
    """
    values = {}
    for outcome, function in known.items():
        with suppress(Exception):
            values[outcome] = number(function(dict(params)))
    return values
