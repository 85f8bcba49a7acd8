"""Questions of the user's own, and data from another study."""

import logging
from collections.abc import Collection, Mapping

from pesky.errors import DataError
from pesky.problem import Option, Problem
from pesky.problem.reading import read_params, read_value
from pesky.problem.values import check_params
from pesky.run.spending import typical_price
from pesky.store import Datum, Evaluation, Question
from pesky.study.rows import task_of

log = logging.getLogger("pesky")

COPIED = "copied from"
"""The attribute that says where an evaluation that was taken over is from."""


def questions_at(
    problem: Problem, params: Mapping[str, object], tasks: Collection[str], evaluations: Mapping[int, Evaluation]
) -> list[Question]:
    """One for each of the tasks at these parameters; a DataError if they are outside of the space."""
    values = read_params(problem.parameters, params)
    check_params(problem.parameters, values)
    why = {"kind": "enqueued"}
    ordered = {name: values[name] for name in problem.parameters}
    return [Question(task, ordered, None, typical_price(task, evaluations, problem), why) for task in tasks]


def copies(
    problem: Problem,
    kept: Mapping[int, Evaluation],
    other: Problem,
    evaluations: Mapping[int, Evaluation],
    source: str,
    fixed: Mapping[str, Option],
) -> list[Datum]:
    """What can be taken over from another study: what was told at points that the problem has, once.

    `fixed` are the values of parameters that only one of the two problems has: what the data were measured at of those
    that are new, and of those that are no more the ones at which data are still good. `kept` is what is there already.
    """
    for name in dict.fromkeys((*problem.parameters, *other.parameters)):
        if (name in problem.parameters) != (name in other.parameters) and name not in fixed:
            new = name in problem.parameters
            what = "at which value the old data were measured" if new else "at which value old data are still good"
            raise DataError(
                f"the parameter {name!r} is {'new' if new else 'no more'}: say {what}, like {{{name!r}: ...}}."
            )
    for name in fixed:
        if (name in problem.parameters) == (name in other.parameters):
            raise DataError(f"the parameter {name!r} is not one that only one of the two studies has: leave it out.")
    wanted = {name: read_value(name, other.parameters[name], fixed[name]) for name in fixed if name in other.parameters}
    there = {e.attributes.get(COPIED) for e in kept.values()}
    found: list[Datum] = []
    for e in evaluations.values():
        label = f"{source} #{e.id}"
        outcomes = {name: value for name, value in e.outcomes.items() if name in problem.outcomes}
        if e.is_excluded or not outcomes or label in there or any(e.params[name] != wanted[name] for name in wanted):
            continue
        try:
            given = {name: e.params.get(name, fixed.get(name)) for name in problem.parameters}
            params = {name: read_value(name, p, given[name]) for name, p in problem.parameters.items()}
        except DataError:
            continue
        found.append(Datum(task_of(problem, outcomes), params, outcomes, {**e.attributes, COPIED: label}))
    told = sum(bool(e.outcomes) for e in evaluations.values())
    log.info("%d of %d evaluations with outcomes were taken over from %s", len(found), told, source)
    return found
