"""Stationary kernels as functions of the squared scaled distance, with what their sample paths need."""

import math
from typing import Literal

import torch
from jaxtyping import Float
from scipy.special import gammaincinv
from torch import Tensor

from pesky.numerics.rng import Source, draw_seed, sobol

Kernel = Literal["se", "matern52"]
SQRT5 = math.sqrt(5.0)


def squared_distance(x: Float[Tensor, "*#b n d"], z: Float[Tensor, "*#b m d"]) -> Float[Tensor, "*b n m"]:
    """Squared Euclidean distances between two sets of scaled points."""
    norms = x.square().sum(-1)[..., :, None] + z.square().sum(-1)[..., None, :]
    return (norms - 2 * (x @ z.mT)).clamp(min=0.0)


def correlation(kernel: Kernel, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Correlation at a squared scaled distance."""
    if kernel == "se":
        return torch.exp(-0.5 * d2)
    # The clamp keeps the gradient of the square root finite at distance zero, where the kernel is flat.
    r = SQRT5 * d2.clamp(min=1e-30).sqrt()
    return (1 + r + r.square() / 3) * torch.exp(-r)


def slope(kernel: Kernel, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """-2 times the derivative of the correlation by the squared distance."""
    if kernel == "se":
        return torch.exp(-0.5 * d2)
    r = SQRT5 * d2.sqrt()
    return (5 / 3) * (1 + r) * torch.exp(-r)


def frequencies(kernel: Kernel, count: int, d: int, source: Source) -> Float[Tensor, "*w r d"]:
    """Points of the kernel's spectral density at unit lengthscale: normal, or Student t with 5 degrees of freedom.

    Scrambled Sobol points instead of random ones: the features' covariance is then far nearer to the kernel, which
    matters because all draws share them.
    """
    uniform = sobol(d + 1, count, draw_seed(source)).clamp(1e-12, 1 - 1e-12)
    normal = torch.special.ndtri(uniform[..., :d])
    if kernel == "se":
        return normal
    chi2 = 2 * torch.from_numpy(gammaincinv(2.5, uniform[..., d:].numpy()))
    return normal * torch.sqrt(5 / chi2)
