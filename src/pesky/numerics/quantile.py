"""Quantiles of the gamma distribution, which torch does not have."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

STEPS = 6
"""Of Halley's method, each of which triples the digits: from two to all of them, and from fewer in the far tails."""


def gamma_quantile(shape: float, p: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """The x below which a gamma variable of this shape, 1.5 to 7, and of scale 1 is with probability p.

    It is `scipy.special.gammaincinv`, on any device, without the third of a second that scipy takes to import. It
    begins at Wilson and Hilferty's approximation, or where that fails, near zero, at the first term of the series.
    """
    p = p.double()
    cube_root = 1 - 1 / (9 * shape) + torch.special.ndtri(p) / math.sqrt(9 * shape)
    near_zero = (p.log() + math.lgamma(shape + 1)).div(shape).exp()
    x = torch.where(cube_root > 0.3, shape * cube_root**3, near_zero)
    a = torch.full_like(x, shape)
    for _ in range(STEPS):
        # the smaller tail has the digits
        error = torch.where(p < 0.5, torch.special.gammainc(a, x) - p, (1 - p) - torch.special.gammaincc(a, x))
        density = ((shape - 1) * x.log() - x - math.lgamma(shape)).exp()
        newton = error / density
        x = torch.where(density > 0, x - newton / (1 - 0.5 * newton * ((shape - 1) / x - 1)), x)
    return x
