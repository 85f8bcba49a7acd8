"""What measures each task, and where there is room for it."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor
from typing import Any, NamedTuple

from pesky.errors import ProblemError, unknown_name
from pesky.problem import Problem
from pesky.problem.fields import whole

Function = Callable[[dict[str, Any]], Any]
"""A user's function: parameters in, a mapping of outcomes (or one number) out."""


def functions_of(
    given: Function | Mapping[str, Function], problem: Problem, tasks: Collection[str] | None
) -> dict[str, Function]:
    """What measures each of the tasks."""
    wanted = list(problem.tasks) if tasks is None else list(tasks)
    for task in wanted:
        if task not in problem.tasks:
            raise ProblemError(unknown_name("task", task, problem.tasks))
    if not wanted:
        raise ProblemError("no task was given to run: name at least one, or leave `tasks` out.")
    if callable(given):
        if len(wanted) > 1:
            raise ProblemError(
                f"one function was given for the tasks {', '.join(map(repr, wanted))}: expected one for each, "
                f"like {{{wanted[0]!r}: ..., ...}}."
            )
        return {wanted[0]: given}
    if not isinstance(given, Mapping):
        raise ProblemError(f"functions was {given!r}: expected a function, or a mapping from tasks to functions.")
    for task, function in given.items():
        if task not in problem.tasks:
            raise ProblemError(f"functions: {unknown_name('task', task, problem.tasks)}")
        if not callable(function):
            raise ProblemError(f"what measures {task!r} was {function!r}: expected a function of the parameters.")
    for task in wanted:
        if task not in given:
            raise ProblemError(f"nothing measures the task {task!r}: add {task!r}: ... to the functions.")
    return {task: given[task] for task in wanted}


class Slots(NamedTuple):
    """Where there is room for evaluations."""

    tasks: dict[str, tuple[str, ...]]
    """What is measured on each resource; all that needs none is on one without a name."""
    counts: dict[str, int]
    """How many evaluations there may be at a time on each."""
    workers: int | None
    """How many there may be in all, each in a process of its own; None is one at a time, in this process."""


def slots_of(problem: Problem, tasks: tuple[str, ...], workers: int | None, executor: Executor | None) -> Slots:
    """The room that there is for these tasks."""
    given = None if workers is None else whole("workers", workers, 1)
    if not problem.resources:
        has_timeout = any(problem.tasks[task].timeout is not None for task in tasks)
        default = 1 if has_timeout else None
        count = given or (default if executor is None else getattr(executor, "_max_workers", 1))
        return Slots({"": tasks}, {"": count or 1}, count)
    own = {
        name: tuple(task for task in resource.tasks if task in tasks) for name, resource in problem.resources.items()
    }
    used = {name: each for name, each in own.items() if each}
    counts = {name: problem.resources[name].slots for name in used}
    return Slots(used, counts, given or sum(counts.values()))
