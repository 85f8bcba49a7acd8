"""What a study is told, checked: of which evaluation, and which values."""

from collections.abc import Collection, Mapping
from pathlib import Path

from pesky.errors import DataError
from pesky.problem import Problem
from pesky.problem.outcome_values import check_outcomes
from pesky.run.rescue import Result, read_results
from pesky.store import Evaluation


def id_of(evaluation: Evaluation | int, study: str) -> int:
    """The number of an evaluation; a DataError if it is one of another study than the one of this identity."""
    if isinstance(evaluation, Evaluation) and evaluation.study != study:
        raise DataError(
            f"{evaluation} was asked by another study, be it one of the same name that was started anew since: "
            "expected an evaluation of this one; use `study.add(params, outcomes)` to keep what it measured here."
        )
    return evaluation.id if isinstance(evaluation, Evaluation) else evaluation


def attempt_of(evaluation: Evaluation | int) -> int | None:
    """Which attempt whoever has this was given; None for a number, which does not say."""
    return evaluation.attempts if isinstance(evaluation, Evaluation) else None


def told_values(problem: Problem, outcomes: Mapping[str, float]) -> dict[str, float]:
    """The outcomes as numbers; a DataError if there are none, or one is not of the problem."""
    if not isinstance(outcomes, Mapping) or not outcomes:
        expected = ", ".join(f"{name!r}: ..." for name in problem.outcomes)
        raise DataError(
            f"the outcomes were {outcomes!r}: expected a mapping like {{{expected}}} with at least one of them; "
            "leave out what could not be measured, and `fail` or `abandon` an evaluation that gave nothing."
        )
    return check_outcomes(problem, outcomes)


def expected_of(problem: Problem, task: str, told: Mapping[str, float]) -> tuple[str, ...]:
    """The outcomes that the task measures; what is told, of one that the problem does not have any more."""
    return problem.tasks[task].outcomes if task in problem.tasks else tuple(told)


def task_of(problem: Problem, outcomes: Mapping[str, float]) -> str:
    """The first task that measures one of the outcomes."""
    return next(name for name, task in problem.tasks.items() if outcomes.keys() & set(task.outcomes))


def check_task(task: str, expected: Collection[str], told: Collection[str]) -> None:
    """Nothing, or a DataError if an outcome is none of those that the task measures."""
    for name in told:
        if name not in expected:
            raise DataError(
                f"outcome {name!r} does not belong to task {task!r}, which measures "
                f"{', '.join(map(repr, expected))}: use `study.add(params, outcomes)` for more."
            )


def rescued_results(path: str | Path, study: str) -> list[Result]:
    """The results in a file that a run wrote; a DataError if they are not of the study of this identity."""
    results = read_results(path)
    for each in results:
        if each.study != study:
            raise DataError(
                f"{path} has results of another study, be it one of the same name that was started anew since: "
                "expected those of this one; use `study.add(params, outcomes)` to keep what they measured here."
            )
    return results
