"""What is allowed: an outcome, a sense and a threshold, written as text or as an object."""

import re
from dataclasses import dataclass
from typing import Literal

from pesky.errors import ProblemError
from pesky.problem.fields import finite, name

_TEXT = re.compile(r"\s*(?P<outcome>[^<>=]*[^<>=\s])\s*(?P<sense><=|>=)\s*(?P<threshold>[^<>=\s]+)\s*")


@dataclass(frozen=True)
class Constraint:
    """An outcome that must stay on one side of a threshold, with at least the given probability."""

    outcome: str
    sense: Literal[">=", "<="]
    threshold: float
    confidence: float = 0.95

    def __post_init__(self):
        object.__setattr__(self, "outcome", name("Constraint: outcome", self.outcome))
        if self.sense not in (">=", "<="):
            raise ProblemError(f"Constraint on {self.outcome!r}: the sense was {self.sense!r}: expected '>=' or '<='.")
        object.__setattr__(self, "threshold", finite(f"Constraint on {self.outcome!r}: threshold", self.threshold))
        confidence = finite(f"Constraint {self}: confidence", self.confidence)
        if not 0 < confidence < 1:
            raise ProblemError(f"Constraint {self}: confidence was {confidence}: expected a number between 0 and 1.")
        object.__setattr__(self, "confidence", confidence)

    def __str__(self) -> str:
        return f"{self.outcome} {self.sense} {repr(self.threshold).removesuffix('.0')}"

    @property
    def direction(self) -> int:
        """+1 or -1, such that direction * (value - threshold) >= 0 is feasible."""
        return 1 if self.sense == ">=" else -1

    @classmethod
    def parse(cls, text: str) -> "Constraint":
        """The constraint that a text like "latency_ms <= 2" states."""
        match = _TEXT.fullmatch(text)
        threshold = _number(match["threshold"]) if match else None
        if match is None or threshold is None:
            raise ProblemError(
                f"the constraint {text!r} does not parse: expected an outcome, <= or >=, and a number, "
                "like 'latency_ms <= 2'."
            )
        return cls(match["outcome"], ">=" if match["sense"] == ">=" else "<=", threshold)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
