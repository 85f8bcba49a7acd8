"""What is allowed: an outcome on one side of a threshold, or a yes or no, written as text or as an object."""

import re
from dataclasses import dataclass
from typing import Literal

from pesky.errors import ProblemError
from pesky.problem.fields import finite, name
from pesky.problem.wording import how_to_write, is_number

_TEXT = re.compile(r"\s*(?P<outcome>[^<>=]*[^<>=\s])\s*(?P<sense><=|>=)\s*(?P<threshold>[^<>=\s]+)\s*")
_YES_NO = re.compile(r"\s*(?P<outcome>[^<>=]*[^<>=\s])\s+is\s+(?P<wanted>true|false)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Constraint:
    """An outcome that must stay on one side of a threshold, with at least the given probability.

    The sense "is" declares an outcome that is measured as a yes or a no: `Constraint("converged", "is", True)`.
    """

    outcome: str
    sense: Literal[">=", "<=", "is"]
    threshold: float | bool
    confidence: float = 0.95

    def __post_init__(self):
        object.__setattr__(self, "outcome", name("Constraint: outcome", self.outcome))
        what = f"Constraint on {self.outcome!r}"
        if self.sense not in (">=", "<=", "is"):
            raise ProblemError(f"{what}: the sense was {self.sense!r}: expected '>=', '<=' or 'is'.")
        if self.sense != "is":
            object.__setattr__(self, "threshold", finite(f"{what}: threshold", self.threshold))
        elif not isinstance(self.threshold, bool):
            raise ProblemError(f"{what}: the threshold was {self.threshold!r}: expected True or False, since it 'is'.")
        confidence = finite(f"Constraint {self}: confidence", self.confidence)
        if not 0 < confidence < 1:
            raise ProblemError(f"Constraint {self}: confidence was {confidence}: expected a number between 0 and 1.")
        object.__setattr__(self, "confidence", confidence)

    def __str__(self) -> str:
        return f"{self.outcome} {self.sense} {repr(self.threshold).removesuffix('.0').lower()}"

    @property
    def is_yes_no(self) -> bool:
        """Whether the outcome is a yes or a no, not a number."""
        return self.sense == "is"

    @property
    def direction(self) -> int:
        """+1 or -1, such that direction * (value - threshold) >= 0 is feasible; of a yes or no, +1 if yes is wanted."""
        return 1 if self.sense == ">=" or (self.is_yes_no and self.threshold) else -1

    def holds(self, value: float) -> bool:
        """Whether a value of its outcome is feasible."""
        return self.direction * (value - self.threshold) >= 0

    @classmethod
    def parse(cls, text: str) -> "Constraint":
        """The constraint that a text like "latency_ms <= 2" states."""
        if (yes_no := _YES_NO.fullmatch(text)) is not None:
            return cls(yes_no["outcome"], "is", yes_no["wanted"].lower() == "true")
        match = _TEXT.fullmatch(text)
        if match is None or not is_number(match["threshold"]):
            hint = how_to_write(text) or (
                "Expected an outcome, <= or >=, and a number, like 'latency_ms <= 2', or 'converged is true' for a "
                "yes or no."
            )
            raise ProblemError(f"the constraint {text!r} does not parse. {hint}")
        return cls(match["outcome"], ">=" if match["sense"] == ">=" else "<=", float(match["threshold"]))
