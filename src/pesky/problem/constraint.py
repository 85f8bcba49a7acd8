"""What is allowed: an outcome on one side of a threshold, or a yes or no, written as text or as an object."""

import re
from dataclasses import dataclass
from typing import Literal

from pesky.errors import ProblemError, brief
from pesky.problem.expression import check_length
from pesky.problem.fields import finite, name, number_in
from pesky.problem.wording import how_to_write

_TEXT = re.compile(r"(?P<outcome>[^<>=]+)(?P<sense><=|>=)(?P<threshold>[^<>=]+)")


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
            raise ProblemError(f"{what}: the sense was {brief(self.sense)}: expected '>=', '<=' or 'is'.")
        if self.sense != "is":
            object.__setattr__(self, "threshold", finite(f"{what}: threshold", self.threshold))
        elif not isinstance(self.threshold, bool):
            raise ProblemError(
                f"{what}: the threshold was {brief(self.threshold)}: expected True or False, since it 'is'."
            )
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
        check_length(text)
        text = text.strip()
        outcome, verb, wanted = ["", "", "", *text.rsplit(None, 2)][-3:]
        if outcome and verb.lower() == "is" and wanted.lower() in ("true", "false") and not set(outcome) & set("<>="):
            return cls(outcome, "is", wanted.lower() == "true")
        match = _TEXT.fullmatch(text)
        threshold = None if match is None else number_in(match["threshold"])
        if match is None or threshold is None or not match["outcome"].strip():
            hint = how_to_write(text) or (
                "Expected an outcome, <= or >=, and a number, like 'latency_ms <= 2', or 'converged is true' for a "
                "yes or no."
            )
            raise ProblemError(f"the constraint {text!r} does not parse. {hint}")
        return cls(match["outcome"].strip(), ">=" if match["sense"] == ">=" else "<=", threshold)
