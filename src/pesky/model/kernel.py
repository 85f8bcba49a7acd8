"""Stationary kernels as functions of the squared scaled distance, with what their sample paths need.

How to add one: a subclass of `StationaryKernel`, and its name in `Kernel` and in `KERNELS`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from pesky.numerics.quantile import gamma_quantile
from pesky.numerics.rng import Source, draw_seed, sobol

Kernel = Literal["se", "matern52"]
"""The names of `KERNELS`."""
SQRT5 = math.sqrt(5.0)


class StationaryKernel(ABC):
    """A correlation that depends on the distance alone, at unit lengthscale."""

    @abstractmethod
    def correlation(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Correlation at a squared distance."""

    @abstractmethod
    def slope(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """-2 times the derivative of the correlation by the squared distance."""

    @abstractmethod
    def bend(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """-2 times the derivative of the slope by the squared distance."""

    def correlation_and_slope(self, d2: Float[Tensor, "*b"]) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
        """Both; what they share need be computed once."""
        return self.correlation(d2), self.slope(d2)

    def correlation_alone(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Correlation where the distances may be overwritten."""
        return self.correlation(d2)

    @abstractmethod
    def spectrum(self, normal: Float[Tensor, "*w r d"], uniform: Float[Tensor, "*w r 1"]) -> Float[Tensor, "*w r d"]:
        """Points of the spectral density, made of standard normal ones and uniform ones beside them."""


class SquaredExponential(StationaryKernel):
    """exp(-d2 / 2), whose spectral density is normal."""

    def correlation(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        return torch.exp(-0.5 * d2)

    def slope(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        return torch.exp(-0.5 * d2)

    def bend(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        return torch.exp(-0.5 * d2)

    def spectrum(self, normal: Float[Tensor, "*w r d"], uniform: Float[Tensor, "*w r 1"]) -> Float[Tensor, "*w r d"]:
        return normal


class Matern52(StationaryKernel):
    """(1 + r + r^2 / 3) exp(-r), r = sqrt(5 d2), whose spectral density is Student's t with 5 degrees of freedom."""

    def correlation(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        return self.correlation_alone(d2.clone())

    def slope(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        r = SQRT5 * d2.sqrt()
        return (5 / 3) * (1 + r) * torch.exp(-r)

    def bend(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        return (25 / 3) * torch.exp(-SQRT5 * d2.sqrt())

    def correlation_alone(self, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        # Large matrices leave the cache between operations: half as many take half of the time.
        r = d2.mul_(5).sqrt_()
        decay = torch.neg(r).exp_()
        return torch.addcmul(r, r, r, value=1 / 3).add_(1).mul_(decay)

    def correlation_and_slope(self, d2: Float[Tensor, "*b"]) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
        r = (5 * d2).sqrt_()
        decay, linear = torch.neg(r).exp_(), 1 + r
        correlation = torch.addcmul(linear, r, r, value=1 / 3).mul_(decay)
        return correlation, linear.mul_(decay).mul_(5 / 3)

    def spectrum(self, normal: Float[Tensor, "*w r d"], uniform: Float[Tensor, "*w r 1"]) -> Float[Tensor, "*w r d"]:
        chi2 = 2 * gamma_quantile(2.5, uniform)
        return normal * torch.sqrt(5 / chi2)


KERNELS: Mapping[Kernel, StationaryKernel] = {"se": SquaredExponential(), "matern52": Matern52()}


def squared_distance(x: Float[Tensor, "*#b n d"], z: Float[Tensor, "*#b m d"]) -> Float[Tensor, "*b n m"]:
    """Squared Euclidean distances between two sets of scaled points."""
    norms = x.square().sum(-1)[..., :, None] + z.square().sum(-1)[..., None, :]
    return norms.add_(x @ z.mT, alpha=-2).clamp_(min=0.0)  # in the cache as long as it can be


class Correlations(torch.autograd.Function):
    """Between two sets of scaled points, with the gradient by its formula: a third of the operations.

    The derivative of a correlation by x is its slope times z - x.
    """

    @staticmethod
    def forward(ctx: Any, kernel: Kernel, x: Tensor, z: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        correlation, slope = correlation_and_slope(kernel, squared_distance(x, z))
        ctx.save_for_backward(x, z, slope)
        return correlation

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor | None, Tensor | None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, z, slope = ctx.saved_tensors
        pull = gradient * slope
        by_x = _pulled(pull, x, z) if ctx.needs_input_grad[1] else None
        return None, by_x, _pulled(pull.mT, z, x) if ctx.needs_input_grad[2] else None


def _pulled(pull: Float[Tensor, "*b n m"], x: Float[Tensor, "*#b n d"], z: Float[Tensor, "*#b m d"]) -> Tensor:
    """The sum of pull (z - x) over all z, in the shape of x."""
    return (pull @ z - pull.sum(-1, keepdim=True) * x).sum_to_size(x.shape)


BLOCK = 60_000
"""Entries of a large matrix that are computed at a time on a processor: ten operations on each, all in the cache, take
a third of the time."""


def correlations(kernel: Kernel, x: Float[Tensor, "*#b n d"], z: Float[Tensor, "*#b m d"]) -> Float[Tensor, "*b n m"]:
    """Correlations between two sets of scaled points; differentiable."""
    n, m = x.shape[-2], z.shape[-2]
    if torch.is_grad_enabled() and (x.requires_grad or z.requires_grad):
        return Correlations.apply(kernel, x, z)
    if x.is_cuda or n * m <= 2 * BLOCK:
        return correlation_alone(kernel, squared_distance(x, z))
    b = torch.broadcast_tensors(x[..., 0, 0], z[..., 0, 0])[0].shape
    out = x.new_empty(*b, n, m)
    every = (part.expand(*b, *part.shape[-2:]).reshape(-1, *part.shape[-2:]) for part in (x, z))
    for whole, own, others in zip(out.view(-1, n, m), *every, strict=True):
        for into, some in zip(*(part.split(max(1, BLOCK // m)) for part in (whole, own)), strict=True):
            into.copy_(correlation_alone(kernel, squared_distance(some, others)))
    return out


def lower_correlations(kernel: Kernel, x: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """Correlations of many scaled points with those before them and themselves; what is above them is anything."""
    n = len(x)
    out, rows = x.new_empty(n, n), max(1, BLOCK // n)
    for at in range(0, n, rows):
        end = min(n, at + rows)
        out[at:end, :end] = correlation_alone(kernel, squared_distance(x[at:end], x[:end]))
    return out


def correlation(kernel: Kernel, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Correlation at a squared scaled distance."""
    return KERNELS[kernel].correlation(d2)


def correlation_alone(kernel: Kernel, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Correlation where the distances may be overwritten."""
    return KERNELS[kernel].correlation_alone(d2)


def correlation_and_slope(kernel: Kernel, d2: Float[Tensor, "*b"]) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
    """Correlation and slope in one."""
    return KERNELS[kernel].correlation_and_slope(d2)


def slope(kernel: Kernel, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """-2 times the derivative of the correlation by the squared distance."""
    return KERNELS[kernel].slope(d2)


def bend(kernel: Kernel, d2: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """-2 times the derivative of the slope by the squared distance."""
    return KERNELS[kernel].bend(d2)


def frequencies(kernel: Kernel, count: int, d: int, source: Source) -> Float[Tensor, "*w r d"]:
    """Points of the kernel's spectral density at unit lengthscale.

    Scrambled Sobol points instead of random ones: the features' covariance is then far nearer to the kernel, which
    matters because all draws share them.
    """
    uniform = sobol(d + 1, count, draw_seed(source)).clamp(1e-12, 1 - 1e-12)
    return KERNELS[kernel].spectrum(torch.special.ndtri(uniform[..., :d]), uniform[..., d:])
