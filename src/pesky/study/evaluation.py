"""One task at one point, with at most one result per outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pesky.problem import Option


@dataclass(frozen=True)
class Evaluation:
    """A question: measure this task's outcomes at these parameters."""

    id: int
    task: str
    params: Mapping[str, Option]
    gain: float | None = field(default=None, compare=False)
    """Expected information about the solution, in nats; None for the initial design and for your own data."""

    def __str__(self) -> str:
        values = ", ".join(f"{name}={_short(value)}" for name, value in self.params.items())
        worth = "" if self.gain is None else f" (expected gain {self.gain:.3g} nats)"
        return f"#{self.id} {self.task} at {values}{worth}"


def _short(value: Option) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
