"""Normal tails that stay accurate, and Cholesky factors that do not fail."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
SERIES_BELOW = -30.0
"""Below this the variance of a truncated normal is taken from its asymptotic series (relative error < 1e-6)."""


def log_density(a: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Log of the standard normal density."""
    return -0.5 * a * a - LOG_SQRT_2PI


def log_cdf(a: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Log of the standard normal distribution function, finite far into the tail."""
    return torch.special.log_ndtr(a)


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


def cholesky(
    matrix: Float[Tensor, "*b n n"], amplitude: Float[Tensor, "*b"], jitter: float = 1e-10
) -> Float[Tensor, "*b n n"]:
    """Lower Cholesky factor of `matrix + jitter * amplitude * I`; the jitter grows tenfold where it fails.

    The jitter is relative to the *prior* amplitude: rounding errors of a posterior covariance scale with it,
    and a jitter relative to the small posterior diagonal fails for dense noise-free data (METHOD 12.3).
    """
    eye = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    scale = amplitude[..., None, None]
    factor, failed = torch.linalg.cholesky_ex(matrix + jitter * scale * eye)
    while bool(failed.any()) and jitter < 1e-2:
        jitter *= 10
        retried, still_failed = torch.linalg.cholesky_ex(matrix + jitter * scale * eye)
        factor = torch.where((failed > 0)[..., None, None], retried, factor)
        failed = torch.where(failed > 0, still_failed, failed)
    return factor
