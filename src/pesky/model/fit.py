"""Hyperparameters by maximum penalized likelihood: all rows and starts in one batched minimization."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model.hyper import (
    Hyperparameters,
    marginal_likelihood,
    noise_variance,
    profile_likelihood,
    typical_amplitude,
)
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior
from pesky.numerics import sqp
from pesky.observations import evenly

STALLED, PATIENCE = 1e-3, 5
"""A search ends that gained less than so many nats in so many steps."""
STALLED_AGAIN, PATIENCE_AGAIN = 0.03, 3
"""The same of one that goes on from where the last one ended, as the next one will."""
BEHIND, FIRST_STEPS = 2.0, 6
"""A start is given up that is so many nats behind the best one of its row after some steps, and more than three times
what it gained in its last ones."""


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
    *,
    is_sure: bool = False,
) -> Hyperparameters:
    """The best hyperparameters of every row from two starts and the previous ones (METHOD 10).

    `noise` is the given noise variance, NaN where it is to be inferred. If `is_sure`, from the previous ones alone.
    """
    *w, j, n, d = X.shape
    # The rows of all studies are rows, with starts before them.
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

    def start_at(h: Hyperparameters) -> Tensor:
        parts = (h.lengthscale.log(), h.amplitude.log()[..., None], h.noise.log()[..., None])
        return torch.cat(parts, -1).view(rows, d + 2) - unit

    starts = [] if previous is None else [start_at(previous)]
    if not starts or not is_sure:
        if n > MANY_DATA:
            some = evenly(mask, FIRST_DATA)
            few = (
                torch.gather(X, -2, some[..., None].expand(*some.shape, d)),
                y.gather(-1, some),
                mask.gather(-1, some),
            )
            starts.insert(0, start_at(maximize(kernel, *few, noise, steps=steps)))
        else:
            starts = [start(0.25, -8.0), start(1.0, -4.0), *starts]

    def evaluate(p: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        row = which % rows
        here = (p + unit[row])[None]
        value, gradient = objective(kernel, X[row], y[row], mask[row], noise[row], typical[row], here)
        return -value.view(-1, 1), -gradient.view(-1, 1, d + 2)

    first = torch.stack(starts).flatten(0, 1).clamp(lower, upper)
    found = sqp.minimize(
        evaluate,
        first,
        lower,
        upper,
        radius=0.12,
        steps=steps,
        tolerance=1e-6,
        worthwhile=Promising(len(starts), is_sure or n > MANY_DATA),
    )
    best = torch.where(torch.isfinite(found.values), found.values, torch.inf).view(-1, rows).argmin(0)
    chosen = found.x.view(-1, rows, d + 2)[best, torch.arange(rows, device=X.device)] + unit
    h = unpack(chosen[None], noise)
    h = h._replace(mean=profile_likelihood(kernel, X, y, mask, h).mean)
    return Hyperparameters(*(part[0].view(*w, j, *part.shape[2:]) for part in h))


class Promising:
    """Whether each of several searches for the same maximum still gains, and may still be the best; see `STALLED`."""

    def __init__(self, starts: int, goes_on: bool) -> None:
        self._starts = starts
        self._stalled, self._patience = (STALLED_AGAIN, PATIENCE_AGAIN) if goes_on else (STALLED, PATIENCE)
        self._before: list[Tensor] = []

    def __call__(self, values: Float[Tensor, "b 1"], step: int) -> Bool[Tensor, " b"]:
        self._before.append(values[:, 0])
        gain = torch.full_like(values[:, 0], torch.inf)
        if len(self._before) > self._patience:
            gain = self._before[-1 - self._patience] - values[:, 0]
        goes_on = ~(gain < self._stalled)
        if step < FIRST_STEPS or self._starts == 1:
            return goes_on
        of_row = values.view(self._starts, -1)
        behind = (of_row - of_row.amin(0)).flatten()
        return goes_on & ~((behind > BEHIND) & (behind > 3 * gain))
