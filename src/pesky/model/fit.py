"""Hyperparameters by maximum penalized likelihood: all rows and starts in one batched minimization."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model.evidence import marginal_likelihood, profile_likelihood
from pesky.model.hyper import Hyperparameters, noise_variance, typical_amplitude
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior, prior_precision
from pesky.numerics import newton
from pesky.observations import evenly

CLOSE, CLOSE_AGAIN = 0.01, 0.03
"""Nats that a search may expect to be short of its maximum when it ends; and one that goes on from where the last one
ended, as the next one will."""
STEPS = 20
FIRST_DATA, MANY_DATA = 128, 192
"""Of a row with many values the search from all starts sees so many, evenly chosen: they tell which maximum is the
highest. It goes on from there with all."""


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
) -> tuple[Float[Tensor, "s j"], Float[Tensor, "s j p"], Float[Tensor, "s j p p"]]:
    """Log likelihood, at the best constant mean, plus log prior at p (see `unpack`), and its derivatives.

    First the gradient, then about minus the second ones, which are positive definite. `typical` is where the prior of
    each amplitude is centered.
    """
    h, infer_noise = unpack(p, noise), torch.isnan(noise)
    e = marginal_likelihood(kernel, X, y, mask, h, is_informed=True)
    prior, by_prior = log_prior(h, infer_noise, typical)
    by_noise = torch.where(infer_noise, e.by_log_noise, 0.0)
    by_data = torch.cat([e.by_log_lengthscale, e.by_log_amplitude[..., None], by_noise[..., None]], -1)
    free = torch.ones_like(by_data)
    free[..., -1] = infer_noise
    curvature = free[..., :, None] * e.information * free[..., None, :] + prior_precision(h, infer_noise).diag_embed()
    return e.log_likelihood + prior, by_data + by_prior, curvature


def maximize(
    kernel: Kernel,
    X: Float[Tensor, "*w j n d"],
    y: Float[Tensor, "*w j n"],
    mask: Bool[Tensor, "*w j n"],
    noise: Float[Tensor, "*w j"],
    previous: Hyperparameters | None = None,
    steps: int = STEPS,
    *,
    least_noise: Float[Tensor, "*w j"] | None = None,
    is_sure: bool = False,
) -> Hyperparameters:
    """The best hyperparameters of every row from two starts and the previous ones (METHOD 10).

    `noise` is the given noise variance, NaN where it is to be inferred, and then `least_noise` at the least. If
    `is_sure`, from the previous ones alone.
    """
    *w, j, n, d = X.shape
    # The rows of all studies are rows, with starts before them.
    rows = math.prod(w) * j
    X, y, mask, noise = X.reshape(rows, n, d), y.reshape(rows, n), mask.reshape(rows, n), noise.reshape(rows)
    typical = typical_amplitude(y, mask)
    least = None if least_noise is None else least_noise.reshape(rows)
    lower, upper = log_bounds(d, typical, least)

    def start(lengthscale: float, log_noise: float) -> Tensor:
        own = X.new_full((rows, d + 2), math.log(lengthscale * math.sqrt(d)))
        own[:, d], own[:, d + 1] = typical.log(), log_noise
        return own

    def start_at(h: Hyperparameters) -> Tensor:
        parts = (h.lengthscale.log(), h.amplitude.log()[..., None], h.noise.log()[..., None])
        return torch.cat(parts, -1).view(rows, d + 2)

    starts = [] if previous is None else [start_at(previous)]
    if not starts or not is_sure:
        if n > MANY_DATA:
            some = evenly(mask, FIRST_DATA)
            few = (
                torch.gather(X, -2, some[..., None].expand(*some.shape, d)),
                y.gather(-1, some),
                mask.gather(-1, some),
            )
            starts.insert(0, start_at(maximize(kernel, *few, noise, steps=steps, least_noise=least)))
        else:
            starts = [start(0.25, -8.0), start(1.0, -4.0), *starts]

    def evaluate(p: Tensor, which: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        row = which % rows
        value, gradient, curvature = objective(kernel, X[row], y[row], mask[row], noise[row], typical[row], p[None])
        return -value[0], -gradient[0], curvature[0]

    count = len(starts)
    tolerance = CLOSE_AGAIN if is_sure or n > MANY_DATA else CLOSE
    boxes = lower.repeat(count, 1), upper.repeat(count, 1)
    found = newton.minimize(evaluate, torch.cat(starts), *boxes, steps=steps, tolerance=tolerance, rivals=count)
    best = torch.where(torch.isfinite(found.values), found.values, torch.inf).view(-1, rows).argmin(0)
    chosen = found.x.view(-1, rows, d + 2)[best, torch.arange(rows, device=X.device)]
    h = unpack(chosen[None], noise)
    h = h._replace(mean=profile_likelihood(kernel, X, y, mask, h).mean)
    return Hyperparameters(*(part[0].view(*w, j, *part.shape[2:]) for part in h))
