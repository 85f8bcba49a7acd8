"""Functions drawn from a Gaussian process posterior: random features of the prior, corrected by the data (METHOD 4.1).

BoTorch's pathwise samples evaluate every draw at every point through a chain of modules; the constrained minimization
of hundreds of draws needs each draw at a point of its own, with its gradient, for all rows in one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.kernel import Kernel, correlation, frequencies, slope, squared_distance

if TYPE_CHECKING:
    from pesky.model.gp import GaussianProcess


@dataclass(frozen=True)
class RandomFeaturePaths:
    """m draws z(x) = mean + amplitude phi(x)^T theta + k(x, X) v, with cosine and sine features of shared frequencies.

    Pairs of cosine and sine make the prior variance exact at every x, whatever the number of frequencies r.
    """

    kernel: Kernel
    inputs: Float[Tensor, "*b j n d"]
    lengthscale: Float[Tensor, "*b j d"]
    amplitude: Float[Tensor, "*b j"]
    prior_mean: Float[Tensor, "*b j"]
    frequency: Float[Tensor, "r d"]
    cosine: Float[Tensor, "*b j m r"]
    sine: Float[Tensor, "*b j m r"]
    correction: Float[Tensor, "*b j m n"]
    """Weights of the data's kernels, times the amplitude."""
    snap: Callable[[Tensor], Tensor] | None
    free: Bool[Tensor, " d"]
    """Dimensions along which the draws vary smoothly."""

    @classmethod
    def draw(cls, gp: GaussianProcess, count: int, features: int, generator: torch.Generator) -> RandomFeaturePaths:
        """`count` draws from the posterior."""
        like, shape = gp.y, tuple(gp.amplitude.shape)

        def normal(*size: int) -> Tensor:
            # Drawn in single precision, at a third of the time: seven digits of a random number are enough.
            return torch.randn(*size, generator=generator, dtype=torch.float32).to(like)

        pairs = features // 2
        frequency = frequencies(gp.kernel, pairs, gp.X.shape[-1], generator).to(like)
        scale = (gp.amplitude / pairs).sqrt()[..., None, None]
        cosine, sine = scale * normal(*shape, count, pairs), scale * normal(*shape, count, pairs)
        phase = gp.scaled_inputs @ frequency.mT
        prior = phase.cos() @ cosine.mT + phase.sin() @ sine.mT
        noise = gp.noise.sqrt()[..., None, None] * normal(*shape, gp.X.shape[-2], count)
        residual = (gp.y - gp.prior_mean[..., None])[..., None] - prior - noise
        residual = torch.where(gp.mask[..., None], residual, 0.0)
        correction = gp.amplitude[..., None, None] * torch.cholesky_solve(residual, gp.root).mT
        d = gp.X.shape[-1]
        if gp.snap is None:
            free = torch.ones(d, dtype=torch.bool, device=like.device)
        else:
            probe = torch.full((1, d), 0.5, dtype=like.dtype, device=like.device, requires_grad=True)
            free = torch.autograd.grad(gp.snap(probe).sum(), probe)[0][0] != 0
        return cls(
            gp.kernel, gp.scaled_inputs, gp.lengthscale, gp.amplitude, gp.prior_mean,
            frequency, cosine, sine, correction, gp.snap, free,
        )  # fmt: skip

    def _scale(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x d"]:
        X = self.snap(X) if self.snap else X
        return (X[..., None, :, :] - 0.5) / self.lengthscale[..., None, :]

    def values(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
        X = self._scale(X)
        phase = self.frequency @ X.mT
        to_data = correlation(self.kernel, squared_distance(self.inputs, X))
        features = torch.cat([phase.cos(), phase.sin(), to_data], -2)
        weights = torch.cat([self.cosine, self.sine, self.correction], -1)
        return self.prior_mean[..., None, None] + weights @ features

    def at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        X = self._scale(X)
        phase = X @ self.frequency.mT
        cos, sin = phase.cos(), phase.sin()
        d2 = squared_distance(X, self.inputs)
        value = (self.cosine * cos + self.sine * sin).sum(-1)
        value = self.prior_mean[..., None] + value + (self.correction * correlation(self.kernel, d2)).sum(-1)
        pull = self.correction * slope(self.kernel, d2)
        gradient = (self.sine * cos - self.cosine * sin) @ self.frequency
        gradient = gradient + pull @ self.inputs - pull.sum(-1, keepdim=True) * X
        return value, torch.where(self.free, gradient / self.lengthscale[..., None, :], 0.0)

    def select(self, index: Int[Tensor, "*b r"]) -> RandomFeaturePaths:
        rows = index[..., None, :, None]

        def take(weights: Tensor) -> Tensor:
            shape = (*weights.shape[:-2], index.shape[-1], weights.shape[-1])
            return torch.gather(weights, -2, rows.expand(shape))

        return RandomFeaturePaths(
            self.kernel, self.inputs, self.lengthscale, self.amplitude, self.prior_mean, self.frequency,
            take(self.cosine), take(self.sine), take(self.correction), self.snap, self.free,
        )  # fmt: skip
