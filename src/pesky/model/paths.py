"""Functions drawn from a Gaussian process posterior: random features of the prior, corrected by the data (METHOD 4.1).

BoTorch's pathwise samples evaluate every draw at every point through a chain of modules; the constrained minimization
of hundreds of draws needs each draw at a point of its own, with its gradient, for all rows in one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.kernel import Kernel, correlation_and_slope, correlations, squared_distance
from pesky.numerics.product import product

SINGLE, ROUGH = torch.float32, 1e-4
"""The precision of a look from afar, where its errors are certainly below so many prior deviations."""


@dataclass(frozen=True)
class RandomFeaturePaths:
    """m draws z(x) = mean + phi(x)^T theta + k(x, X) v, with cosine and sine features of shared frequencies.

    Pairs of cosine and sine make the prior variance exact at every x, whatever the number of frequencies r.
    """

    kernel: Kernel
    inputs: Float[Tensor, "*b j n d"]
    lengthscale: Float[Tensor, "*b j d"]
    prior_mean: Float[Tensor, "*b j"]
    frequency: Float[Tensor, "*#f r d"]
    cosine: Float[Tensor, "*b j m r"]
    sine: Float[Tensor, "*b j m r"]
    correction: Float[Tensor, "*b j m n"]
    """Weights of the data's kernels, times the amplitude."""
    snap: Callable[[Tensor], Tensor] | None
    free: Bool[Tensor, " d"]
    """Dimensions along which the draws vary smoothly."""

    def _scale(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x d"]:
        X = self.snap(X) if self.snap else X
        return (X[..., None, :, :] - 0.5) / self.lengthscale[..., None, :]

    def values(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
        return self._values(X, X.dtype)

    def roughly(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
        return self._values(X, self._rough_dtype)

    def at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        return self._at(X, self)

    def roughly_at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        return self._at(X, self._rounded)

    @cached_property
    def _rough_dtype(self) -> torch.dtype:
        return SINGLE if self._largest_sum * torch.finfo(SINGLE).eps < ROUGH else self.cosine.dtype

    @cached_property
    def _rounded(self) -> RandomFeaturePaths:
        """The same with weights in the precision of a look from afar."""
        names = ("frequency", "inputs", "cosine", "sine", "correction")
        return replace(self, **{name: getattr(self, name).to(self._rough_dtype) for name in names})

    @cached_property
    def _largest_sum(self) -> float:
        """Of the weights of a draw's features, which are within 1, in prior deviations: it bounds rounding errors."""
        weights = (self.cosine, self.sine, self.correction)
        total = torch.stack([each.abs().sum(-1).amax(-1) for each in weights]).sum(0)
        # cosine and sine have half of the variance each
        return float((total / self.cosine.square().sum(-1).mean(-1).clamp(min=1e-300).sqrt()).max())

    def _values(self, X: Float[Tensor, "*b x d"], dtype: torch.dtype) -> Float[Tensor, "*b j m x"]:
        X = self._scale(X)
        phase = (self.frequency @ X.mT).to(dtype)
        to_data = correlations(self.kernel, self.inputs, X)
        features = torch.cat([phase.cos(), phase.sin(), to_data.to(dtype)], -2)
        weights = torch.cat([each.to(dtype) for each in (self.cosine, self.sine, self.correction)], -1)
        return product(weights, features).add_(self.prior_mean[..., None, None].to(dtype))

    def _at(
        self, X: Float[Tensor, "*b m d"], weights: RandomFeaturePaths
    ) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        """As `at`, in the precision of these weights; phases and distances, whose digits may cancel, in that of X."""
        cosine, sine, correction, X = weights.cosine, weights.sine, weights.correction, self._scale(X)
        phase = (X @ self.frequency.mT).to(cosine)
        cos, sin = phase.cos(), phase.sin()
        to_data, pull = correlation_and_slope(self.kernel, squared_distance(X, self.inputs).to(cosine))
        value = (cosine * cos).addcmul_(sine, sin).sum(-1) + to_data.mul_(correction).sum(-1)
        pull = pull.mul_(correction)
        gradient = cos.mul_(sine).addcmul_(cosine, sin, value=-1) @ weights.frequency
        gradient = gradient + pull @ weights.inputs - pull.sum(-1, keepdim=True) * X
        value = self.prior_mean[..., None] + value
        return value, torch.where(self.free, gradient / self.lengthscale[..., None, :], 0.0)

    def select(self, index: Int[Tensor, "*b r"]) -> RandomFeaturePaths:
        rows = index[..., None, :, None]

        def take(weights: Tensor) -> Tensor:
            shape = (*weights.shape[:-2], index.shape[-1], weights.shape[-1])
            return torch.gather(weights, -2, rows.expand(shape))

        some = replace(self, cosine=take(self.cosine), sine=take(self.sine), correction=take(self.correction))
        if "_largest_sum" in vars(self):
            vars(some)["_largest_sum"] = self._largest_sum  # which bounds those of some, too
        return some

    def replaced(self, which: Bool[Tensor, " w"], others: RandomFeaturePaths) -> RandomFeaturePaths:
        """These, with the ones of some of the studies in lockstep replaced."""

        def merge(name: str) -> Tensor:
            whole = getattr(self, name).clone()
            whole[which] = getattr(others, name)
            return whole

        return replace(self, **{name: merge(name) for name in ("frequency", "cosine", "sine", "correction")})
