"""What a person at a bench does from the page: each change is one of the study's own operations."""

from collections.abc import Callable, Mapping
from typing import Any

from pesky.errors import DataError, unknown_name
from pesky.page.reading import Snapshot
from pesky.problem import Problem
from pesky.problem.reading import is_empty, read_number, read_params
from pesky.store import Evaluation, Store
from pesky.study.data import StudyData
from pesky.study.own_questions import questions_at

Body = Mapping[str, Any]


def _outcomes(body: Body) -> dict[str, float]:
    """What was measured, as it was typed; fields that were left empty are no outcomes."""
    typed = _mapping(body, "outcomes")
    given = {name: value for name, value in typed.items() if not is_empty(value)}
    if not given:
        raise DataError("no value was given: fill in what was measured.")
    values = {name: read_number(value) for name, value in given.items()}
    for name, value in values.items():
        if value != value:
            raise DataError(f"the outcome {name!r} was {given[name]!r}: expected a number, yes or no.")
    return values


def _params(body: Body) -> dict[str, object]:
    """Where it was or is to be measured, as it was typed; fields that were left empty are missing."""
    return {name: value for name, value in _mapping(body, "params").items() if not is_empty(value)}


def tell(study: StudyData, body: Body) -> list[Evaluation]:
    """The evaluation with what was measured."""
    return [study.tell(_id(body), _outcomes(body))]


def fail(study: StudyData, body: Body) -> list[Evaluation]:
    """The evaluation as failed, for the reason that is given."""
    if not (reason := _text(body, "reason")):
        raise DataError("why did it fail? A few words are kept and shown.")
    return [study.fail(_id(body), reason)]


def abandon(study: StudyData, body: Body) -> list[Evaluation]:
    """The evaluation as one that nobody is going to measure."""
    study.abandon(id_ := _id(body))
    return [study.evaluations[id_]]


def correct(study: StudyData, body: Body) -> list[Evaluation]:
    """The evaluation with other values in place of those told; those that are the same stay as they are."""
    id_ = _id(body)
    told = study.outcomes(id_)
    changed = {name: value for name, value in _outcomes(body).items() if told.get(name) != value}
    if not changed:
        raise DataError("every value is as it was told: change the wrong one.")
    return [study.correct(id_, changed, _text(body, "reason"))]


def exclude(study: StudyData, body: Body) -> list[Evaluation]:
    """The evaluation as one of which nothing is learnt."""
    return [study.exclude(_id(body), _text(body, "reason"))]


def include(study: StudyData, body: Body) -> list[Evaluation]:
    """The evaluation as one that counts again."""
    return [study.include(_id(body), _text(body, "reason"))]


def enqueue(study: StudyData, body: Body) -> list[Evaluation]:
    """What is measured before anything else at these parameters: a task that is named, or all of them."""
    problem = study.problem
    task = task_in(body, problem)
    tasks = list(problem.tasks) if task is None else [task]
    return study.store.enqueue(study.identity, questions_at(problem, _params(body), tasks, study.evaluations))


def add(study: StudyData, body: Body) -> list[Evaluation]:
    """Data of the person's own: what was measured at parameters of their choice."""
    params = read_params(study.problem.parameters, _params(body))
    return [study.add_one(params, _outcomes(body))]


CHANGES: dict[str, Callable[[StudyData, Body], list[Evaluation]]] = {
    each.__name__: each for each in (tell, fail, abandon, correct, exclude, include, enqueue, add)
}


def changed(name: str, store: Store, snapshot: Snapshot, body: Body) -> list[Evaluation]:
    """The evaluations that a change of this name made or changed; the store is one that can be written to."""
    return CHANGES[name](StudyData(snapshot.problem, store, snapshot.record), body)


def task_in(body: Body, problem: Problem) -> str | None:
    """The task that is named, if one is."""
    task = body.get("task")
    if task is not None and task not in list(problem.tasks):  # of a list, since it may be anything
        raise DataError(unknown_name("task", task, problem.tasks))
    return task


def _id(body: Body) -> int:
    given = body.get("id")
    if not isinstance(given, int) or isinstance(given, bool):
        raise DataError(f"the evaluation was {given!r}: expected its number.")
    return given


def _text(body: Body, name: str) -> str:
    given = body.get(name, "")
    if not isinstance(given, str):
        raise DataError(f"the {name} was {given!r}: expected a text.")
    return given.strip()


def _mapping(body: Body, name: str) -> Mapping[str, object]:
    given = body.get(name)
    if not isinstance(given, dict):
        raise DataError(f"the {name} were {given!r}: expected a value for each name.")
    return given
