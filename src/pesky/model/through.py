"""Many data by way of some of them: what the others say of the function there (METHOD 10.1).

The values that are kept are believed as they are. Another one is a measurement of what the function at these is
expected to be there, with what they leave open added to its noise, as if that were independent of all others: the fully
independent training conditional (Snelson and Ghahramani 2006), whose inducing points are data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.infer.gaussian import cholesky
from pesky.model.gp import JITTER, GaussianProcess
from pesky.model.hyper import Hyperparameters, covariance_of_data, datum_noise, is_noise_free
from pesky.model.kernel import Kernel, correlation_alone, correlations, squared_distance
from pesky.model.parts import in_parts
from pesky.observations import Observations

EXACT = 2000
"""Values of a row up to which all are believed as they are."""
AT_A_TIME = 2000
"""Others that are heard at once."""
UNSEEN, LEAST_UNSEEN = 1e-6, 1e-11
"""Variance that is added to the function at the kept data, as a share of the noise and of the amplitude, so that what
others say is not of combinations of these that hardly vary."""


@dataclass(frozen=True, kw_only=True)
class WithOthers(GaussianProcess):
    """A Gaussian process of data whose noise is not independent: what others say as well is in it."""

    noise_factor: Float[Tensor, "*b j n n"]
    """F of the covariance F F' of the noise; zero where padded."""

    def _of_rows(self, index: Int[Tensor, " r"]) -> dict[str, Any]:
        return super()._of_rows(index) | {"noise_factor": self.noise_factor.index_select(-3, index)}

    @cached_property
    def root(self) -> Float[Tensor, "*b j n n"]:
        inputs, noiseless = self.scaled_inputs, torch.zeros_like(self.noise)[..., None]
        found = correlation_alone(self.kernel, squared_distance(inputs, inputs))
        prior = covariance_of_data(found, self._there, self.amplitude, noiseless)
        return cholesky(prior + self.noise_factor @ self.noise_factor.mT, self.amplitude, jitter=JITTER)

    @property
    def _noise_of_weights(self) -> Float[Tensor, "*b j n"]:
        of_factor = self.noise_factor @ (self.noise_factor.mT @ self.weights[..., None])
        return of_factor[..., 0] + JITTER * self.amplitude[..., None] * self.weights

    def _drawn_noise(self, normal: Float[Tensor, "*b j n m"]) -> Float[Tensor, "*b j n m"]:
        return self.noise_factor @ normal.to(self.noise_factor)


class _Row(NamedTuple):
    """Some values of one row, and the hyperparameters of that."""

    X: Float[Tensor, "1 n d"]
    y: Float[Tensor, "1 n"]
    mask: Bool[Tensor, "1 n"]
    h: Hyperparameters
    noise: Float[Tensor, "1 _"]


def with_others(belief: GaussianProcess, others: Observations) -> GaussianProcess:
    """What is believed once others of the same rows are heard by way of its data.

    Where data have no noise, others say nothing more of the function there. Nor are yes and no heard.
    """
    h, (*b, rows), n = belief.hyperparameters, belief.amplitude.shape, belief.mask.shape[-1]
    is_heard = belief.likelihoods.is_gaussian.to(h.noise.device) & others.mask.any(-1)
    is_heard = is_heard & ~is_noise_free(h.noise, h.amplitude)
    if not bool(is_heard.any()):
        return belief
    noise = h.noise[..., None] if belief.data_noise is None else belief.data_noise
    of_others = datum_noise(h.noise, h.amplitude, others.relative_noise)
    of_others = h.noise[..., None] if of_others is None else of_others
    y = belief.y.expand(*b, rows, n).clone()
    factor = torch.where(belief.mask, noise.sqrt(), 0.0).diag_embed().expand(*b, rows, n, n).clone()
    each = zip(
        is_heard.flatten().tolist(),
        y.view(-1, n),
        factor.view(-1, n, n),
        in_parts(belief.X, belief.y, belief.mask, h, noise, one=True),
        in_parts(others.X, others.y, others.mask, h, of_others, one=True),
        strict=True,
    )
    for hears, own, its_factor, kept, more in each:
        if hears:
            m = kept[0].shape[-2]
            own[:m], its_factor[:m, :m] = _heard(belief.kernel, _Row(*kept), _Row(*more))
    return WithOthers(
        belief.kernel, belief.X, y, belief.mask, h, belief.snap, belief.kinds, belief.data_noise, noise_factor=factor
    )


def _heard(kernel: Kernel, kept: _Row, others: _Row) -> tuple[Float[Tensor, " n"], Float[Tensor, "n n"]]:
    """What values at the kept points would say as much as these and the others, and a factor of their noise."""
    mean, amplitude = kept.h.mean, kept.h.amplitude
    X, Z = ((part - 0.5) / kept.h.lengthscale[:, None] for part in (kept.X, others.X))
    prior = amplitude * correlations(kernel, X, X)
    root = cholesky(prior, torch.maximum(kept.h.noise, LEAST_UNSEEN / UNSEEN * amplitude), jitter=UNSEEN)[0]
    # with V = L^-1 k(X, Z) and D the noise and what is left open: V D^-1 V' and V D^-1 (y - mean)
    precision, pull = torch.zeros_like(root), torch.zeros_like(kept.y[0])
    spoken = ((others.y - mean)[0], others.noise.expand_as(others.y)[0])
    for at, value, noise in zip(*(part.split(AT_A_TIME) for part in (Z[0], *spoken)), strict=True):
        seen = torch.linalg.solve_triangular(root, amplitude * correlations(kernel, X[0], at), upper=False)
        weighted = seen / (noise + (amplitude - seen.square().sum(0)).clamp(min=0.0))
        precision.addmm_(weighted, seen.mT)
        pull.addmv_(weighted, value)
    by_values = torch.linalg.solve_triangular(root.mT, precision, upper=True)
    by_values = torch.linalg.solve_triangular(root.mT, by_values.mT, upper=True)
    pull = torch.linalg.solve_triangular(root.mT, pull[:, None], upper=True)[:, 0]
    deviation = kept.noise.expand_as(kept.y)[0].sqrt()
    inner = deviation[:, None] * ((by_values + by_values.mT) / 2) * deviation
    unit = torch.eye(len(inner), dtype=inner.dtype, device=inner.device)
    inner = cholesky((unit + inner)[None], torch.ones_like(amplitude), jitter=JITTER)[0]
    factor = deviation[:, None] * torch.linalg.solve_triangular(inner, unit, upper=False).mT
    told = (kept.y - mean)[0] / deviation.square()
    return mean + factor @ (factor.mT @ (pull + told)), factor
