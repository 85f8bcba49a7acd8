"""Normal tails that stay accurate, Cholesky factors that do not fail, and the sites of expectation propagation."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
SERIES_BELOW = -30.0
"""Below this what would cancel is taken from its asymptotic series: the variance of a truncated normal (relative error
< 1e-6), the expected improvement (< 1e-12)."""


class Sites(NamedTuple):
    """Natural parameters of Gaussian approximations of factors of one value each: exp(-tau w^2 / 2 + nu w)."""

    tau: Float[Tensor, "*b n"]
    nu: Float[Tensor, "*b n"]


def log_density(a: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Log of the standard normal density."""
    return -0.5 * a * a - LOG_SQRT_2PI


def log_cdf(a: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Log of the standard normal distribution function, finite far into the tail."""
    return torch.special.log_ndtr(a)


def log_expected_improvement(u: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Log of E max(0, u + z) = phi(u) + u Phi(u), z standard normal, with a gradient far into both tails.

    Below -1 the two terms cancel: with t = -u and Mills' ratio M(t) = Phi(-t) / phi(t) the logarithm is
    log phi(t) + log(1 - t M(t)), and of the second term, about t^-2, digits are left down to `SERIES_BELOW`. From there
    on it comes from the expansion of M: 1 - t M = t^-2 - 3 t^-4 + 15 t^-6 - ... (after Ament et al., NeurIPS 2023).
    """
    # Each branch is computed everywhere, at an argument within its range, so that no other one's gradient is NaN.
    near = u.clamp(min=-1.0)
    log_near = (log_density(near).exp() + near * torch.special.ndtr(near)).log()
    tail = -u.clamp(max=-1.0)
    t = tail.clamp(max=-SERIES_BELOW)
    log_share = torch.log1p(-t * math.sqrt(math.pi / 2) * torch.special.erfcx(t / math.sqrt(2)))
    q = tail.clamp(min=-SERIES_BELOW).square().reciprocal()
    series = q * (1 - q * (3 - q * (15 - q * (105 - q * (945 - 10395 * q)))))
    log_share = torch.where(u < SERIES_BELOW, series.log(), log_share)
    return torch.where(u < -1.0, log_density(u) + log_share, log_near)


def truncation(
    a: Float[Tensor, "*b"], log_cdf_a: Float[Tensor, "*b"]
) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
    """Mean shift phi/Phi and remaining variance of N(a, 1) kept above zero.

    The variance 1 - h (h + a) cancels in the lower tail, so it comes from its series there (METHOD 12.2).
    """
    hazard = torch.exp(log_density(a) - log_cdf_a)
    inverse_square = a.clamp(max=SERIES_BELOW).square().reciprocal()
    series = inverse_square * (1 - inverse_square * (6 - inverse_square * (50 - 518 * inverse_square)))
    return hazard, torch.where(a < SERIES_BELOW, series, 1 - hazard * (hazard + a))


MOST_JITTER = 1e-2
"""What fails beyond this share of the amplitude is not a covariance with a rounding error."""


def cholesky(
    matrix: Float[Tensor, "*b n n"], amplitude: Float[Tensor, "*b"], jitter: float = 1e-10
) -> Float[Tensor, "*b n n"]:
    """Lower Cholesky factor of `matrix + jitter * amplitude * I`; the jitter grows tenfold where it fails.

    The jitter is relative to the *prior* amplitude: rounding errors of a posterior covariance scale with it,
    and a jitter relative to the small posterior diagonal fails for dense noise-free data (METHOD 12.3). Of a matrix
    that needs more than `MOST_JITTER` the negative eigenvalues are taken for zero; where an entry is not a finite
    number, all of the factor is NaN.
    """
    scale = amplitude[..., None, None]
    factor, failed = torch.linalg.cholesky_ex(_raised(matrix, jitter * amplitude))
    while bool(failed.any()) and jitter < 0.99 * MOST_JITTER:
        jitter *= 10
        retried, still_failed = torch.linalg.cholesky_ex(_raised(matrix, jitter * amplitude))
        factor = torch.where((failed > 0)[..., None, None], retried, factor)
        failed = torch.where(failed > 0, still_failed, failed)
    if bool(failed.any()):
        factor = torch.where((failed > 0)[..., None, None], _clipped_factor(matrix, jitter * scale), factor)
    return factor


def _raised(matrix: Float[Tensor, "*b n n"], added: Float[Tensor, "*b"]) -> Float[Tensor, "*b n n"]:
    """The matrix with so much added to its diagonal."""
    # torch.broadcast_shapes says it shorter, and imports sympy for it, which takes most of a second
    raised = torch.broadcast_tensors(matrix, added[..., None, None])[0].clone()
    raised.diagonal(dim1=-2, dim2=-1).add_(added[..., None])
    return raised


def _clipped_factor(matrix: Float[Tensor, "*b n n"], added: Float[Tensor, "*b 1 1"]) -> Float[Tensor, "*b n n"]:
    """Lower triangular factor of the nearest matrix without negative eigenvalues, with so much added to all of them."""
    is_finite = torch.isfinite(matrix + added).flatten(-2).all(-1)[..., None, None]
    symmetric = torch.where(is_finite, (matrix + matrix.mT) / 2, 0.0)
    values, vectors = torch.linalg.eigh(symmetric)
    values = values.clamp(min=0.0) + torch.where(is_finite, added, 1.0)[..., 0]
    # with A = H H', and H' = Q R: A = R' R
    lower = torch.linalg.qr((vectors * values.sqrt()[..., None, :]).mT).R.mT
    sign = torch.where(lower.diagonal(dim1=-2, dim2=-1) < 0, -1.0, 1.0)
    return torch.where(is_finite, lower * sign[..., None, :], torch.nan)
