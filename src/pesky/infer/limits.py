"""Rows that are feasible within limits: constraints from zero to an upper one, the objective between two of its own."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.infer.bivariate import bivariate_cdf
from pesky.infer.gaussian import log_cdf
from pesky.infer.interval import standardize

NEARLY = -1e-12
"""The log probability of what is certain: that of the opposite stays finite."""


class Limits(NamedTuple):
    """Infinite where there is none. A constraint is feasible from zero to `upper`."""

    upper: Float[Tensor, "*b k"]
    low: Float[Tensor, "*b"]
    """Of the objective."""
    high: Float[Tensor, "*b"]

    def at(self, rows: Tensor) -> "Limits":
        """Those of some elements of the first dimension."""
        return Limits(*(part[rows] for part in self))

    def for_samples(self, count: int) -> "Limits":
        """The same for so many samples of each batch element, all in one dimension."""
        upper, low, high = (torch.repeat_interleave(t.flatten(0, -2), count, 0) for t in self._rows())
        return Limits(upper, low[:, 0], high[:, 0])

    def _rows(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.upper[None], self.low[None, ..., None], self.high[None, ..., None]

    def ends(self, mean: Float[Tensor, "..."], deviation: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Deviations by which the upper limits are above the means of the constraints, (*b, k, ..)."""
        upper = self.upper.view(*self.upper.shape, *(1,) * (mean.dim() - self.upper.dim()))
        return standardize(upper, mean, deviation)


def log_reach(
    low: Float[Tensor, "*#b"],
    mean: Float[Tensor, "*#b"],
    variance: Float[Tensor, "*#b"],
    difference: Float[Tensor, "*#b"],
    spread: Float[Tensor, "*#b"],
    covariance: Float[Tensor, "*#b"],
) -> Float[Tensor, "*b"]:
    """Log of P(f(u) >= low | f(u) < f(x*)): whether what is better than x* is above the objective's lower limit.

    f(u) has this mean and variance, d = f(u) - f(x*) the mean `difference` and the variance `spread`.
    """
    deviation, width = variance.sqrt(), spread.sqrt()
    below = (-difference / width).clamp(-1e4, 1e4)
    above = -standardize(low, mean, deviation)
    r = (-covariance / (deviation * width)).clamp(-1.0, 1.0)
    both = bivariate_cdf(*torch.broadcast_tensors(below, above, r))
    return (both.clamp(min=1e-300).log() - log_cdf(below)).clamp(max=NEARLY)


def log_not(log_p: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Log of 1 - p."""
    return torch.log(-torch.expm1(log_p))
