"""A standard normal variable kept within an interval: its probability, mean and variance, accurate in the tails."""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf, log_density

FAR, CERTAIN = 1e4, 1e5
"""Deviations beyond which one end of an interval is no further away than another, and at which one is that there is
none."""
NARROWEST = 1e-12
"""The least width of an interval, in deviations: nothing is feasible in one of none, and its logarithm would be."""
NARROW = 1e-5
"""Relative change of the density over an interval below which the middle stands for all of it."""
NODES = 32
"""Of the quadrature: over the 18 deviations that matter at most the error of a variance is 1e-8."""
FADED = 80.0
"""Twice the drop of the log density beyond which nothing counts any more."""


def _legendre(count: int) -> tuple[Tensor, Tensor]:
    """Nodes and weights of Gauss and Legendre on (-1, 1): eigenvalues of the Jacobi matrix (Golub and Welsch, 1969)."""
    i = torch.arange(1, count, dtype=torch.float64)
    side = i / (4 * i * i - 1).sqrt()
    nodes, vectors = torch.linalg.eigh(torch.diag(side, 1) + torch.diag(side, -1))
    return nodes, 2 * vectors[0].square()


NODE, WEIGHT = _legendre(NODES)


def standardize(
    end: Float[Tensor, "*#b"], mean: Float[Tensor, "*#b"], deviation: Float[Tensor, "*#b"]
) -> Float[Tensor, "*#b"]:
    """Deviations by which an end of an interval is above the mean; one that is infinite is `CERTAIN` away."""
    # An infinite end has no gradient, not even where it is not taken.
    finite = torch.where(torch.isfinite(end), end, 0.0)
    away = ((finite - mean) / deviation).clamp(-FAR, FAR)
    return torch.where(torch.isfinite(end), away, torch.where(end > 0, CERTAIN, -CERTAIN).to(away))


def log_interval(low: Float[Tensor, "*b"], high: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Log of Phi(high) - Phi(low), where low <= high.

    On the side where both tails are small it is log Phi(high) + log(1 - Phi(low) / Phi(high)); of a narrow interval the
    difference is rounding, and width times density at its middle is not.
    """
    high = torch.maximum(high, low + NARROWEST)
    is_upper = low + high > 0
    near, far = torch.where(is_upper, -low, high), torch.where(is_upper, -high, low)
    middle, width = 0.5 * (near + far), near - far
    is_narrow = width * (1 + middle.abs()) < NARROW
    log_near = log_cdf(near)
    less = torch.where(is_narrow, -1.0, log_cdf(far) - log_near)
    return torch.where(is_narrow, log_density(middle) + width.log(), log_near + torch.log(-torch.expm1(less)))


def interval_moments(
    low: Float[Tensor, "*b"], high: Float[Tensor, "*b"]
) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
    """Mean and variance of a standard normal variable kept between low and high.

    By quadrature over the part of the interval where the density has not faded: the closed form cancels both in narrow
    intervals and in tails.
    """
    high = torch.maximum(high, low + NARROWEST)
    mode = torch.minimum(torch.maximum(low, torch.zeros_like(low)), high)
    slope = mode.abs()
    reach = FADED / (slope + (slope * slope + FADED).sqrt())
    low, high = torch.maximum(low, mode - reach), torch.minimum(high, mode + reach)
    node, weight = NODE.to(low), WEIGHT.to(low)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    t = middle[..., None] + half[..., None] * node
    share = weight * torch.exp(-0.5 * (t - mode[..., None]) * (t + mode[..., None]))
    share = share / share.sum(-1, keepdim=True)
    mean = (share * t).sum(-1)
    return mean, (share * (t - mean[..., None]).square()).sum(-1)
