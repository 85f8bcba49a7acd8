"""Hyperparameters of yes/no rows by maximum penalized evidence, as `fit` has them for numbers."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.likelihood.probit import YES_NO_NOISE
from pesky.model.binary import Sites, evidence
from pesky.model.fit import LOG_LENGTHSCALE, log_penalty
from pesky.model.hyper import Hyperparameters
from pesky.model.kernel import Kernel
from pesky.numerics import sqp

TYPICAL_AMPLITUDE = 4.0
"""Two deviations of the latent function are then a probability of 0.98 in the middle: it can be nearly sure."""
MEAN_DEVIATION = 1.0
"""Of the constant mean's prior around zero: before there are data, yes and no are as likely."""
LOG_AMPLITUDE = (math.log(0.04), math.log(400.0))
MEAN = (-5.0, 5.0)
TOLERANCE = 1e-4
"""Of EP while fitting, in units of the posterior. The evidence is stationary in the sites, so its error is of the order
of the square of that; 1e-6 finds the same maxima to four digits in twice the time."""


def objective(
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    p: Float[Tensor, "s j p"],
    start: Sites | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[Float[Tensor, "s j"], Float[Tensor, "s j p"], Sites]:
    """Log evidence plus log prior at p = (log lengthscales, log amplitude, mean), its gradient, and EP's sites."""
    h = unpack(p)
    e = evidence(kernel, X, y, mask, h, start, tolerance)
    typical = torch.full_like(h.amplitude[0], TYPICAL_AMPLITUDE)
    penalty, by_penalty = log_penalty(h, torch.zeros_like(typical, dtype=torch.bool), typical)
    z = h.mean / MEAN_DEVIATION
    by_data = torch.cat([e.by_log_lengthscale, torch.stack([e.by_log_amplitude, e.by_mean], -1)], -1)
    by_penalty = torch.cat([by_penalty[..., :-1], -z[..., None] / MEAN_DEVIATION], -1)
    return e.log_z + penalty - 0.5 * z.square(), by_data + by_penalty, e.sites


def unpack(p: Float[Tensor, "*b p"]) -> Hyperparameters:
    """Hyperparameters from (log lengthscales, log amplitude, mean)."""
    amplitude = p[..., -2].exp()
    return Hyperparameters(p[..., :-2].exp(), amplitude, torch.full_like(amplitude, YES_NO_NOISE), p[..., -1])


def maximize(
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    previous: Hyperparameters | None = None,
    steps: int = 20,
) -> Hyperparameters:
    """The best hyperparameters of every row from a few starts, the previous ones among them; y is +1 and -1."""
    rows, _, d = X.shape

    def start(lengthscale: float) -> Tensor:
        values = [math.log(lengthscale * math.sqrt(d))] * d + [math.log(TYPICAL_AMPLITUDE), 0.0]
        return torch.tensor(values, dtype=X.dtype, device=X.device).expand(rows, d + 2)

    starts = [start(0.25), start(1.0)]
    if previous is not None:
        log_amplitude, mean = previous.amplitude.log()[..., None], previous.mean[..., None]
        starts.append(torch.cat([previous.lengthscale.log(), log_amplitude, mean], -1))
    bounds = torch.tensor([LOG_LENGTHSCALE] * d + [LOG_AMPLITUDE, MEAN], dtype=X.dtype, device=X.device)
    first = torch.stack(starts).flatten(0, 1).clamp(bounds[:, 0], bounds[:, 1])
    sites: Sites | None = None

    def evaluate(p: Tensor) -> tuple[Tensor, Tensor]:
        # One trial's sites are a good start for the next: its hyperparameters are near.
        nonlocal sites
        value, gradient, sites = objective(kernel, X, y, mask, p.view(-1, rows, d + 2), sites)
        return -value.view(-1, 1), -gradient.view(-1, 1, d + 2)

    found = sqp.minimize(evaluate, first, bounds[:, 0], bounds[:, 1], radius=0.12, steps=steps, tolerance=1e-4)
    best = found.values.view(-1, rows).argmin(0)
    return unpack(found.x.view(-1, rows, d + 2)[best, torch.arange(rows, device=X.device)])
