"""The answer of a study, how sure it is, and what it rests on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pesky.answer.prediction import OutcomePrediction
from pesky.data.formatting import answers_in_words
from pesky.markup import WHOLE, facts
from pesky.problem import Option
from pesky.store.evaluation import listed, short
from pesky.text import one_line


@dataclass(frozen=True)
class Recommendation:
    """The point to use, or the best measured one: what is known of it, and whether to use it."""

    params: Mapping[str, Option]
    objective: str
    expected: float
    """Expected value of the objective, in its own units."""
    deviation: float
    """Standard deviation of what is believed of it: of the function, not of a measurement with its noise."""
    interval: tuple[float, float]
    """Holds the objective's value with a probability of 90 %."""
    probabilities: Mapping[str, float]
    """Probability that each constraint holds, by its text."""
    is_confident: bool
    """False where no point qualifies yet: `params` is then the point most probably feasible."""
    is_measured: bool = False
    """Whether everything was measured at this very point."""
    evaluations: tuple[int, ...] = ()
    """The evaluations at this very point."""
    trials: Mapping[int, str] = field(default_factory=dict)
    """What these are called in Optuna or Ax, where they are from there: {3: "trial 4"}."""
    told: Mapping[str, float] = field(default_factory=dict)
    """What they told; the mean of repeated measurements."""
    yes_no: frozenset[str] = frozenset()
    """Those of them that are a yes (1) or a no (0)."""
    nearest: float | None = None
    """How far the nearest other measured point is, as the largest difference in a parameter's share of its range."""
    advice: str = ""
    """Whether to use it as it is, and why."""
    promise: float = math.nan
    """The value that the objective keeps with a probability of 90 %: at most so much, or at least where maximized."""

    def to_dict(self) -> dict[str, object]:
        """Its fields as plain data."""
        return {
            "params": dict(self.params),
            "objective": self.objective,
            "expected": self.expected,
            "deviation": self.deviation,
            "interval": list(self.interval),
            "promise": self.promise,
            "probabilities": dict(self.probabilities),
            "is_confident": self.is_confident,
            "is_measured": self.is_measured,
            "evaluations": list(self.evaluations),
            "trials": dict(self.trials),
            "told": dict(self.told),
            "nearest": self.nearest,
            "advice": self.advice,
        }

    @property
    def value(self) -> OutcomePrediction:
        """What is believed of the objective."""
        return OutcomePrediction(self.expected, self.deviation, self.interval)

    def __str__(self) -> str:
        lines = [", ".join(f"{name}={short(value)}" for name, value in self.params.items())]
        lines.append(f"E[{self.objective}] = {self.value}")
        if self.probabilities:
            lines.append("; ".join(f"P({text}) = {p:.4g}" for text, p in self.probabilities.items()))
        if not self.is_confident:
            lines.insert(0, "none yet: no point is known to hold every constraint with its confidence; the likeliest:")
        lines.append(self.where())
        return "\n".join(filter(None, [*lines, self.advice]))

    def in_words(self) -> dict[str, str | list[str]]:
        """What is answered, by what is said of it."""
        sure = "yes" if self.is_confident else "none yet: no point is known to hold every constraint; the likeliest"
        return {
            "parameters": [f"{one_line(name)} = {short(value)}" for name, value in self.params.items()],
            f"expected {one_line(self.objective)}": str(self.value),
            "holds with its confidence": sure,
            "probability": [f"{one_line(text)}: {p:.4g}" for text, p in self.probabilities.items()],
            "measured": self.where(),
            "advice": self.advice,
        }

    def _repr_html_(self) -> str:
        return facts(self.in_words(), WHOLE)

    def where(self) -> str:
        """What was measured there, and how far the next measured point is."""
        if self.evaluations:
            ids = listed(self.evaluations, self.trials)
            told = answers_in_words(self.told, self.yes_no)
            values = ", ".join(f"{one_line(name)}={short(value)}" for name, value in told.items())
            said = f"measured here ({ids}): {values}" if self.is_measured else f"partly measured here ({ids}): {values}"
        else:
            said = "not measured here"
        if self.nearest is None:
            return said
        other = "other " if self.evaluations else ""
        far = f"differs in no parameter by more than {self.nearest:.2g} of its range"
        return f"{said}; the nearest {other}measured point {far}"
