"""Improve: where a better measured point is most to be expected."""

from dataclasses import dataclass
from typing import ClassVar

from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.strategy.confirm import affordable_now, beats_measured
from pesky.strategy.query import Query, Reason
from pesky.strategy.select import select
from pesky.strategy.situation import Situation
from pesky.strategy.step import Step
from pesky.strategy.task_values import TaskValues


@dataclass(frozen=True)
class Improve(Step):
    """Expected improvement with constraints, where no point is clearly better than the best measured one.

    Of outcomes that are measured together; it shares what may be spent on the answer with `Confirm`.
    """

    kinds: ClassVar = {"improving": "for the answer: where a better measured point is most to be expected"}

    share: float = 0.2
    clearly: float = 1e-2
    """The part of the range of measured values by which a point is clearly better."""

    def propose(self, situation: Situation) -> Query | None:
        if situation.request.confirm or len(situation.problem.tasks) > 1:
            return None
        if not situation.snapshot.is_any_told(situation.problem.grounds):
            return None
        if (most := affordable_now(situation, self.share)) is None or not (target := situation.answer).is_confident:
            return None
        if not target.is_measured and beats_measured(situation.quick, target, self.clearly):
            return None
        context = situation.context()
        values = TaskValues.of(context, ExpectedImprovement(), situation.options)
        best = select(values, situation.masks(context))
        params, price = situation.params_of(best), float(best.price)
        if price > most or not situation.is_allowed(params):
            return None
        return Query(situation.tasks[int(best.task)], params, price, Reason("improving"))
