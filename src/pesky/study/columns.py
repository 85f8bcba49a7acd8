"""What the columns of a table of data are: parameters, outcomes, that it failed, and what is kept beside them."""

import re
from collections.abc import Iterable, Mapping, Sequence

from pesky.errors import DataError, brief
from pesky.problem import Problem
from pesky.study.export import ATTRIBUTE, OURS

FAILED, TASK = "failed", "task"
"""Columns that say that a measurement failed, and of which task, where those are no names of the problem."""
MOST = 50
"""Names that a message lists."""
Columns = Mapping[object, tuple[str, str]]
"""Of which kind each column is, and its name there."""


def columns_of(problem: Problem, names: Sequence[object]) -> Columns:
    """What each column is; a DataError if one is missing, or is called a little otherwise."""
    kinds = {"parameter": problem.parameters.keys(), "outcome": set(problem.outcomes)}
    found: dict[object, tuple[str, str]] = {}
    texts = set(map(str, names))
    for column in names:
        text = str(column)
        # a study exports a name that is like one of its own as "parameter x" or "outcome f"
        kind, _, name = text.partition(" ")
        plain = next((each for each in kinds if text in kinds[each] and f"{each} {text}" not in texts), None)
        if plain is not None:
            found[column] = plain, text
        elif name in kinds.get(kind, ()):
            found[column] = kind, name
        elif text in (FAILED, TASK):
            found[column] = text, text
        else:
            found[column] = ("ours", text) if text.startswith(OURS) else ("attribute", text.removeprefix(ATTRIBUTE))
    _check(problem, found, names)
    return found


def in_words(problem: Problem, columns: Columns) -> str:
    """Which columns are what, on one line."""
    of = {kind: [name for each, name in columns.values() if each == kind] for kind in ("parameter", "outcome")}
    missing = [name for name in problem.outcomes if name not in of["outcome"] and name not in problem.known]
    beside = [str(column) for column, (kind, _) in columns.items() if kind == "attribute"]
    said = [f"parameters: {', '.join(of['parameter'])}", f"outcomes: {', '.join(of['outcome'])}"]
    said += [f"without a column: {', '.join(missing)}"] if missing else []
    return "; ".join(said + ([f"kept beside: {', '.join(beside)}"] if beside else []))


def _check(problem: Problem, found: Columns, names: Sequence[object]) -> None:
    there, others = set(found.values()), [str(each) for each, (kind, _) in found.items() if kind == "attribute"]
    if missing := [name for name in problem.parameters if ("parameter", name) not in there]:
        s = "s" if len(missing) > 1 else ""
        raise DataError(
            f"there is no column for the parameter{s} {listed(missing)}: the columns are {listed(names)}."
            + "".join(_hint(other, name) for name in missing for other in others if is_like(other, name))
        )
    for name in problem.outcomes:
        if ("outcome", name) not in there and name not in problem.known:
            for other in others:
                if is_like(other, name):
                    raise DataError(f"there is no column for the outcome {name!r}.{_hint(other, name)}")
    kinds = {kind for kind, _ in there}
    if not kinds & {"outcome", FAILED}:
        expected = listed(problem.outcomes)
        raise DataError(f"there is no column for an outcome: expected one of {expected}; they are {listed(names)}.")


def _hint(column: str, name: str) -> str:
    how = f"`pesky import --rename '{column}={name}'`"
    return f" Is it {column!r}? Then name it {name!r} ({how}); if not, call it something else."


def is_like(column: str, name: str) -> bool:
    """Whether a column may well mean this name: but for capitals, signs, and a unit in brackets."""
    return _bare(column) == _bare(name) != ""


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)).casefold()


def listed(names: Iterable[object]) -> str:
    """Names as they are quoted in messages, the first of them where they are many."""
    quoted = [brief(str(name)) for name in names]
    more = [f"and {len(quoted) - MOST} more"] if len(quoted) > MOST else []
    return ", ".join(quoted[:MOST] + more) or "none"
