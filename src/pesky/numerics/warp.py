"""Increasing functions of one value, one for each row, that leave zero where it is (METHOD 22).

    w(s) = [arcsinh(a (s - b)) + arcsinh(a b)] sqrt(1 + a^2 b^2) / a         a > 0: compresses what is far from b
    w(s) = [sinh(|a| (s - b)) + sinh(|a| b)] / (|a| cosh(a b))              a < 0: expands it
    t    = w(s) / unit                                                      a = 0: w(s) = s

w(0) = 0 and w'(0) = 1 whatever a and b are, and w is the identity in the limit of a -> 0. Far from b, arcsinh is a
logarithm on either side. The unit makes warped values about one in size.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

STEEPEST = 40.0
"""The largest argument of sinh: 1e17, further than any value is."""
NODES, WEIGHTS = (torch.from_numpy(part) for part in np.polynomial.hermite_e.hermegauss(48))
"""Gauss and Hermite's, for expectations over a standard normal; they reach 12 deviations, so that the square of a
log-normal of deviation 3 has three digits."""


class Warp(NamedTuple):
    """The parameters of each row's function; leading dimensions are studies in lockstep."""

    strength: Float[Tensor, "*w J"]
    """a."""
    shift: Float[Tensor, "*w J"]
    """b."""
    unit: Float[Tensor, "*w J"]
    reference: Float[Tensor, "*w J"]
    """The value where the noise of a row is stated: it is constant in the outcome's own units, and so nowhere else."""

    @classmethod
    def identity(cls, like: Float[Tensor, "*w J"]) -> "Warp":
        """That of rows which stay as they are."""
        return cls(torch.zeros_like(like), torch.zeros_like(like), torch.ones_like(like), torch.zeros_like(like))

    def select(self, rows: Bool[Tensor, " J"]) -> "Warp":
        """Those of these rows."""
        return Warp(*(part[..., rows] for part in self))

    def spread(self, rows: Bool[Tensor, " J"]) -> "Warp":
        """The same for more rows: these are those of `rows`, and the others stay as they are."""
        whole = Warp.identity(self.unit.new_zeros(*self.unit.shape[:-1], len(rows)))
        for part, own in zip(whole, self, strict=True):
            part[..., rows] = own
        return whole

    def of_row(self, row: int) -> "Warp":
        """That of one row, for values of any shape."""
        return Warp(*(part[..., row] for part in self))

    def along_data(self) -> "Warp":
        """The same for the values (*w J n) of all rows."""
        return Warp(*(part[..., None] for part in self))

    def apply(self, values: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
        """Warped values, of the same sign."""
        return _with_sign_of(values, warped(values, self.strength, self.shift) / self.unit)

    def invert(self, warps: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
        """The values whose warped ones these are."""
        a, b = self.strength, self.shift
        x = _safe(a)
        w = warps * self.unit
        stretched = b + torch.sinh((x * w / (1 + (a * b).square()).sqrt() - torch.asinh(x * b)).clamp(-300, 300)) / x
        squeezed = b + torch.asinh(x * torch.cosh(x * b) * w - torch.sinh(x * b)) / x
        s = torch.where(a > 0, stretched, torch.where(a < 0, squeezed, w))
        return _with_sign_of(warps, s)

    def slope(self, values: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
        """Derivative of the warped value by the value."""
        return log_slope(values, self.strength, self.shift).exp() / self.unit


def warped(s: Float[Tensor, "*#b"], a: Float[Tensor, "*#b"], b: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
    """w(s); differentiable by a (away from zero) and b."""
    x = _safe(a)
    compressed = (torch.asinh(x * (s - b)) + torch.asinh(x * b)) * (1 + (x * b).square()).sqrt() / x
    argument = (x * (s - b)).clamp(-STEEPEST, STEEPEST)
    expanded = (torch.sinh(argument) + torch.sinh(x * b)) / (x * torch.cosh(x * b))
    return torch.where(a > 0, compressed, torch.where(a < 0, expanded, s))


def log_slope(s: Float[Tensor, "*#b"], a: Float[Tensor, "*#b"], b: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
    """Log w'(s)."""
    x = _safe(a)
    compressed = 0.5 * (torch.log1p((x * b).square()) - torch.log1p((x * (s - b)).square()))
    argument = (x * (s - b)).clamp(-STEEPEST, STEEPEST)
    expanded = torch.cosh(argument).log() - torch.cosh(x * b).log()
    return torch.where(a > 0, compressed, torch.where(a < 0, expanded, torch.zeros_like(s)))


def expectation(
    function: Callable[[Tensor], Tensor], mean: Float[Tensor, "*b"], variance: Float[Tensor, "*b"]
) -> Float[Tensor, "*b"]:
    """That of an increasing function of a normal variable, by Gauss-Hermite quadrature."""
    nodes, weights = NODES.to(mean), (WEIGHTS / WEIGHTS.sum()).to(mean)
    nodes, weights = (part.view(-1, *(1,) * mean.dim()) for part in (nodes, weights))
    return (weights * function(mean + variance.sqrt() * nodes)).sum(0)


def _safe(a: Tensor) -> Tensor:
    """|a|, and 1 where it is zero, so that no branch divides by it."""
    return torch.where(a == 0, torch.ones_like(a), a.abs())


def _with_sign_of(values: Tensor, rounded: Tensor) -> Tensor:
    """What was computed, on the same side of zero as the values: rounding may have moved what is close to it."""
    least = torch.finfo(rounded.dtype).tiny
    rounded = torch.where((values < 0) & (rounded >= 0), -least, rounded)
    return torch.where((values >= 0) & (rounded < 0), 0.0, rounded)
