"""What can be measured on its own, and at what price."""

from collections.abc import Iterable
from dataclasses import dataclass

from pesky.errors import ProblemError
from pesky.problem.fields import finite, listed, name


@dataclass(frozen=True)
class Task:
    """Outcomes that are measured together, and what measuring them once costs, in any unit."""

    outcomes: tuple[str, ...]
    cost: float = 1.0

    def __init__(self, outcomes: Iterable[str], cost: float = 1.0):
        names = tuple(name("Task: an outcome", each) for each in listed("Task: outcomes", outcomes))
        if not names or len(set(names)) < len(names):
            raise ProblemError(f"Task: outcomes was {list(names)!r}: expected at least one name, none twice.")
        object.__setattr__(self, "outcomes", names)
        object.__setattr__(self, "cost", finite("Task: cost", cost))
        if self.cost <= 0:
            raise ProblemError(f"{self}: expected a cost above 0.")
