"""The answer of a study, and how sure it is."""

from collections.abc import Mapping
from dataclasses import dataclass

from pesky.problem import Option
from pesky.store.evaluation import short


@dataclass(frozen=True)
class Recommendation:
    """Where the objective is expected to be best among the points that hold every constraint with its confidence."""

    params: Mapping[str, Option]
    objective: str
    expected: float
    """Expected value of the objective, in its own units."""
    probabilities: Mapping[str, float]
    """Probability that each constraint holds, by its text."""
    is_confident: bool
    """False where no point qualifies yet: `params` is then the point most probably feasible."""

    def __str__(self) -> str:
        values = ", ".join(f"{name}={short(value)}" for name, value in self.params.items())
        held = "; ".join(f"P({text}) = {p:.4g}" for text, p in self.probabilities.items())
        lines = [f"{values}", f"E[{self.objective}] = {self.expected:.6g}" + (f"; {held}" if held else "")]
        if not self.is_confident:
            lines.insert(0, "none yet: no point is known to hold every constraint with its confidence; the likeliest:")
        return "\n".join(lines)
