"""Which parameters the outcomes of tasks depend on, checked."""

from collections.abc import Mapping

from pesky.errors import ProblemError, unknown_name
from pesky.problem.parameters import Parameter
from pesky.problem.task import Task


def check_dependences(tasks: Mapping[str, Task], parameters: Mapping[str, Parameter]) -> None:
    """Nothing, or a ProblemError if what tasks are said to depend on is unknown, at odds, or leaves a parameter out."""
    said: dict[str, tuple[str, frozenset[str]]] = {}
    for key, task in tasks.items():
        for name in task.parameters or ():
            if name not in parameters:
                raise ProblemError(f"the task {key!r}: {unknown_name('parameter', name, parameters)}")
        own = frozenset(task.parameters or parameters)
        for outcome in task.outcomes:
            other, theirs = said.setdefault(outcome, (key, own))
            if theirs != own:
                raise ProblemError(
                    f"the tasks {other!r} and {key!r} both measure {outcome!r}, and are said to depend on other "
                    "parameters: give both the same, or neither any."
                )
    for name in parameters:
        if not any(name in own for _, own in said.values()):
            raise ProblemError(
                f"no task depends on the parameter {name!r}: name it in the `parameters` of one that does, or leave it "
                "out of the problem."
            )
