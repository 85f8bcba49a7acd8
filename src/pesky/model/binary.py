"""The latent function behind a yes or no, as a Gaussian: expectation propagation with a probit likelihood.

An answer y = +1 or -1 at x has the probability Phi(y z(x)), z a Gaussian process. EP (Rasmussen & Williams 2006, 3.6)
puts a Gaussian site exp(-tau g^2 / 2 + nu g) in the place of each of these factors, where g = z - prior mean. Such a
site is a measurement of z with a noise of its own, so that the belief of numbers serves yes/no rows too.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf, truncation
from pesky.model.hyper import Hyperparameters, by_kernel, without_padding
from pesky.model.kernel import Kernel, correlation, squared_distance

MOST_NOISE = 1e8
"""Noise variance of a measurement that says nothing, in units of the amplitude: a site of zero precision would have
an infinite one. It takes a share of 1e-8 of the variance away."""
LEAST_DAMPING = 0.01
MAX_ITERATIONS = 200


class Sites(NamedTuple):
    """Natural parameters of the site approximations, of the latent values minus their prior mean; 0 <= tau <= 1."""

    tau: Float[Tensor, "*b n"]
    nu: Float[Tensor, "*b n"]


class Gaussian(NamedTuple):
    """Prior times sites: marginals of the latent values minus their prior mean, and chol(I + sqrt(T) K sqrt(T))."""

    mean: Float[Tensor, "*b n"]
    variance: Float[Tensor, "*b n"]
    root: Float[Tensor, "*b n n"]


class Answers(NamedTuple):
    """What EP works on: the prior covariance, and the signs +1 and -1 of the answers; both are zero where padded."""

    covariance: Float[Tensor, "*b n n"]
    mean: Float[Tensor, "*b"]
    sign: Float[Tensor, "*b n"]


class Match(NamedTuple):
    sites: Sites
    """Those whose product with their cavities has the moments of the exact factors."""
    log_z: Float[Tensor, "*b n"]
    """Of each factor and its site, the share of the evidence that is their own."""


class Posterior(NamedTuple):
    sites: Sites
    q: Gaussian
    log_z: Float[Tensor, "*b"]
    """Log of the probability of all answers."""
    converged: Bool[Tensor, "*b"]


def absorb(covariance: Float[Tensor, "*b n n"], sites: Sites) -> Gaussian:
    """Prior times sites, by a factor whose eigenvalues are one and above: repeated points need no jitter."""
    half = sites.tau.sqrt()
    scaled = half[..., :, None] * covariance
    inner = scaled * half[..., None, :]
    inner.diagonal(dim1=-2, dim2=-1).add_(1.0)
    root = torch.linalg.cholesky(inner)
    explained = torch.linalg.solve_triangular(root, scaled, upper=False)
    variance = covariance.diagonal(dim1=-2, dim2=-1) - explained.square().sum(-2)
    nu = sites.nu[..., None]
    mean = covariance @ nu - explained.mT @ (explained @ nu)
    return Gaussian(mean[..., 0], variance, root)


def match(answers: Answers, sites: Sites, q: Gaussian) -> Match:
    """The sites that the exact factors ask for, given their cavities: R&W 3.56 to 3.59, without cancellations."""
    # What is left of the precision; the sites are log-concave, so it is positive but for rounding.
    left = (1 - sites.tau * q.variance).clamp(min=1e-12)
    variance, mean = q.variance / left, (q.mean - q.variance * sites.nu) / left
    spread = (1 + variance).sqrt()
    a = answers.sign * (mean + answers.mean[..., None]) / spread
    log_p = log_cdf(a)
    hazard, remaining = truncation(a, log_p)
    width = 1 + variance * remaining
    tau = (1 - remaining) / width
    nu = tau * mean + answers.sign * hazard * spread / width
    log_z = log_p + 0.5 * (mean.square() / variance - q.mean.square() / q.variance - left.log())
    is_there = answers.sign != 0
    tau, nu, log_z = (torch.where(is_there, t, 0.0) for t in (tau, nu, log_z))
    return Match(Sites(tau, nu), log_z)


def run(answers: Answers, start: Sites | None = None, tolerance: float = 1e-8) -> Posterior:
    """The fixed point, from `start` or from no sites, by parallel updates with Aitken's damping.

    Updates of many answers that say the same overshoot together, the more the longer the lengthscale, and undamped ones
    oscillate for ever; two successive residuals tell how far to go along the direction that is slowest to settle.
    Damping stays within (0, 1], so that precisions do too.
    """
    zeros = torch.zeros_like(answers.sign)
    sites = Sites(zeros, zeros) if start is None else start
    q = absorb(answers.covariance, sites)
    found = match(answers, sites, q)
    damping, residual = torch.ones_like(zeros[..., :1]), _residual(found.sites, sites, q)
    for _ in range(MAX_ITERATIONS):
        if bool((residual.abs() < tolerance).all()):
            break
        sites = Sites(*(torch.lerp(o, n, damping) for o, n in zip(sites, found.sites, strict=True)))
        q = absorb(answers.covariance, sites)
        found = match(answers, sites, q)
        before, residual = residual, _residual(found.sites, sites, q)
        change = residual - before
        along, length = ((each * change).sum(-1, keepdim=True) for each in (before, change))
        damping = (-damping * along / length.clamp(min=1e-300)).clamp(LEAST_DAMPING, 1.0)
    log_z = found.log_z.sum(-1) + 0.5 * (sites.nu * q.mean).sum(-1)
    log_z = log_z - q.root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return Posterior(sites, q, log_z, (residual.abs() < tolerance).all(-1))


def _residual(wanted: Sites, sites: Sites, q: Gaussian) -> Float[Tensor, "*b m"]:
    """How far the sites are from the wanted ones, in units of the posterior."""
    return torch.cat([(wanted.tau - sites.tau) * q.variance, (wanted.nu - sites.nu) * q.variance.sqrt()], -1)


class Evidence(NamedTuple):
    """EP's log evidence and its derivatives, by the logs of lengthscales and amplitude and by the mean."""

    log_z: Float[Tensor, "*b j"]
    by_log_lengthscale: Float[Tensor, "*b j d"]
    by_log_amplitude: Float[Tensor, "*b j"]
    by_mean: Float[Tensor, "*b j"]
    sites: Sites


def evidence(
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    h: Hyperparameters,
    start: Sites | None = None,
    tolerance: float = 1e-8,
) -> Evidence:
    """Log probability of the answers, y = +1 and -1, with analytic derivatives.

    At EP's fixed point they are those of the Gaussian evidence at fixed sites (R&W 5.27): log Z is stationary in them.
    """
    scaled = (X - 0.5) / h.lengthscale[..., None, :]
    d2 = squared_distance(scaled, scaled)
    correlations = correlation(kernel, d2)
    covariance = without_padding(h.amplitude[..., None, None] * correlations, mask)
    sign = torch.where(mask, y, 0.0).expand(covariance.shape[:-1])
    posterior = run(Answers(covariance, h.mean, sign), start, tolerance)
    sites = posterior.sites
    solved = sites.nu - sites.tau * posterior.q.mean
    half = sites.tau.sqrt()
    inverse = half[..., :, None] * torch.cholesky_inverse(posterior.q.root) * half[..., None, :]
    sensitivity = solved[..., :, None] * solved[..., None, :] - inverse
    by_lengthscale, by_amplitude = by_kernel(kernel, scaled, d2, sensitivity, correlations, h.amplitude)
    return Evidence(posterior.log_z, by_lengthscale, by_amplitude, solved.sum(-1), sites)


def pseudo_measurements(
    kernel: Kernel, X: Float[Tensor, "j n d"], y: Float[Tensor, "j n"], mask: Bool[Tensor, "j n"], h: Hyperparameters
) -> tuple[Float[Tensor, "*b j n"], Float[Tensor, "*b j n"]]:
    """Values and noise variances that, measured, give the latent functions EP's posterior."""
    tau, nu = evidence(kernel, X, y, mask, h).sites
    precision = torch.maximum(tau, 1 / (MOST_NOISE * h.amplitude[..., None]))
    return torch.where(mask, h.mean[..., None] + nu / precision, 0.0), 1 / precision
