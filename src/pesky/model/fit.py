"""Hyperparameters by maximum penalized likelihood: all rows and starts in one batched minimization."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model.hyper import (
    Hyperparameters,
    marginal_likelihood,
    noise_variance,
    typical_amplitude,
)
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior
from pesky.numerics import sqp


def unpack(p: Float[Tensor, "s j p"], noise: Float[Tensor, " j"]) -> Hyperparameters:
    """Hyperparameters from (log lengthscales, log amplitude, log noise); a given noise stays as it is."""
    amplitude = p[..., -2].exp()
    s2 = noise_variance(p[..., -1], amplitude, noise)
    return Hyperparameters(p[..., :-2].exp(), amplitude, s2, torch.zeros_like(amplitude))


def objective(
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    noise: Float[Tensor, " j"],
    typical: Float[Tensor, " j"],
    p: Float[Tensor, "s j p"],
) -> tuple[Float[Tensor, "s j"], Float[Tensor, "s j p"]]:
    """Log likelihood, at the best constant mean, plus log prior at p (see `unpack`), and its gradient.

    `typical` is where the prior of each amplitude is centered.
    """
    h, infer_noise = unpack(p, noise), torch.isnan(noise)
    e = marginal_likelihood(kernel, X, y, mask, h)
    prior, by_prior = log_prior(h, infer_noise, typical)
    by_noise = torch.where(infer_noise, e.by_log_noise, 0.0)
    by_data = torch.cat([e.by_log_lengthscale, e.by_log_amplitude[..., None], by_noise[..., None]], -1)
    return e.log_likelihood + prior, by_data + by_prior


def maximize(
    kernel: Kernel,
    X: Float[Tensor, "*w j n d"],
    y: Float[Tensor, "*w j n"],
    mask: Bool[Tensor, "*w j n"],
    noise: Float[Tensor, "*w j"],
    previous: Hyperparameters | None = None,
    steps: int = 20,
) -> Hyperparameters:
    """The best hyperparameters of every row from two starts and the previous ones (METHOD 10).

    `noise` is the given noise variance, NaN where it is to be inferred.
    """
    *w, j, n, d = X.shape
    # The rows of all studies are rows, with starts before them; those of a study end together.
    rows = math.prod(w) * j
    X, y, mask, noise = X.reshape(rows, n, d), y.reshape(rows, n), mask.reshape(rows, n), noise.reshape(rows)
    typical = typical_amplitude(y, mask)
    # the search has one box for all rows: amplitudes in it are relative to the typical one of each
    lower, upper = log_bounds(d, X.new_ones(()))
    unit = X.new_zeros(rows, d + 2)
    unit[:, d] = typical.log()

    def start(lengthscale: float, log_noise: float) -> Tensor:
        values = [math.log(lengthscale * math.sqrt(d))] * d + [0.0, log_noise]
        return torch.tensor(values, dtype=X.dtype, device=X.device).expand(rows, d + 2)

    starts = [start(0.25, -8.0), start(1.0, -4.0)]
    if previous is not None:
        last = (previous.lengthscale.log(), previous.amplitude.log()[..., None], previous.noise.log()[..., None])
        starts.append(torch.cat(last, -1).view(rows, d + 2) - unit)
    study = torch.arange(rows, device=X.device).div(j, rounding_mode="floor").repeat(len(starts))

    def evaluate(p: Tensor) -> tuple[Tensor, Tensor]:
        value, gradient = objective(kernel, X, y, mask, noise, typical, p.view(-1, rows, d + 2) + unit)
        return -value.view(-1, 1), -gradient.view(-1, 1, d + 2)

    first = torch.stack(starts).flatten(0, 1).clamp(lower, upper)
    found = sqp.minimize(evaluate, first, lower, upper, radius=0.12, steps=steps, tolerance=1e-4, group=study)
    best = torch.where(torch.isfinite(found.values), found.values, torch.inf).view(-1, rows).argmin(0)
    chosen = found.x.view(-1, rows, d + 2)[best, torch.arange(rows, device=X.device)] + unit
    h = unpack(chosen[None], noise)
    h = h._replace(mean=marginal_likelihood(kernel, X, y, mask, h).mean)
    return Hyperparameters(*(part[0].view(*w, j, *part.shape[2:]) for part in h))
