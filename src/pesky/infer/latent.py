"""Latent values that are measured through a likelihood, as a Gaussian: expectation propagation.

Each value z_n of a Gaussian vector has a factor p(y_n | z_n). EP (Rasmussen & Williams 2006, 3.6) puts a Gaussian site
exp(-tau g^2 / 2 + nu g) in the place of each of these factors, where g = z - prior mean. Such a site is a measurement
of z with a noise of its own, so that the belief of numbers serves the rows of other likelihoods too.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import Sites

LEAST_DAMPING = 0.01
MAX_ITERATIONS = 200


class LatentPrior(NamedTuple):
    """What is believed of the latent values before they are measured; the covariance is zero where padded."""

    covariance: Float[Tensor, "*b n n"]
    mean: Float[Tensor, "*b"]
    is_there: Bool[Tensor, "*b n"]


class Tilted(NamedTuple):
    """A normal cavity N(m, v) times an exact factor p(y | z), as the site that has its moments.

    With Z(m) = E p(y | z) these are, for a = (log Z)'(m) and b = (log Z)''(m): tau = -b / (1 + b v), push =
    a / (1 + b v) (R&W 3.52 to 3.56 for any factor). Factors must be log-concave: 0 <= tau.
    """

    tau: Float[Tensor, "*b n"]
    push: Float[Tensor, "*b n"]
    """nu - tau m."""
    log_z: Float[Tensor, "*b n"]


Factors = Callable[[Tensor, Tensor], Tilted]
"""Mean and variance (*b n) of the cavities of the latent values -> the sites of the factors that belong to them."""


class LatentMarginals(NamedTuple):
    """Prior times sites: marginals of the latent values minus their prior mean, and chol(I + sqrt(T) K sqrt(T))."""

    mean: Float[Tensor, "*b n"]
    variance: Float[Tensor, "*b n"]
    root: Float[Tensor, "*b n n"]


class Match(NamedTuple):
    sites: Sites
    """Those whose product with their cavities has the moments of the exact factors."""
    log_z: Float[Tensor, "*b n"]
    """Of each factor and its site, the share of the evidence that is their own."""


class LatentPosterior(NamedTuple):
    sites: Sites
    q: LatentMarginals
    log_z: Float[Tensor, "*b"]
    """Log of the probability of all measurements."""
    converged: Bool[Tensor, "*b"]


def absorb(covariance: Float[Tensor, "*b n n"], sites: Sites) -> LatentMarginals:
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
    return LatentMarginals(mean[..., 0], variance, root)


def match(prior: LatentPrior, factors: Factors, sites: Sites, q: LatentMarginals) -> Match:
    """The sites that the exact factors ask for, given their cavities: R&W 3.56 to 3.59, without cancellations."""
    # What is left of the precision; the sites are log-concave, so it is positive but for rounding.
    left = (1 - sites.tau * q.variance).clamp(min=1e-12)
    variance, mean = q.variance / left, (q.mean - q.variance * sites.nu) / left
    tilted = factors(mean + prior.mean[..., None], variance)
    nu = tilted.tau * mean + tilted.push
    log_z = tilted.log_z + 0.5 * (mean.square() / variance - q.mean.square() / q.variance - left.log())
    tau, nu, log_z = (torch.where(prior.is_there, t, 0.0) for t in (tilted.tau, nu, log_z))
    return Match(Sites(tau, nu), log_z)


def run(prior: LatentPrior, factors: Factors, start: Sites | None = None, tolerance: float = 1e-8) -> LatentPosterior:
    """The fixed point, from `start` or from no sites, by parallel updates with Aitken's damping.

    Updates of many answers that say the same overshoot together, the more the longer the lengthscale, and undamped ones
    oscillate for ever; two successive residuals tell how far to go along the direction that is slowest to settle.
    Damping stays within (0, 1], so that precisions do too.
    """
    zeros = torch.zeros_like(prior.is_there, dtype=prior.covariance.dtype)
    sites = Sites(zeros, zeros) if start is None else start
    q = absorb(prior.covariance, sites)
    found = match(prior, factors, sites, q)
    damping, residual = torch.ones_like(zeros[..., :1]), _residual(found.sites, sites, q)
    for _ in range(MAX_ITERATIONS):
        if bool((residual.abs() < tolerance).all()):
            break
        sites = Sites(*(torch.lerp(o, n, damping) for o, n in zip(sites, found.sites, strict=True)))
        q = absorb(prior.covariance, sites)
        found = match(prior, factors, sites, q)
        before, residual = residual, _residual(found.sites, sites, q)
        change = residual - before
        along, length = ((each * change).sum(-1, keepdim=True) for each in (before, change))
        damping = (-damping * along / length.clamp(min=1e-300)).clamp(LEAST_DAMPING, 1.0)
    log_z = found.log_z.sum(-1) + 0.5 * (sites.nu * q.mean).sum(-1)
    log_z = log_z - q.root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return LatentPosterior(sites, q, log_z, (residual.abs() < tolerance).all(-1))


def _residual(wanted: Sites, sites: Sites, q: LatentMarginals) -> Float[Tensor, "*b m"]:
    """How far the sites are from the wanted ones, in units of the posterior."""
    return torch.cat([(wanted.tau - sites.tau) * q.variance, (wanted.nu - sites.nu) * q.variance.sqrt()], -1)
