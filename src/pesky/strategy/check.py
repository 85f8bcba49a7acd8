"""CheckModel: where nothing seems worth measuring, doubt the model and check what its answer rests on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.base import Context
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.model.belief import for_hyper_samples, over_hyper_samples
from pesky.model.moments import moments_of
from pesky.strategy.masks import Masks
from pesky.strategy.select import NEGLIGIBLE, Decision, best_of_each_task, take
from pesky.strategy.step import Step
from pesky.strategy.task_values import TaskValues

if TYPE_CHECKING:
    from pesky.strategy.query import Query
    from pesky.strategy.situation import Situation


@dataclass(frozen=True)
class CheckModel(Step):
    """Where the rule expects to learn nothing: expected improvement with constraints, and the least known task there.

    The model may be sure of a wrong solution, when few measurements have misled its hyperparameters, and would then
    never ask the query that shows it. Where it is right, what improves on the solution are its next digits.
    """

    kinds: ClassVar = {
        "check": "a check of the model, since the rule expects to learn nothing: where a better point may be"
    }

    gain: float = NEGLIGIBLE
    """Nats below which a query tells nothing."""
    coarse_gain: float = 1e-2
    """The same of a query that is valued coarsely, to see whether there is another solution than the one whose digits
    are sought: joint samples leave no gain below their own error, some 1e-4 where only one solution is seen."""

    def propose(self, situation: "Situation") -> "Query | None":
        if situation.level == "thompson" or not situation.rule.in_nats or situation.min_probability is not None:
            return None
        values, best = situation.values, situation.best
        if not bool(self.is_sure(best)):
            return None
        checked, is_checked = self.checked(best, values, situation.masks)
        return situation.query(values, checked, "check") if bool(is_checked) else None

    def is_sure(self, best: Decision) -> Bool[Tensor, "*w"]:
        """Whether the model is so sure that nothing is worth measuring."""
        return best.estimate < (self.coarse_gain if best.acquisition.is_coarse else self.gain)

    def checked(self, best: Decision, values: TaskValues, masks: Masks) -> tuple[Decision, Bool[Tensor, "*w"]]:
        """The decision, or what checks the model where it is sure and a task is left there; and where that is so."""
        context, _, _, task_options = values
        is_sure = self.is_sure(best)
        with context.timed("maximize"):
            by_improvement = TaskValues.of(context, ExpectedImprovement(), task_options)
            better = best_of_each_task(by_improvement, masks, is_quick=False)
        with torch.no_grad():
            u = context.space.snap(take(better.x, better.value.argmax(-1)))
            here = u[..., None, :]
            prices = task_options.prices(here)[..., 0, :]
            unknown = _unknown(context, here) @ task_options.shares.mT.to(u) / prices
            if masks.duplicates is not None:
                again = masks.duplicates.at(u[None])[0]
                unknown, is_sure = torch.where(again, -torch.inf, unknown), is_sure & ~again.all()
            task = unknown.argmax(-1)
            value = take(values.without_cost(values.per_cost(here)[..., 0, :], prices), task)
            found = best._replace(
                task=torch.where(is_sure, task, best.task),
                u=torch.where(is_sure[..., None], u, best.u),
                value=torch.where(is_sure, value, best.value),
                price=torch.where(is_sure, take(prices, task), best.price),
            )
        found = found._replace(gain=values.in_nats(found.value), seconds=dict(context.timings.seconds))
        return found, is_sure


def _unknown(context: Context, here: Float[Tensor, "*w 1 d"]) -> Float[Tensor, "*w j"]:
    """The variance of every row at a point, as a share of its amplitude."""
    belief = context.belief
    variance = moments_of(belief, for_hyper_samples(belief, here)).variance[..., 0] / belief.amplitude
    unknown = over_hyper_samples(belief, variance, 1).mean(-2)
    # A yes or no leaves its latent function uncertain however often it is measured: it would be asked for ever.
    return torch.where(belief.likelihoods.is_settled_by_repeating.to(unknown.device), unknown, 0.0)
