"""What each task is worth to a rule at x, and for its price (METHOD 20.6): units, logarithms and costs are here."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.model.belief import Belief, for_hyper_samples, over_hyper_samples


class TaskOptions(NamedTuple):
    """The tasks on offer: what each of them tells of, and what it costs."""

    shares: Float[Tensor, "t j"]
    """How much of each row's gain a task gets, its own success aside."""
    success: tuple[int | None, ...]
    """The row of each task's own success, where that is learnt."""
    prices: Callable[[Tensor], Tensor]
    """Points (*w, n, d) -> cost of every task there (*w, n, t), differentiable."""


def fixed_prices(costs: Float[Tensor, " t"]) -> Callable[[Tensor], Tensor]:
    """The same price of a task everywhere."""
    return lambda X: costs.to(X).expand(*X.shape[:-1], -1)


class TaskValues(NamedTuple):
    """What running each task at any x is worth, in one context.

    In the unit of the rule, of which some count in logarithms: these stay logarithms.
    """

    context: Context
    rule: Rule
    acquisition: AcquisitionFunction
    task_options: TaskOptions

    @classmethod
    def of(cls, context: Context, rule: Rule, task_options: TaskOptions) -> "TaskValues":
        """The same by a rule that has not looked at the context yet."""
        return cls(context, rule, rule.acquisition(context), task_options)

    def judged_anew(self) -> "TaskValues":
        """The same by random numbers that had no say in where each task is best, if the rule has any."""
        return self._replace(acquisition=self.rule.independent(self.acquisition, self.context))

    def rough(self) -> "TaskValues | None":
        """What is good enough to leave a few of many points, in less time; None where nothing is."""
        rough = self.acquisition.rough()
        return None if rough is None else self._replace(acquisition=rough)

    def per_cost(self, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n t"]:
        """What each task is worth at each point for its price: what tasks are compared by."""
        return self.for_price(self.value(X), self.task_options.prices(X))

    def estimate_per_cost(self, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n t"]:
        """The same as it is estimated, errors of either sign included: what the points of one task are compared by.

        To cut off what is below zero would leave the errors above it, which then choose the points.
        """
        return self.for_price(self._of_tasks(self.acquisition(X), X), self.task_options.prices(X))

    def for_price(self, value: Float[Tensor, "*b t"], prices: Float[Tensor, "*b t"]) -> Float[Tensor, "*b t"]:
        """What the tasks are worth for these prices, of what they are worth whatever they cost."""
        return value - prices.log() if self.acquisition.is_log else value / prices

    def without_cost(self, per_cost: Float[Tensor, "*w t"], prices: Float[Tensor, "*w t"]) -> Float[Tensor, "*w t"]:
        """What the tasks are worth whatever they cost, of what they are worth for these prices."""
        return per_cost + prices.log() if self.acquisition.is_log else per_cost * prices

    def value(self, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n t"]:
        """What running each task is worth at each point, whatever it costs.

        Of a rule that values all rows together, every task measures them all. Of one that values each row, a task is
        worth the sum of its rows. A run that fails tells of nothing but its failure, so what it measures counts with
        the probability of its success. Information is never negative: an estimate below zero counts as zero.
        """
        values = self.acquisition(X)
        return self._of_tasks(torch.where(values > 0, values, 0.0) if self.rule.in_nats else values, X)

    def _of_tasks(self, values: Float[Tensor, "*w n v"], X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n t"]:
        """What each task is worth, of what the rule values."""
        shares, success, _ = self.task_options
        if self.rule.measures == "together":
            return values.expand(*values.shape[:-1], len(success))
        measured = values @ shares.mT.to(values)
        if all(row is None for row in success):
            return measured
        likely = feasibility(self.context.belief, X)
        columns = [
            measured[..., t] if row is None else values[..., row] + likely[..., row] * measured[..., t]
            for t, row in enumerate(success)
        ]
        return torch.stack(columns, -1)

    def in_nats(self, value: Float[Tensor, "*w"]) -> Float[Tensor, "*w"] | None:
        """The value as expected information; None if the rule counts in something else."""
        return value if self.rule.in_nats else None


def feasibility(belief: Belief, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n j"]:
    """Probability that each row is feasible, averaged over hyperparameter samples; of a task's success, that it is."""
    here = for_hyper_samples(belief, X)
    p = belief.likelihoods.feasibility(belief.mean(here), belief.variance(here))
    return over_hyper_samples(belief, p, 2).mean(-3).mT
