"""A question in a millisecond: one of the samples of x* that an acquisition function has, as in Thompson sampling."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.base import Context
from pesky.numerics.rng import draw_seed
from pesky.numerics.runtime import Timings
from pesky.optimum.sample import Optima
from pesky.strategy.masks import SAME_QUESTION, Duplicates, Masks, log_feasibility
from pesky.strategy.select import QUICK_CANDIDATES, Decision, cloud
from pesky.strategy.task_values import TaskValues

LEAST_WEIGHT = 1e-12
"""Of a sample of x*: none is impossible, or there might be nothing to draw from."""


def values_at_optima(values: TaskValues) -> Float[Tensor, "m t"]:
    """What running each task at each sample of x* is worth for its price: what `select_optimum` chooses from."""
    with torch.no_grad():
        return values.per_cost(_places(values))


def select_optimum(
    values: TaskValues,
    at_optima: Float[Tensor, "m t"],
    asked: Float[Tensor, "n d"],
    generator: torch.Generator,
    masks: Masks = Masks(),  # noqa: B008
) -> Decision:
    """A sample of x* that was not asked yet, and the task worth most for its price there: a decision in a millisecond.

    With functions that take no longer than that, it is what there is time for between two updates. Where all samples
    were asked, the point is near one, and where all tasks are duplicates there as well, as they may be on a lattice, it
    is any that is left.
    """
    context, _, acquisition, task_options = values
    duplicates, timings = masks.duplicates, Timings()
    with timings.timed("maximize", context.belief.amplitude), torch.no_grad():
        u, per_cost = _draw(values, at_optima, asked, generator, masks)
        if duplicates is not None:
            if bool(duplicates.at(u).all()):
                u = any_left(duplicates, context, generator)
                per_cost = values.per_cost(u)[0]
            per_cost = torch.where(duplicates.at(u)[0], -torch.inf, per_cost)
        price, task = task_options.prices(u)[0], per_cost.argmax()
        per_task = values.without_cost(per_cost, price)
    gain = values.in_nats(per_task[task])
    return Decision(
        task, u[0], per_task[task], gain, price[task], per_task, per_task[task], acquisition, timings.seconds
    )


def _draw(
    values: TaskValues,
    at_optima: Float[Tensor, "m t"],
    asked: Float[Tensor, "n d"],
    generator: torch.Generator,
    masks: Masks,
) -> tuple[Float[Tensor, "1 d"], Float[Tensor, " t"]]:
    """One of the samples by its weight, or a point near one where none is left, and what the tasks are worth there."""
    context, x = values.context, _places(values)
    weight = _optima(values).chosen.weight.flatten().clamp(min=LEAST_WEIGHT)
    if masks.min_probability is not None:
        is_probable = log_feasibility(context, x) >= math.log(masks.min_probability)
        weight = torch.where(is_probable, weight, 0.0) if bool(is_probable.any()) else weight
    new = torch.where(_is_new(x, asked, masks.duplicates), weight, 0.0)
    is_any_new = bool((new > 0).any())
    m = torch.multinomial((new if is_any_new else weight).cpu(), 1, generator=generator)
    snap, alone = context.space.snap, torch.ones_like(x[m][:, 0], dtype=torch.bool)
    u = snap(x[m] if is_any_new else cloud(x[m], alone, context.belief, 1, generator, snap))
    return u, at_optima[m[0]]


def _is_new(x: Float[Tensor, "m d"], asked: Float[Tensor, "n d"], duplicates: Duplicates | None) -> Bool[Tensor, " m"]:
    """Whether a point was not asked before, and some task is no duplicate there."""
    is_new = torch.ones_like(x[:, 0], dtype=torch.bool)
    if len(asked):
        is_new = torch.cdist(x, asked.to(x)).amin(-1) > SAME_QUESTION
    return is_new if duplicates is None else is_new & ~duplicates.at(x).all(-1)


def any_left(duplicates: Duplicates, context: Context, generator: torch.Generator) -> Float[Tensor, "1 d"]:
    """A point by chance at which some task is no duplicate."""
    lattice = duplicates.lattice()
    points = context.space.spread(QUICK_CANDIDATES, draw_seed(generator)) if lattice is None else lattice
    if duplicates.region is not None:
        points = torch.cat([points, duplicates.region.pool])
    left = points[~duplicates.at(points).all(-1)].to(context.belief.points)
    return left[torch.randint(len(left), (1,), generator=generator)]


def _optima(values: TaskValues) -> Optima:
    assert values.acquisition.optima is not None
    return values.acquisition.optima


def _places(values: TaskValues) -> Float[Tensor, "m d"]:
    """All samples of x*, of whichever hyperparameter sample."""
    return _optima(values).chosen.x.flatten(0, -2)
