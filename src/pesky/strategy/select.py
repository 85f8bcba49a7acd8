"""The question worth most for its price: which task, at which point."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction
from pesky.acquire.maximize import Best, maximize
from pesky.model.belief import Belief, over_hyper_samples
from pesky.numerics.rng import Source, normal, studies_of, uniform
from pesky.optimum.measured import best_measured
from pesky.strategy.masks import Masks
from pesky.strategy.task_values import TaskValues

NEGLIGIBLE = 1e-5
"""Gains below this, in nats, tell nothing: the model is sure of the solution."""
QUICK_CANDIDATES, QUICK_STARTS, QUICK_STEPS = 64, 2, 3
"""How hard to climb where deciding must not take longer than measuring."""


class Decision(NamedTuple):
    """The best question, of one study or of each of w in lockstep."""

    task: Int[Tensor, "*w"]
    u: Float[Tensor, "*w d"]
    value: Float[Tensor, "*w"]
    """What running the task there is worth to the rule, as it was computed."""
    gain: Float[Tensor, "*w"] | None
    """Expected information of running the task there, in nats; None if the rule counts in something else."""
    price: Float[Tensor, "*w"]
    """What it is expected to cost."""
    per_task: Float[Tensor, "*w t"]
    """What every task is worth to the rule, each at its own best point, as it was computed."""
    estimate: Float[Tensor, "*w"]
    """The largest that any task is worth, errors of either sign included."""
    acquisition: AcquisitionFunction
    seconds: dict[str, float]
    """CPU time of each stage."""


def select(values: TaskValues, masks: Masks = Masks(), *, is_quick: bool = False) -> Decision:  # noqa: B008
    """The task and point worth most for their cost, among those that may be asked.

    The best points of several tasks are compared by estimates that had no say in choosing them: the largest of many is
    too large by as much as each of them is off, which prices would make decisive (METHOD 20.6).
    """
    context, _, _, task_options = values
    with context.timed("maximize"):
        best = best_of_each_task(values, masks, is_quick)
        prices = task_options.prices(best.x).diagonal(dim1=-2, dim2=-1)
        estimates = values.without_cost(best.value, prices)
        judge = values if is_quick or len(task_options.success) == 1 else values.judged_anew()
        with torch.no_grad():
            per_task = judge.value(best.x).diagonal(dim1=-2, dim2=-1)
        task = _task_of(best.value, torch.where(per_task > 0, values.for_price(per_task, prices), -torch.inf))
        u, value = context.space.snap(take(best.x, task)), take(per_task, task)
        price = take(task_options.prices(u[..., None, :])[..., 0, :], task)
    seconds, gain = dict(context.timings.seconds), values.in_nats(value)
    return Decision(task, u, value.detach(), gain, price, per_task, estimates.amax(-1), judge.acquisition, seconds)


def _task_of(estimates: Float[Tensor, "*w t"], worth: Float[Tensor, "*w t"]) -> Int[Tensor, "*w"]:
    """The task worth most, of those that may be asked; where none is worth anything, the one of the best estimate."""
    worth = torch.where(estimates > -torch.inf, worth, -torch.inf)
    return torch.where((worth > -torch.inf).any(-1, keepdim=True), worth, estimates).argmax(-1)


def best_of_each_task(values: TaskValues, masks: Masks, is_quick: bool) -> Best:
    """The point of most value per cost for each of the tasks."""
    context, _, acquisition, _ = values
    space = context.space
    effort = acquisition.effort
    if is_quick:
        effort = effort._replace(starts=QUICK_STARTS, steps=QUICK_STEPS, candidates=QUICK_CANDIDATES)
    count = effort.candidates
    centers, mask = acquisition.search_centers, acquisition.search_mask
    near = cloud(centers, mask, context.belief, count // 4, context.generator, space.snap)
    candidates = torch.cat([context.spread(count), centers, near], -2)
    if masks.min_probability is not None:  # what is safe may be close to what was measured, and nowhere else
        known = best_measured(context.belief)
        every = torch.ones_like(known[..., 0], dtype=torch.bool)
        around = cloud(known, every, context.belief, count, context.generator, space.snap) if every.any() else known
        candidates = torch.cat([candidates, known, around], -2)
    if masks.duplicates is not None and masks.duplicates.region is not None:
        candidates = torch.cat([candidates, masks.duplicates.region.pool[:count].to(candidates)], -2)
    neighbors, rough = None if space.is_continuous else space.neighbors, values.rough()

    margin, duplicates = masks.margin(context), masks.duplicates
    best = maximize(values.estimate_per_cost, candidates, neighbors, margin, effort, rough and rough.estimate_per_cost)
    return best if duplicates is None else duplicates.replaced(best, values.estimate_per_cost, candidates, margin)


def take(each: Tensor, task: Int[Tensor, "*w"]) -> Tensor:
    """Of what there is for each task, (*w, t, ..), that of one."""
    rest = each.shape[task.dim() + 1 :]
    index = task.view(*task.shape, 1, *(1,) * len(rest)).expand(*task.shape, 1, *rest)
    return each.gather(task.dim(), index).squeeze(task.dim())


def cloud(
    centers: Float[Tensor, "*w n d"],
    mask: Bool[Tensor, "*w n"],
    belief: Belief,
    count: int,
    source: Source,
    snap: Callable[[Tensor], Tensor],
) -> Float[Tensor, "*w count d"]:
    """Points scattered around the centers of the mask, at distances from a thousandth of to a whole lengthscale."""
    w, d = studies_of(source), centers.shape[-1]
    reached = mask.to(centers).cumsum(-1)
    pick = torch.searchsorted(reached, uniform(source, *w, count, like=centers) * reached[..., -1:], right=True)
    pick = pick.clamp(max=centers.shape[-2] - 1)
    lengthscale = over_hyper_samples(belief, belief.lengthscale.amin(-2)).amin(-2, keepdim=True)
    reach = 10 ** (-3 * uniform(source, *w, count, 1, like=centers))
    step = normal(source, *w, count, d, like=centers)
    around = torch.gather(centers, -2, pick[..., None].expand(*pick.shape, d))
    return snap((around + reach * step * lengthscale).clamp(0.0, 1.0))
