"""The answer of a study, and how sure it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pesky.problem import Option, Problem
from pesky.store.evaluation import short

if TYPE_CHECKING:  # which import torch
    from pesky.observations import Observations
    from pesky.optimum.recommend import Advice
    from pesky.space import Space


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


def recommendation_of(
    problem: Problem, space: "Space", observations: "Observations", advice: "Advice"
) -> Recommendation:
    """The advice in the user's units and words."""
    texts = [str(condition).removesuffix(" is true") for condition in problem.conditions]
    # What is known holds or does not: the little doubt of its row is there for the mathematics alone.
    probabilities = [
        float(p >= 0.5) if condition.outcome in problem.known else p
        for p, condition in zip(advice.probabilities.tolist(), problem.conditions, strict=True)
    ]
    return Recommendation(
        params=space.decode(advice.u),
        objective=problem.objective,
        expected=float(observations.to_user(0, advice.mean)),
        probabilities=dict(zip(texts, probabilities, strict=True)),
        is_confident=bool(advice.is_confident),
    )
