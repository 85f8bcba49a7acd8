"""What can be measured on its own, at what price, and on what."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from pesky.errors import ProblemError, brief
from pesky.problem.fields import finite, listed, name, whole

Failures = Literal["record", "learn", "random"]
"""What becomes of failures: they are only recorded, show where a task fails, or show how probably it does."""


@dataclass(frozen=True)
class Task:
    """Outcomes that are measured together, and what measuring them once costs, in any unit.

    A cost of "measured" is learnt from how long the measurements take, in seconds. `failures="learn"` makes success a
    constraint of its own: the region where the task fails is learnt and avoided, and a point that succeeded once is
    known to succeed. `failures="random"` learns it as well, for tasks that may fail by chance: one success then proves
    nothing, and the probability of success counts. A measurement that takes longer than `timeout` seconds is stopped
    and has failed. `parameters` names those that its outcomes depend on, where that is not all of them: what was
    measured at one value of the others is known at every value.
    """

    outcomes: tuple[str, ...]
    cost: float | Literal["measured"] = 1.0
    failures: Failures = "record"
    timeout: float | None = None
    parameters: tuple[str, ...] | None = None

    def __init__(
        self,
        outcomes: Iterable[str],
        cost: float | Literal["measured"] = 1.0,
        failures: Failures = "record",
        timeout: float | None = None,
        parameters: Iterable[str] | None = None,
    ):
        names = tuple(name("Task: an outcome", each) for each in listed("Task: outcomes", outcomes))
        if not names or len(set(names)) < len(names):
            raise ProblemError(f"Task: outcomes was {brief(list(names))}: expected at least one name, none twice.")
        object.__setattr__(self, "outcomes", names)
        object.__setattr__(self, "cost", cost if cost == "measured" else _positive("cost", cost, ', or "measured"'))
        object.__setattr__(self, "failures", checked_failures("Task: failures", failures))
        object.__setattr__(self, "timeout", None if timeout is None else _positive("timeout", timeout, " of seconds"))
        object.__setattr__(self, "parameters", None if parameters is None else _some("Task: parameters", parameters))

    @property
    def learns_success(self) -> bool:
        """Whether the success of this task is an outcome of its own."""
        return self.failures != "record"

    @property
    def cost_in_words(self) -> str:
        """What measuring it costs, for people to read."""
        return "at a cost that is measured" if self.cost == "measured" else f"at a cost of {self.cost:.15g}"


@dataclass(frozen=True)
class Resource:
    """What measurements run on: the tasks that it can run, and how many of them at once."""

    tasks: tuple[str, ...]
    slots: int = 1

    def __init__(self, tasks: Iterable[str], slots: int = 1):
        names = tuple(name("Resource: a task", each) for each in listed("Resource: tasks", tasks))
        if not names or len(set(names)) < len(names):
            raise ProblemError(f"Resource: tasks was {brief(list(names))}: expected at least one name, none twice.")
        object.__setattr__(self, "tasks", names)
        object.__setattr__(self, "slots", whole("Resource: slots", slots, 1))


def checked_failures(what: str, given: object) -> Failures:
    """What becomes of failures, or a ProblemError."""
    for each in get_args(Failures):
        if given == each:
            return each
    raise ProblemError(f'{what} was {brief(given)}: expected "record", "learn" or "random".')


def _some(what: str, given: object) -> tuple[str, ...]:
    names = tuple(name(f"{what}: one of them", each) for each in listed(what, given))
    if not names or len(set(names)) < len(names):
        raise ProblemError(f"{what} was {brief(list(names))}: expected at least one name, none twice.")
    return names


def _positive(what: str, given: object, also: str) -> float:
    if isinstance(given, str):
        raise ProblemError(f"Task: {what} was {brief(given)}: expected a number{also}.")
    value = finite(f"Task: {what}", given)
    if value <= 0:
        raise ProblemError(f"Task: {what} was {brief(given)}: expected a number above 0{also}.")
    return value
