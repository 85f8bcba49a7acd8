"""The question worth most for its price: which task, at which point."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.acquire.maximize import Best, maximize
from pesky.decide.exclusion import Restrictions
from pesky.decide.fallback import COARSELY_NEGLIGIBLE, NEGLIGIBLE, fallback, least_known
from pesky.decide.task_values import TaskValues
from pesky.model.belief import Belief, over_hyper_samples
from pesky.numerics.rng import Source, normal, studies_of, uniform
from pesky.optimum.measured import best_measured

BY_RULE, CHECK_ANSWER, CHECK_ELSEWHERE = range(3)
"""What chooses a question: the rule, or a check of the model, at its recommendation or elsewhere."""
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
    acquisition: AcquisitionFunction
    seconds: dict[str, float]
    """CPU time of each stage."""
    chosen_by: Int[Tensor, "*w"]
    """What chose it: `BY_RULE`, or a check of the model where the rule expects to learn nothing."""


class Choice(NamedTuple):
    """One of the tasks, where, what it is worth there, and whether the rule chose it or a check of the model."""

    task: Int[Tensor, "*w"]
    u: Float[Tensor, "*w d"]
    value: Float[Tensor, "*w"]
    chosen_by: Int[Tensor, "*w"]


def select(values: TaskValues, restrictions: Restrictions = Restrictions(), *, is_quick: bool = False) -> Decision:  # noqa: B008
    """The task and point worth most for their cost, among those that may be asked."""
    context, rule, acquisition, task_options = values
    with context.timed("maximize"):
        best = best_of_each_task(values, restrictions, is_quick)
        prices = task_options.prices(best.x).diagonal(dim1=-2, dim2=-1)
        estimates = values.without_cost(best.value, prices)
        with torch.no_grad():
            per_task = values.value(best.x).diagonal(dim1=-2, dim2=-1)
        task = _task_of(best.value, torch.where(per_task > 0, values.for_price(per_task, prices), -torch.inf))
        chosen = Choice(task, context.space.snap(take(best.x, task)), take(per_task, task), torch.zeros_like(task))
        is_sure = estimates.amax(-1) < (COARSELY_NEGLIGIBLE if acquisition.is_coarse else NEGLIGIBLE)
        if rule.in_nats and restrictions.min_probability is None and bool(is_sure.any()):
            chosen = _or_fallback(chosen, is_sure, values, restrictions)
        price = take(task_options.prices(chosen.u[..., None, :])[..., 0, :], chosen.task)
    gain, seconds = values.in_nats(chosen.value), dict(context.timings.seconds)
    worth = chosen.value.detach(), gain, price, per_task
    return Decision(chosen.task, chosen.u, *worth, acquisition, seconds, chosen.chosen_by)


def _task_of(estimates: Float[Tensor, "*w t"], worth: Float[Tensor, "*w t"]) -> Int[Tensor, "*w"]:
    """The task worth most, of those that may be asked; where none is worth anything, the one of the best estimate."""
    worth = torch.where(estimates > -torch.inf, worth, -torch.inf)
    return torch.where((worth > -torch.inf).any(-1, keepdim=True), worth, estimates).argmax(-1)


def best_of_each_task(values: TaskValues, restrictions: Restrictions, is_quick: bool) -> Best:
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
    if restrictions.min_probability is not None:  # what is safe may be close to what was measured, and nowhere else
        known = best_measured(context.belief)
        every = torch.ones_like(known[..., 0], dtype=torch.bool)
        around = cloud(known, every, context.belief, count, context.generator, space.snap) if every.any() else known
        candidates = torch.cat([candidates, known, around], -2)
    if restrictions.duplicates is not None and restrictions.duplicates.region is not None:
        candidates = torch.cat([candidates, restrictions.duplicates.region.pool[:count].to(candidates)], -2)
    neighbors, rough = None if space.is_continuous else space.neighbors, values.rough()

    def search(restrictions: Restrictions) -> Best:
        margin = restrictions.margin(context)
        best = maximize(
            values.estimate_per_cost, candidates, neighbors, margin, effort, rough and rough.estimate_per_cost
        )
        duplicates = restrictions.duplicates
        return best if duplicates is None else duplicates.replaced(best, values.estimate_per_cost, candidates, margin)

    best, excluded = search(restrictions), restrictions.excluded
    if excluded is None or bool(excluded.exist.all()):
        return best
    # Who has nothing to keep away from searches as if nobody had.
    return best.where(excluded.exist[..., None], search(restrictions._replace(excluded=None)))


def _or_fallback(chosen: Choice, is_sure: Bool[Tensor, "*w"], values: TaskValues, restrictions: Restrictions) -> Choice:
    """The choice, or, where the model is sure of its solution, what checks it.

    A coarse look has no use for digits nor for what the model knows of: it goes where least is known.
    """
    context, _, acquisition, task_options = values
    duplicates, is_fine = restrictions.duplicates, not acquisition.is_coarse
    unknown = partial(least_known, context, task_options, duplicates)
    elsewhere = partial(_improving, values, restrictions) if is_fine else unknown
    task, u, is_answer = fallback(context, task_options, elsewhere, duplicates, is_fine=is_fine)
    if duplicates is not None:
        is_sure = is_sure & ~duplicates.at(u[None])[0, task]
    with torch.no_grad():
        here = u[..., None, :]
        per_cost, prices = values.per_cost(here)[..., 0, :], task_options.prices(here)[..., 0, :]
        value = take(values.without_cost(per_cost, prices), task)
    return Choice(
        torch.where(is_sure, task, chosen.task),
        torch.where(is_sure[..., None], u, chosen.u),
        torch.where(is_sure, value, chosen.value),
        torch.where(is_sure, torch.where(is_answer, CHECK_ANSWER, CHECK_ELSEWHERE), BY_RULE),
    )


def _improving(values: TaskValues, restrictions: Restrictions) -> Float[Tensor, "*w d"]:
    """Where a better point is most to be expected: expected improvement with constraints."""
    by_improvement = TaskValues.of(values.context, ExpectedImprovement(), values.task_options)
    best = best_of_each_task(by_improvement, restrictions, is_quick=False)
    return values.context.space.snap(take(best.x, best.value.argmax(-1)))


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
