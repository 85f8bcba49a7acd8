"""A question in a millisecond: one of the samples of x* that an analysis has at hand."""

import math
import time

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context
from pesky.decide.duplicates import Duplicates
from pesky.decide.select import QUICK_CANDIDATES, Analysis, Decision, cloud, reported
from pesky.decide.tasks import TaskOptions, worth_per_cost
from pesky.numerics.rng import draw_seed
from pesky.optimum.recommend import assess

APART = 1e-3
"""Points closer than this, in the unit cube, are the same question."""


def worth_at_optima(analysis: Analysis, task_options: TaskOptions) -> Float[Tensor, "m t"]:
    """What running each task at each sample of x* is worth for its price: what `draw` chooses from."""
    return _worth(analysis, task_options, _optima(analysis.acquisition))


def _worth(analysis: Analysis, task_options: TaskOptions, X: Float[Tensor, "x d"]) -> Float[Tensor, "x t"]:
    with torch.no_grad():
        return worth_per_cost(task_options, analysis.rule, analysis.acquisition, analysis.context.belief, X)


def _optima(acquisition: AcquisitionFunction) -> Float[Tensor, "m d"]:
    """All samples of x*, of whichever hyperparameter sample."""
    assert acquisition.optima is not None
    return acquisition.optima.chosen.x.flatten(0, -2)


def draw(
    analysis: Analysis,
    task_options: TaskOptions,
    per_cost: Float[Tensor, "m t"],
    taken: Float[Tensor, "n d"],
    generator: torch.Generator,
    min_probability: float | None = None,
    duplicates: Duplicates | None = None,
) -> Decision:
    """A sample of x* that was not taken yet, and the task worth most for its price there: a decision in a millisecond.

    With functions that take no longer than that, it is what there is time for between two updates. `per_cost` is what
    the tasks are worth at the samples. Where all of them are taken, the point is near one, and where all tasks are
    settled there as well, as they may be on a lattice, it is any that is left.
    """
    began = time.process_time()
    context, rule, acquisition, _ = analysis
    assert acquisition.optima is not None
    x, weight = _optima(acquisition), acquisition.optima.chosen.weight.flatten().clamp(min=1e-12)
    if min_probability is not None:
        with torch.no_grad():
            likely = assess(context.belief, x, context.confidence).log_probability.sum(-2) >= math.log(min_probability)
        weight = torch.where(likely, weight, 0.0) if bool(likely.any()) else weight
    is_free = torch.cdist(x, taken.to(x)).amin(-1) > APART if len(taken) else torch.ones_like(weight, dtype=torch.bool)
    if duplicates is not None:
        is_free = is_free & ~duplicates.at(x).all(-1)
    free = torch.where(is_free, weight, 0.0)
    is_any_free = bool((free > 0).any())
    m = torch.multinomial((free if is_any_free else weight).cpu(), 1, generator=generator)
    snap = context.space.snap
    alone = torch.ones_like(x[m][:, 0], dtype=torch.bool)
    u = snap(x[m] if is_any_free else cloud(x[m], alone, context.belief, 1, generator, snap))
    here = per_cost[m[0]]
    if duplicates is not None:
        if bool(duplicates.at(u).all()):
            u = any_left(duplicates, context, generator)
            here = _worth(analysis, task_options, u)[0]
        here = torch.where(duplicates.at(u)[0], -torch.inf, here)
    with torch.no_grad():
        price = task_options.prices(u)[0]
    task = int(here.argmax())
    per_task = here + price.log() if acquisition.is_log else here * price
    gain = reported(per_task[task]) if rule.in_nats else None
    seconds = {"maximize": time.process_time() - began}
    return Decision(task, u[0], gain, float(price[task]), per_task, acquisition, seconds)


def any_left(duplicates: Duplicates, context: Context, generator: torch.Generator) -> Float[Tensor, "1 d"]:
    """A point by chance at which some task is not settled."""
    lattice = duplicates.lattice()
    points = context.space.spread(QUICK_CANDIDATES, draw_seed(generator)) if lattice is None else lattice
    left = points[~duplicates.at(points).all(-1)].to(context.belief.points)
    return left[torch.randint(len(left), (1,), generator=generator)]
