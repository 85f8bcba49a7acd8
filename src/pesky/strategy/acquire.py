"""Acquire: what a rule finds worth most for its price."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pesky.acquire.base import Rule
from pesky.acquire.registry import rule_of
from pesky.errors import ProblemError
from pesky.problem.fields import finite
from pesky.strategy.query import Query, Reason
from pesky.strategy.situation import Situation
from pesky.strategy.step import Step
from pesky.strategy.task_values import TaskValues
from pesky.strategy.thompson import select_optimum, values_at_optima


def _default() -> Rule:
    return rule_of("pesc")


@dataclass(frozen=True)
class Acquire(Step):
    """The maximum of an acquisition function per cost.

    With a `deciding_share`, deciding takes no more than so many times the time of measuring. When a full analysis
    cannot be afforded, the last one is updated with the new data at unchanged hyperparameters, x* samples and EP sites
    (METHOD 20.2), and when that cannot be either, the query is one of its x* samples, as in Thompson sampling.
    """

    kinds: ClassVar = {
        "full": "what the rule finds worth most for its price",
        "coarse": "what the rule finds worth most for its price, by a coarse look first",
        "update": "what the rule finds worth most for its price, from the last full analysis updated with new data",
        "thompson": "one of the samples of the solution, for lack of time",
    }

    rule: Rule | str | Mapping[str, Any] = field(default_factory=_default)
    """Or its name, or a mapping of its name and options."""
    deciding_share: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rule", rule_of(self.rule))
        if self.deciding_share is not None and finite("deciding_share", self.deciding_share) <= 0:
            raise ProblemError(f"deciding_share was {self.deciding_share!r}: expected a number above 0.")

    def propose(self, situation: Situation) -> Query | None:
        if situation.level == "thompson":
            return self._sampled(situation)
        best = situation.best
        kind = "coarse" if situation.level == "full" and best.acquisition.is_coarse else situation.level
        return situation.query(situation.values, best, kind)

    def _sampled(self, situation: Situation) -> Query:
        """One of the samples of x* that the last full decision had."""
        full = situation.last.full
        assert full is not None
        values = TaskValues(full.context, situation.rule, full.acquisition, situation.options)
        if situation.tasks not in full.at_optima:
            full.at_optima[situation.tasks] = values_at_optima(values)
        masks = situation.masks
        generator = situation.generator()
        best = select_optimum(values, full.at_optima[situation.tasks], situation.snapshot.asked, generator, masks)
        situation.last.decision = best
        return situation.query_at(best, Reason("thompson", {"rule": situation.rule.name}))

    def to_plain(self) -> dict[str, object]:
        return {**super().to_plain(), "rule": rule_of(self.rule).to_plain()}
