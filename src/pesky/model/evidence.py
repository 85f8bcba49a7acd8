"""How well hyperparameters explain the data: the marginal likelihood, with what a search for its maximum needs."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import cholesky
from pesky.model.hyper import Hyperparameters, covariance_of_data, padded_gram, without_padding
from pesky.model.kernel import Kernel, correlation_alone, correlation_and_slope, squared_distance
from pesky.model.parts import in_parts, joined


class MarginalLikelihood(NamedTuple):
    log_likelihood: Float[Tensor, "*b j"]
    mean: Float[Tensor, "*b j"]
    """The constant mean of largest likelihood."""
    mean_precision: Float[Tensor, "*b j"]
    """How well the data tell it, 1' K^-1 1: with a flat prior its variance is the inverse."""
    by_log_lengthscale: Float[Tensor, "*b j d"]
    by_log_amplitude: Float[Tensor, "*b j"]
    by_log_noise: Float[Tensor, "*b j"]
    by_value: Float[Tensor, "*b j n"]
    by_log_datum_noise: Float[Tensor, "*b j n"]
    information: Float[Tensor, "*b j q q"]
    """About minus the second derivatives by the logs of (lengthscales, amplitude, noise), and by what moves the values:
    see `average_information`."""


def marginal_likelihood(
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "*#b j n"],
    mask: Bool[Tensor, "j n"],
    h: Hyperparameters,
    data_noise: Float[Tensor, "*#b j n"] | None = None,
    moves: Float[Tensor, "*b j n k"] | None = None,
    *,
    is_informed: bool = False,
) -> MarginalLikelihood:
    """Log marginal likelihood at the best constant mean, with analytic derivatives by the logs of the others.

    `data_noise` is the noise variance of each datum; None: that of its row. `moves` are the derivatives of the values
    by parameters that they depend on. The information is empty unless it `is_informed`.
    """
    noise = h.noise[..., None] if data_noise is None else data_noise
    moves = y.new_zeros(*h.amplitude.shape, y.shape[-1], 0) if moves is None else moves
    parts = [_marginal_likelihood(kernel, is_informed, *part) for part in in_parts(X, y, mask, h, noise, moves)]
    if len(parts) == 1:
        return parts[0]
    b, (n, d) = h.amplitude.shape, X.shape[-2:]
    widths = (None, None, None, d, None, None, n, n, parts[0].information.shape[-1])
    return MarginalLikelihood(
        *(joined(each, b, width) for each, width in zip(zip(*parts, strict=True), widths, strict=True))
    )


def _marginal_likelihood(
    kernel: Kernel,
    is_informed: bool,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "*#b j n"],
    mask: Bool[Tensor, "j n"],
    h: Hyperparameters,
    noise: Float[Tensor, "*#b j #n"],
    moves: Float[Tensor, "*b j n k"],
) -> MarginalLikelihood:
    scaled = (X - 0.5) / h.lengthscale[..., None, :]
    correlations, slopes = correlation_and_slope(kernel, squared_distance(scaled, scaled))
    root = cholesky(covariance_of_data(correlations, mask, h.amplitude, noise), h.amplitude, jitter=1e-14)
    inverse = torch.cholesky_inverse(root)
    ones = mask.to(y.dtype).expand(inverse.shape[:-1])
    weight, of_values = (inverse @ torch.stack([ones, torch.where(mask, y, 0.0).expand_as(ones)], -1)).unbind(-1)
    precision = (weight * ones).sum(-1)
    mean = (weight * y).sum(-1) / precision.clamp(min=1e-300)
    residual = torch.where(mask, y - mean[..., None], 0.0)
    solved = of_values - mean[..., None] * weight
    log_likelihood = _log_density((residual * solved).sum(-1), root, mask)
    information = y.new_zeros(*precision.shape, 0, 0)
    if is_informed:
        pulled = _pulled(scaled, slopes, solved, residual, noise, mask, h.amplitude)
        information = average_information(inverse, weight, precision, pulled, moves)
    # d log p / d theta = tr(A dK/dtheta) / 2 with A = solved solved^T - K^-1
    sensitivity = inverse.neg_().addcmul_(solved[..., :, None], solved[..., None, :])
    sensitivity = without_padding(sensitivity, mask)
    by_lengthscale, by_amplitude = by_kernel(scaled, sensitivity, correlations, slopes, h.amplitude)
    by_datum_noise = 0.5 * noise * sensitivity.diagonal(dim1=-2, dim2=-1)
    by_noise = by_datum_noise.sum(-1)
    return MarginalLikelihood(
        log_likelihood, mean, precision, by_lengthscale, by_amplitude, by_noise, -solved, by_datum_noise, information
    )


def _pulled(
    scaled: Float[Tensor, "*b j n d"],
    slopes: Float[Tensor, "*b j n n"],
    solved: Float[Tensor, "*b j n"],
    residual: Float[Tensor, "*b j n"],
    noise: Float[Tensor, "*b j #n"],
    mask: Bool[Tensor, "j n"],
    amplitude: Float[Tensor, "*b j"],
) -> Float[Tensor, "*b j n q"]:
    """K_i K^-1 r, with K_i the derivative of K by the log of each of (lengthscales, amplitude, noise)."""
    d, v = scaled.shape[-1], solved[..., None]
    # (x - x')^2 = x^2 - 2 x x' + x'^2: one product with a matrix for all columns
    of_none, of_one, of_two = (slopes @ torch.cat([v, scaled * v, scaled.square() * v], -1)).split([1, d, d], -1)
    by_lengthscale = amplitude[..., None, None] * (scaled * (scaled * of_none - 2 * of_one) + of_two)
    by_noise = noise * solved
    pulled = torch.cat([by_lengthscale, (residual - by_noise)[..., None], by_noise[..., None]], -1)
    return torch.where(mask[..., None], pulled, 0.0)


def average_information(
    inverse: Float[Tensor, "*b j n n"],
    weight: Float[Tensor, "*b j n"],
    precision: Float[Tensor, "*b j"],
    pulled: Float[Tensor, "*b j n p"],
    moves: Float[Tensor, "*b j n k"],
) -> Float[Tensor, "*b j q q"]:
    """Z' P Z with Z_i = K_i K^-1 r / sqrt(2), P = K^-1 - K^-1 1 1' K^-1 / 1' K^-1 1, r the residuals.

    The average of the observed and the expected information where K is linear in its parameters (Gilmour, Thompson and
    Cullis 1995): unlike either it takes no product of matrices of n columns, and is never indefinite. What moves the
    values by dy has Z = -dy, as in Gauss and Newton's method. `weight` is K^-1 1 and `precision` its sum.
    """
    z = torch.cat([math.sqrt(0.5) * pulled, -moves], -1)
    of_mean = (weight[..., None, :] @ z) / precision.clamp(min=1e-300)[..., None, None]
    return z.mT @ (inverse @ z - weight[..., None] * of_mean)


class ProfileLikelihood(NamedTuple):
    """The same without derivatives, at a fraction of the cost."""

    log_likelihood: Float[Tensor, "*b j"]
    mean: Float[Tensor, "*b j"]
    mean_precision: Float[Tensor, "*b j"]
    square: Float[Tensor, "*b j"]
    """Of the whitened residuals: about one for each of the data, where the model is right."""


def profile_likelihood(
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "*#b j n"],
    mask: Bool[Tensor, "j n"],
    h: Hyperparameters,
    data_noise: Float[Tensor, "*#b j n"] | None = None,
) -> ProfileLikelihood:
    """Log marginal likelihood at the best constant mean, as in `marginal_likelihood`."""
    noise = h.noise[..., None] if data_noise is None else data_noise
    parts = [_profile_likelihood(kernel, *part) for part in in_parts(X, y, mask, h, noise)]
    if len(parts) == 1:
        return parts[0]
    return ProfileLikelihood(*(joined(each, h.amplitude.shape, None) for each in zip(*parts, strict=True)))


def _profile_likelihood(
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "*#b j n"],
    mask: Bool[Tensor, "j n"],
    h: Hyperparameters,
    noise: Float[Tensor, "*#b j #n"],
) -> ProfileLikelihood:
    scaled = (X - 0.5) / h.lengthscale[..., None, :]
    correlations = correlation_alone(kernel, squared_distance(scaled, scaled))
    root = cholesky(covariance_of_data(correlations, mask, h.amplitude, noise), h.amplitude, jitter=1e-14)
    both = torch.stack([mask.to(y.dtype).expand(y.shape), torch.where(mask, y, 0.0)], -1)
    ones, values = torch.linalg.solve_triangular(root, both.expand(*root.shape[:-1], 2), upper=False).unbind(-1)
    precision = ones.square().sum(-1)
    mean = (ones * values).sum(-1) / precision.clamp(min=1e-300)
    square = (values - mean[..., None] * ones).square().sum(-1)
    return ProfileLikelihood(_log_density(square, root, mask), mean, precision, square)


def by_kernel(
    scaled: Float[Tensor, "*b j n d"],
    sensitivity: Float[Tensor, "*b j n n"],
    correlations: Float[Tensor, "*b j n n"],
    slopes: Float[Tensor, "*b j n n"],
    amplitude: Float[Tensor, "*b j"],
) -> tuple[Float[Tensor, "*b j d"], Float[Tensor, "*b j"]]:
    """Derivatives by the logs of lengthscales and amplitude; `sensitivity` is twice that by the covariance."""
    # with a column of ones: the sum of each row, too
    pulls = (sensitivity * slopes) @ torch.cat([scaled, torch.ones_like(scaled[..., :1])], -1)
    by_lengthscale = pulls[..., -1:] * scaled.square() - scaled * pulls[..., :-1]
    by_lengthscale = amplitude[..., None] * by_lengthscale.sum(-2)
    # a product of vectors, which makes no third matrix
    total = sensitivity.flatten(-2)[..., None, :] @ correlations.flatten(-2)[..., None]
    return by_lengthscale, 0.5 * amplitude * total[..., 0, 0]


def log_likelihood(
    kernel: Kernel,
    X: Float[Tensor, "*#b j n d"],
    y: Float[Tensor, "*#b j n"],
    mask: Bool[Tensor, "*#b j n"],
    h: Hyperparameters,
    data_noise: Float[Tensor, "*b j n"] | None = None,
) -> Float[Tensor, "*b j"]:
    """Log marginal likelihood at the given mean; minus infinity where the covariance has no Cholesky factor."""
    root, failed = torch.linalg.cholesky_ex(padded_gram(kernel, X, mask, h, data_noise))
    residual = torch.where(mask, y - h.mean[..., None], 0.0)
    whitened = torch.linalg.solve_triangular(root, residual[..., None], upper=False)[..., 0]
    value = _log_density(whitened.square().sum(-1), root, mask)
    return torch.where((failed == 0) & torch.isfinite(value), value, -torch.inf)


def _log_density(
    square: Float[Tensor, "*b j"], root: Float[Tensor, "*b j n n"], mask: Bool[Tensor, "*#b j n"]
) -> Float[Tensor, "*b j"]:
    """Of Gaussian data, by the square of what is left of them whitened and the Cholesky factor of their covariance."""
    log_root = root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return -0.5 * square - log_root - 0.5 * math.log(2 * math.pi) * mask.sum(-1).to(square.dtype)
