"""The question worth most for its price: which task, at which point."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.maximize import Best, Effort, maximize
from pesky.decide.duplicates import Duplicates, instead
from pesky.decide.exclusion import ExcludedRegions
from pesky.decide.fallback import NEGLIGIBLE, fallback
from pesky.decide.tasks import TaskOptions, worth_per_cost
from pesky.model.belief import Belief, over_samples
from pesky.numerics.rng import Source, normal, studies_of, uniform
from pesky.numerics.runtime import now
from pesky.optimum.recommend import assess

CANDIDATES = 256
"""Points at which the worth is looked at before the ascent."""
QUICK_CANDIDATES, QUICK = 64, Effort(starts=2, steps=3)
"""The same where deciding must not take longer than measuring."""


class Analysis(NamedTuple):
    """What deciding starts from: a scene, a rule, and what it makes a measurement worth there."""

    context: Context
    rule: Rule
    acquisition: AcquisitionFunction
    is_full: bool
    """Whether the rule was prepared for this belief, or for one that knew less."""


class Decision(NamedTuple):
    task: int
    u: Float[Tensor, " d"]
    gain: float | None
    """Expected information of running the task there, in nats; None if the rule counts in something else.

    Information is never negative: an estimate below zero is an error of the approximation and is reported as 0.
    """
    price: float
    """What it is expected to cost."""
    per_task: Float[Tensor, " t"]
    """What every task is worth to the rule, each at its own best point, as it was computed."""
    acquisition: AcquisitionFunction
    seconds: dict[str, float]
    """CPU time of each stage."""


def analyze(rule: Rule, context: Context) -> Analysis:
    """The rule, prepared for the scene."""
    return Analysis(context, rule, rule.acquisition(context), True)


def update(analysis: Analysis, context: Context) -> Analysis:
    """The analysis with what was measured and asked since, at the same hyperparameters (METHOD 20.2)."""
    acquisition = analysis.rule.update(analysis.acquisition, context)
    return Analysis(context, analysis.rule, acquisition, context.belief is analysis.context.belief)


class Choices(NamedTuple):
    """The best question of each of the studies in lockstep, w; of a single one without that dimension."""

    task: Int[Tensor, "*w"]
    u: Float[Tensor, "*w d"]
    gain: Float[Tensor, "*w"]
    """What running the task there is worth to the rule."""
    price: Float[Tensor, "*w"]
    per_task: Float[Tensor, "*w t"]
    seconds: dict[str, float]


def choose(
    analysis: Analysis,
    task_options: TaskOptions,
    min_probability: float | None = None,
    excluded: ExcludedRegions | None = None,
    duplicates: Duplicates | None = None,
) -> Decision:
    """The task and point worth most for their cost.

    `min_probability` is what the probability that all constraints hold must reach at the point, `worn` are places
    to keep away from, and `settled` are questions not to be asked again.
    """
    best = choose_each(analysis, task_options, min_probability, excluded, duplicates)
    gain = reported(best.gain) if analysis.rule.in_nats else None
    return Decision(int(best.task), best.u, gain, float(best.price), best.per_task, analysis.acquisition, best.seconds)


def reported(gain: Float[Tensor, ""]) -> float:
    """The gain, or zero where it is below that or no number; max(NaN, 0) would be NaN."""
    return max(0.0, float(gain))


def choose_each(
    analysis: Analysis,
    task_options: TaskOptions,
    min_probability: float | None = None,
    excluded: ExcludedRegions | None = None,
    duplicates: Duplicates | None = None,
) -> Choices:
    """The same, for every one of the studies in lockstep, of which none has `settled` questions."""
    context, rule, acquisition, is_full = analysis
    belief, space = context.belief, context.space
    began = now(belief.amplitude)
    count, effort = (CANDIDATES, Effort()) if is_full else (QUICK_CANDIDATES, QUICK)
    near = cloud(acquisition.search_centers, acquisition.search_mask, belief, count // 4, context.generator, space.snap)
    candidates = torch.cat([context.spread(count), acquisition.search_centers, near], -2)
    neighbors = None if space.is_continuous else space.neighbors

    def per_cost(X: Tensor) -> Tensor:
        return worth_per_cost(task_options, rule, acquisition, belief, X)

    def best_within(excluded: ExcludedRegions | None) -> Best:
        margin = _margin(context, min_probability, excluded)
        best = maximize(per_cost, candidates, neighbors, margin, effort)
        return best if duplicates is None else instead(best, per_cost, candidates, margin, duplicates)

    best = best_within(excluded)
    if excluded is not None and excluded.asked.dim() > 2:
        # Those in lockstep that need not keep away from anything search as if they were alone.
        free, must = best_within(None), excluded.is_excluded.any(-1)
        best = Best(
            torch.where(must[:, None, None], best.x, free.x), torch.where(must[:, None], best.value, free.value)
        )
    prices = task_options.prices(best.x).diagonal(dim1=-2, dim2=-1)
    per_task = (best.value + prices.log() if acquisition.is_log else best.value * prices).detach()
    task = best.value.argmax(-1, keepdim=True)
    u = space.snap(torch.gather(best.x, -2, task[..., None].expand(*task.shape, best.x.shape[-1]))[..., 0, :])
    gain = torch.gather(per_task, -1, task)[..., 0]
    is_sure = per_task.amax(-1) < NEGLIGIBLE
    if rule.in_nats and min_probability is None and bool(is_sure.any()):
        other, at = fallback(
            belief, space, task_options, context.confidence, context.draw_seed(), context.pending, duplicates
        )
        if duplicates is not None:
            is_sure = is_sure & ~duplicates.at(at[None])[0, other]
        with torch.no_grad():
            there = per_cost(at[..., None, :]) * task_options.prices(at[..., None, :])
        told = torch.gather(there[..., 0, :], -1, other[..., None])[..., 0]
        task, u = torch.where(is_sure[..., None], other[..., None], task), torch.where(is_sure[..., None], at, u)
        gain = torch.where(is_sure, told, gain)
    price = torch.gather(task_options.prices(u[..., None, :])[..., 0, :], -1, task)[..., 0]
    seconds = {**context.timings.seconds, "maximize": now(belief.amplitude) - began}
    return Choices(task[..., 0], u, gain, price, per_task, seconds)


def _margin(
    context: Context, min_probability: float | None, excluded: ExcludedRegions | None
) -> Callable[[Tensor], Tensor] | None:
    """How far each point is from where nothing is to be asked, negative there; None where all may be asked."""
    margins: list[Callable[[Tensor], Tensor]] = []
    if min_probability is not None:
        floor = math.log(min_probability)
        margins.append(lambda X: assess(context.belief, X, context.confidence).log_probability.sum(-2) - floor)
    if excluded is not None:
        margins.append(excluded.margin)
    return (lambda X: torch.stack([margin(X) for margin in margins]).amin(0)) if margins else None


def cloud(
    centers: Float[Tensor, "*w n d"],
    usable: Bool[Tensor, "*w n"],
    belief: Belief,
    count: int,
    source: Source,
    snap: Callable[[Tensor], Tensor],
) -> Float[Tensor, "*w count d"]:
    """Points scattered around the usable centers, at distances from a thousandth of to a whole lengthscale."""
    w, d = studies_of(source), centers.shape[-1]
    reached = usable.to(centers).cumsum(-1)
    pick = torch.searchsorted(reached, uniform(source, *w, count, like=centers) * reached[..., -1:], right=True)
    pick = pick.clamp(max=centers.shape[-2] - 1)
    lengthscale = over_samples(belief, belief.lengthscale.amin(-2)).amin(-2, keepdim=True)
    reach = 10 ** (-3 * uniform(source, *w, count, 1, like=centers))
    step = normal(source, *w, count, d, like=centers)
    around = torch.gather(centers, -2, pick[..., None].expand(*pick.shape, d))
    return snap((around + reach * step * lengthscale).clamp(0.0, 1.0))
