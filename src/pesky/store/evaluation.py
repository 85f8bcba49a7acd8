"""One task at one point, with at most one result: the unit of memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pesky.problem import Option
from pesky.problem.fields import Named


class State(StrEnum):
    """Where an evaluation stands."""

    PENDING = "pending"
    """Asked by someone who will tell in their own time: no lease."""
    RUNNING = "running"
    """Being measured by a worker that renews its lease."""
    DONE = "done"
    """Every outcome of its task was told."""
    FAILED = "failed"
    """The measurement did not give what it should; `error` says why."""
    LOST = "lost"
    """Its worker stopped renewing the lease, or let go of it: the question is free to be asked again."""
    ABANDONED = "abandoned"
    """Its user expects no further outcomes, without calling it a failure."""


@dataclass(frozen=True)
class Evaluation:
    """A question, measure this task's outcomes at these parameters, and what became of it.

    Times are seconds since 1970 by the clock of the storage.
    """

    id: int
    task: str
    params: Mapping[str, Option]
    gain: float | None = field(default=None, compare=False)
    """Expected information about the solution, in nats; None for the initial design and for your own data."""
    price: float = field(default=1.0, compare=False)
    """What it was expected to cost when it was asked; 0 for your own data."""
    state: State = field(default=State.PENDING, compare=False)
    outcomes: Mapping[str, float] = field(default_factory=lambda: Named({}), compare=False)
    """What was told so far."""
    error: str | None = field(default=None, compare=False)
    """Why it failed or was lost, if it did."""
    attempts: int = field(default=1, compare=False)
    """How often it was handed out; 0 for your own data."""
    worker: str | None = field(default=None, compare=False)
    """Who measures it, or did so last."""
    asked: float = field(default=0.0, compare=False)
    """When it was first asked."""
    began: float | None = field(default=None, compare=False)
    """When its last attempt was handed out."""
    ended: float | None = field(default=None, compare=False)
    """When it became done, failed, lost or abandoned."""
    seconds: float | None = field(default=None, compare=False)
    """How long the measurement took, as its worker reports."""
    expires: float | None = field(default=None, compare=False)
    """When its lease runs out; None without a lease."""
    revision: int = field(default=0, compare=False)
    """The study's revision at which it last changed."""

    @property
    def is_open(self) -> bool:
        """Whether a result is expected: it is pending or running."""
        return self.state in (State.PENDING, State.RUNNING)

    @property
    def is_yours(self) -> bool:
        """Whether it is data of your own, which no budget counts."""
        return self.attempts == 0

    def __str__(self) -> str:
        values = ", ".join(f"{name}={short(value)}" for name, value in self.params.items())
        worth = "" if self.gain is None else f" (expected gain {self.gain:.3g} nats)"
        return f"#{self.id} {self.task} at {values}{worth}"


def short(value: Option) -> str:
    """A parameter's value for people to read."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
