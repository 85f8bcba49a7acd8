"""Rows whose likelihood is not Gaussian: hyperparameters by maximum penalized evidence, and what EP makes of the data.

The evidence is that of expectation propagation (`infer.latent`); `fit` has the same for numbers.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import Sites
from pesky.infer.latent import LatentPrior, run
from pesky.likelihood.base import LatentLikelihood
from pesky.model.evidence import by_kernel
from pesky.model.hyper import Hyperparameters, without_padding
from pesky.model.kernel import Kernel, correlation_and_slope, squared_distance
from pesky.model.prior import LOG_LENGTHSCALE, log_prior
from pesky.numerics import sqp

MOST_NOISE = 1e8
"""Noise variance of a measurement that says nothing, in units of the amplitude: a site of zero precision would have
an infinite one. It takes a share of 1e-8 of the variance away."""
TYPICAL_AMPLITUDE = 4.0
"""Two deviations of the latent function are then a probability of 0.98 in the middle: it can be nearly sure."""
MEAN_DEVIATION = 1.0
"""Of the constant mean's prior around zero: before there are data, yes and no are as likely."""
LOG_AMPLITUDE = (math.log(0.04), math.log(400.0))
MEAN = (-5.0, 5.0)
STEEP = 100.0
"""How many times as steep the latent function is where the answer is the same every time: hardly anywhere is a point
where both are to be expected, and which of them it is depends on what is not known of the function alone."""
LESS_PROBABLE = 1.0
"""Nats by which the answers must speak for it where nobody said so."""
TOLERANCE = 1e-4
"""Of EP while fitting, in units of the posterior. The evidence is stationary in the sites, so its error is of the order
of the square of that; 1e-6 finds the same maxima to four digits in twice the time."""


class LatentEvidence(NamedTuple):
    """EP's log evidence and its derivatives, by the logs of lengthscales and amplitude and by the mean."""

    log_z: Float[Tensor, "*b j"]
    by_log_lengthscale: Float[Tensor, "*b j d"]
    by_log_amplitude: Float[Tensor, "*b j"]
    by_mean: Float[Tensor, "*b j"]
    sites: Sites


def evidence(
    likelihood: LatentLikelihood,
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    h: Hyperparameters,
    start: Sites | None = None,
    tolerance: float = 1e-8,
) -> LatentEvidence:
    """Log probability of the measurements, with analytic derivatives.

    At EP's fixed point they are those of the Gaussian evidence at fixed sites (R&W 5.27): log Z is stationary in them.
    """
    scaled = (X - 0.5) / h.lengthscale[..., None, :]
    correlations, slopes = correlation_and_slope(kernel, squared_distance(scaled, scaled))
    covariance = without_padding(h.amplitude[..., None, None] * correlations, mask)
    told = torch.where(mask, y, 0.0).expand(covariance.shape[:-1])
    prior = LatentPrior(covariance, h.mean, mask.expand(covariance.shape[:-1]))
    posterior = run(prior, lambda mean, variance: likelihood.tilt(told, mean, variance), start, tolerance)
    sites = posterior.sites
    solved = sites.nu - sites.tau * posterior.q.mean
    half = sites.tau.sqrt()
    inverse = half[..., :, None] * torch.cholesky_inverse(posterior.q.root) * half[..., None, :]
    sensitivity = solved[..., :, None] * solved[..., None, :] - inverse
    by_lengthscale, by_amplitude = by_kernel(scaled, sensitivity, correlations, slopes, h.amplitude)
    return LatentEvidence(posterior.log_z, by_lengthscale, by_amplitude, solved.sum(-1), sites)


def pseudo_measurements(
    likelihood: LatentLikelihood,
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    h: Hyperparameters,
) -> tuple[Float[Tensor, "*b j n"], Float[Tensor, "*b j n"]]:
    """Values and noise variances that, measured, give the latent functions EP's posterior."""
    tau, nu = evidence(likelihood, kernel, X, y, mask, h).sites
    precision = torch.maximum(tau, 1 / (MOST_NOISE * h.amplitude[..., None]))
    return torch.where(mask, h.mean[..., None] + nu / precision, 0.0), 1 / precision


def objective(
    likelihood: LatentLikelihood,
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    p: Float[Tensor, "s j p"],
    steepness: Float[Tensor, "*#s j"],
    start: Sites | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[Float[Tensor, "s j"], Float[Tensor, "s j p"], Sites]:
    """Log evidence plus log prior at p (see `unpack`), its gradient, and EP's sites."""
    h = unpack(likelihood, p, steepness)
    e = evidence(likelihood, kernel, X, y, mask, h, start, tolerance)
    typical = TYPICAL_AMPLITUDE * steepness.square()
    penalty, by_penalty = log_prior(h, torch.zeros_like(typical, dtype=torch.bool), typical)
    z = p[..., -1] / MEAN_DEVIATION
    by_data = torch.cat([e.by_log_lengthscale, torch.stack([e.by_log_amplitude, steepness * e.by_mean], -1)], -1)
    by_penalty = torch.cat([by_penalty[..., :-1], -z[..., None] / MEAN_DEVIATION], -1)
    return e.log_z + penalty - 0.5 * z.square(), by_data + by_penalty, e.sites


def unpack(
    likelihood: LatentLikelihood, p: Float[Tensor, "*b j p"], steepness: Float[Tensor, "*#b j"]
) -> Hyperparameters:
    """Hyperparameters from (log lengthscales, log amplitude, mean), the last two of functions of steepness 1."""
    square = steepness.square()
    noise = (likelihood.fixed_noise * square).expand(p.shape[:-1])
    return Hyperparameters(p[..., :-2].exp(), square * p[..., -2].exp(), noise, steepness * p[..., -1])


def maximize(
    likelihood: LatentLikelihood,
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    previous: Hyperparameters | None = None,
    steps: int = 20,
    is_same: Bool[Tensor, " j"] | None = None,
) -> Hyperparameters:
    """The best hyperparameters of every row from a few starts, the previous ones among them.

    `is_same` are the rows that are known to be answered the same every time that they are asked at a point; of the
    others their answers decide.
    """
    rows, _, d = X.shape
    is_same = torch.zeros(rows, dtype=torch.bool, device=X.device) if is_same is None else is_same
    declared = torch.where(is_same, STEEP, 1.0).to(X)

    def start(lengthscale: float) -> Tensor:
        values = [math.log(lengthscale * math.sqrt(d))] * d + [math.log(TYPICAL_AMPLITUDE), 0.0]
        return torch.tensor(values, dtype=X.dtype, device=X.device).expand(rows, d + 2)

    starts = [(start(0.25), declared), (start(1.0), declared)]
    if not bool(is_same.all()):
        steep = torch.full_like(declared, STEEP)
        starts += [(start(0.25), steep), (start(1.0), steep)]
    if previous is not None:
        own = (previous.noise / likelihood.fixed_noise).sqrt()
        log_amplitude, mean = (previous.amplitude / own.square()).log(), previous.mean / own
        starts.append((torch.cat([previous.lengthscale.log(), torch.stack([log_amplitude, mean], -1)], -1), own))
    bounds = torch.tensor([LOG_LENGTHSCALE] * d + [LOG_AMPLITUDE, MEAN], dtype=X.dtype, device=X.device)
    first = torch.stack([p for p, _ in starts]).flatten(0, 1).clamp(bounds[:, 0], bounds[:, 1])
    steepness = torch.stack([each for _, each in starts])
    sites: Sites | None = None

    def evaluate(p: Tensor) -> tuple[Tensor, Tensor]:
        # One trial's sites are a good start for the next: its hyperparameters are near.
        nonlocal sites
        value, gradient, sites = objective(likelihood, kernel, X, y, mask, p.view(-1, rows, d + 2), steepness, sites)
        return -value.view(-1, 1), -gradient.view(-1, 1, d + 2)

    found = sqp.minimize(evaluate, first, bounds[:, 0], bounds[:, 1], radius=0.12, steps=steps, tolerance=1e-4)
    loss = found.values.view(-1, rows) + torch.where(steepness > declared, LESS_PROBABLE, 0.0)
    best, row = loss.argmin(0), torch.arange(rows, device=X.device)
    return unpack(likelihood, found.x.view(-1, rows, d + 2)[best, row], steepness[best, row])
