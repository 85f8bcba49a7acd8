"""SeekFeasible: where all constraints most probably hold, while hardly anything that fits the data is feasible."""

from dataclasses import dataclass, field
from typing import ClassVar

from pesky.strategy.query import Query
from pesky.strategy.situation import Situation
from pesky.strategy.step import Step


@dataclass(frozen=True)
class SeekFeasible(Step):
    """Every other query, where hardly a function that fits the data has a feasible point.

    No rule can look for the best point then. Of outcomes that are measured together.
    """

    kinds: ClassVar = {
        "seeking": "where all constraints most probably hold: hardly a function that fits the data has a feasible point"
    }

    infeasible: float = field(default=0.8, metadata={"most": 1.0})
    """The share of functions without a feasible point above which that is so."""

    def propose(self, situation: Situation) -> Query | None:
        is_due = len(situation.evaluations) % 2 == 1 and len(situation.problem.tasks) == 1
        if not is_due or situation.level == "thompson":
            return None
        context, _, acquisition, _ = situation.values
        if acquisition.optima is None or not acquisition.optima.infeasible_share > self.infeasible:
            return None
        return situation.query(*situation.by_improvement(context), "seeking")
