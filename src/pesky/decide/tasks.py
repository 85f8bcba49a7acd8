"""What can be asked, what each task tells of, and what it costs (METHOD 20.6)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Rule
from pesky.model.belief import Belief, for_samples, over_samples


class TaskOptions(NamedTuple):
    """The tasks on offer."""

    shares: Float[Tensor, "t j"]
    """How much of each row's gain a task gets, its own success aside."""
    success: tuple[int | None, ...]
    """The row of each task's own success, where that is learnt."""
    prices: Callable[[Tensor], Tensor]
    """Points (*w, n, d) -> cost of every task there (*w, n, t), differentiable."""


def fixed_prices(costs: Float[Tensor, " t"]) -> Callable[[Tensor], Tensor]:
    """The same price of a task everywhere."""
    return lambda X: costs.to(X).expand(*X.shape[:-1], -1)


def worth_per_cost(
    task_options: TaskOptions, rule: Rule, acquisition: AcquisitionFunction, belief: Belief, X: Float[Tensor, "*w n d"]
) -> Float[Tensor, "*w n t"]:
    """What each task is worth at each point for its price, in the unit of the rule; logarithms stay logarithms."""
    values, prices = task_worth(task_options, rule, acquisition, belief, X), task_options.prices(X)
    return values - prices.log() if acquisition.is_log else values / prices


def task_worth(
    task_options: TaskOptions, rule: Rule, acquisition: AcquisitionFunction, belief: Belief, X: Float[Tensor, "*w n d"]
) -> Float[Tensor, "*w n t"]:
    """What running each task is worth at each point.

    Of a rule that values all rows together, every task measures them all. Of one that values each row, a task is worth
    the sum of its rows. A run that fails tells of nothing but its failure, so what it measures counts with the
    probability of its success.
    """
    values = acquisition(X)
    if rule.measures == "together":
        return values.expand(*values.shape[:-1], len(task_options.success))
    measured = values @ task_options.shares.mT.to(values)
    if all(row is None for row in task_options.success):
        return measured
    likely = feasibility(belief, X)
    columns = [
        measured[..., t] if row is None else values[..., row] + likely[..., row] * measured[..., t]
        for t, row in enumerate(task_options.success)
    ]
    return torch.stack(columns, -1)


def feasibility(belief: Belief, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n j"]:
    """Probability that each row is feasible, averaged over hyperparameter samples; of a task's success, that it is."""
    here = for_samples(belief, X)
    p = belief.likelihoods.feasibility(belief.mean(here), belief.variance(here))
    return over_samples(belief, p, 2).mean(-3).mT
