"""Integrals over the space of what lives in few places, and late in a run in a very small one.

An integral of density times share, where the (unnormalized) density does not depend on the question and the share,
between 0 and 1, does, is the integral of the density times the mean share at points drawn from the density.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import Context
from pesky.model.belief import Belief
from pesky.numerics.rng import uniform

SIDES = (1.0, 0.25, 0.06, 0.015, 0.004)
"""Sides of the boxes around the incumbent that points are drawn from, the first the whole space."""
POOL = 512
"""Points from each box."""
LEAST = 64
"""Points for each hyperparameter sample, however many of them there are."""
ROUNDING = 1e-12
"""Shares below this are rounding errors."""

LogDensity = Callable[[Tensor, Tensor], Tensor]
"""Mean and variance of all rows (*b j x) -> log of the unnormalized density (*b x)."""


class ImportanceSample(NamedTuple):
    """Points drawn from a density, and the belief of the objective there."""

    points: Float[Tensor, "*b p d"]
    mean: Float[Tensor, "*b p"]
    variance: Float[Tensor, "*b p"]
    log_normalizer: Float[Tensor, "*b"]
    """Log of the integral of the density."""

    def log_integral(self, share: Float[Tensor, "*b p x"]) -> Float[Tensor, "*b x"]:
        """Log of the integral of density times share, of the shares at the points; none counts as rounding."""
        return self.log_normalizer[..., None] + (share.mean(-2) + ROUNDING).log()


def importance_sample(
    belief: Belief, context: Context, u: Float[Tensor, " d"], count: int, log_density: LogDensity
) -> ImportanceSample:
    """About `count` points in all; u is a point around which the density may be concentrated.

    First a pool: quasi-random points of boxes around u, each box a part of the one before, weighted by the inverse of
    their density in all boxes together, so that sums over them are integrals. Then systematic resampling of the pool.
    """
    batch = belief.amplitude.shape[:-1]
    pool, log_volume = pool_around(context, u)
    with torch.no_grad():
        here = pool.expand(*batch, *pool.shape)
        mean, variance = belief.mean(here), belief.variance(here)
        log_weight = log_volume + log_density(mean, variance)
        log_normalizer = log_weight.logsumexp(-1)
        cumulative = (log_weight - log_normalizer[..., None]).exp().cumsum(-1)
        p = max(min(count, LEAST), count // max(1, batch.numel()))
        offset = uniform(context.generator, *batch, 1, like=pool)
        level = (torch.arange(p, device=pool.device) + offset) / p
        drawn = torch.searchsorted(cumulative, level * cumulative[..., -1:]).clamp(max=len(pool) - 1)
        mean, variance = (t[..., 0, :].gather(-1, drawn) for t in (mean, variance))
        return ImportanceSample(pool[drawn], mean, variance, log_normalizer)


def pool_around(context: Context, u: Float[Tensor, " d"]) -> tuple[Float[Tensor, "n d"], Float[Tensor, " n"]]:
    """Points all over the space and ever more densely around u, with the log of the volume each stands for.

    Discrete columns are never narrowed.
    """
    continuous = context.space.continuous.to(u.device)
    side = torch.where(continuous, u.new_tensor(SIDES)[:, None], 1.0)
    low = (u - 0.5 * side).clamp(min=0.0).minimum(1 - side)
    spread = torch.stack([context.spread(POOL) for _ in SIDES])
    pool = torch.where(continuous, low[:, None] + side[:, None] * spread, spread).flatten(0, 1)
    pool[-1] = u  # where the density may be all that there is, between the others
    # With the boxes one in another, a point is in all boxes up to some size.
    inside = ((pool[:, None] >= low) & (pool[:, None] <= low + side)).all(-1)
    log_density = torch.where(inside, -side.log().sum(-1), -torch.inf).logsumexp(-1)
    return pool, -log_density - torch.log(torch.tensor(float(POOL))).to(u)
