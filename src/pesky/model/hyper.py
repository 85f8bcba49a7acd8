"""Hyperparameters of all rows, and how well they explain the data."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import cholesky
from pesky.model.kernel import Kernel, correlation_alone, correlation_and_slope, squared_distance

NOISE_FLOOR = 1e-10
"""Noise variance of noise-free rows, as a share of the amplitude. It sets how closely a noise-free constraint can be
approached (METHOD 21, F3); the Cholesky factors of hundreds of points still succeed."""


AT_ONCE = {"cpu": 100_000, "cuda": 100_000_000}
"""Entries of covariance matrices that are computed in one go, on each kind of device: on a processor more leave its
cache, and take two to three times as long."""


class Hyperparameters(NamedTuple):
    """One value per row (and input dimension); leading dimensions are samples or starts."""

    lengthscale: Float[Tensor, "*b j d"]
    amplitude: Float[Tensor, "*b j"]
    """Prior variance."""
    noise: Float[Tensor, "*b j"]
    """Variance of the measurement noise."""
    mean: Float[Tensor, "*b j"]

    def rows(self, chosen: Bool[Tensor, " j"]) -> "Hyperparameters":
        """Those of the chosen rows."""
        lengthscale, *others = self
        return Hyperparameters(lengthscale[..., chosen, :], *(part[..., chosen] for part in others))

    def first(self) -> "Hyperparameters":
        """The first sample, if there are samples."""
        samples = self.amplitude.dim() - 1
        return Hyperparameters(*(part.flatten(0, samples - 1)[0] if samples else part for part in self))

    def interleave(self, other: "Hyperparameters", where: Bool[Tensor, " j"]) -> "Hyperparameters":
        """All rows in one: the other's stand `where` it says, the same in every sample, and these elsewhere."""
        samples, merged = self.amplitude.shape[:-1], []
        for mine, others in zip(self, other, strict=True):
            whole = mine.new_empty(*samples, len(where), *mine.shape[len(samples) + 1 :])
            at = (slice(None),) * len(samples)
            whole[(*at, ~where)], whole[(*at, where)] = mine, others.expand(*samples, *others.shape)
            merged.append(whole)
        return Hyperparameters(*merged)


def noise_variance(
    log_noise: Float[Tensor, "*b j"], amplitude: Float[Tensor, "*b j"], given: Float[Tensor, "*#b j"]
) -> Float[Tensor, "*b j"]:
    """The given noise where there is one (NaN: inferred), never below the floor."""
    wanted = torch.where(torch.isnan(given), log_noise.exp(), given)
    return torch.maximum(wanted, NOISE_FLOOR * amplitude)


def datum_noise(
    noise: Float[Tensor, "*b j"], amplitude: Float[Tensor, "*b j"], relative: Float[Tensor, "*#b j n"] | None
) -> Float[Tensor, "*b j n"] | None:
    """The noise variance of each datum, given as a multiple of its row's, never below the floor; None: its row's."""
    if relative is None:
        return None
    least = (NOISE_FLOOR * amplitude)[..., None]
    # a row at the floor has no noise that could be carried over
    return torch.where(noise[..., None] <= least, least, torch.maximum(noise[..., None] * relative, least))


def typical_amplitude(y: Float[Tensor, "*b j n"], mask: Bool[Tensor, "*#b j n"]) -> Float[Tensor, "*b j"]:
    """Where the prior of each amplitude is centered: the mean square of the row's values, 1 where there are none.

    For the objective, which is centered, that is its variance. For a constraint it is measured from the threshold: a
    few values that lie close together far from it must not make the model sure that it is never crossed.
    """
    square = torch.where(mask, y, 0.0).square().sum(-1) / mask.sum(-1).clamp(min=1)
    return torch.where(square > 0, square, 1.0)


def padded_gram(
    kernel: Kernel,
    X: Float[Tensor, "*#b j n d"],
    mask: Bool[Tensor, "*#b j n"],
    h: Hyperparameters,
    data_noise: Float[Tensor, "*b j n"] | None = None,
) -> Float[Tensor, "*b j n n"]:
    """Prior covariance of the noisy data; padded entries are the identity, which changes no solve or determinant.

    `data_noise` is the noise variance of each datum, where it is not that of its row.
    """
    scaled = (X - 0.5) / h.lengthscale[..., None, :]
    noise = h.noise[..., None] if data_noise is None else data_noise
    return _padded(correlation_alone(kernel, squared_distance(scaled, scaled)), mask, h.amplitude, noise)


def _padded(
    correlations: Float[Tensor, "*b j n n"],
    mask: Bool[Tensor, "*#b j n"],
    amplitude: Float[Tensor, "*b j"],
    noise: Float[Tensor, "*b j #n"],
) -> Float[Tensor, "*b j n n"]:
    gram = without_padding(amplitude[..., None, None] * correlations, mask)
    gram.diagonal(dim1=-2, dim2=-1).add_(torch.where(mask, noise, 1.0))
    return gram


def without_padding(matrix: Float[Tensor, "*b j n n"], mask: Bool[Tensor, "*#b j n"]) -> Float[Tensor, "*b j n n"]:
    """The matrix with zeros where it speaks of data that are not there."""
    if bool(mask.all()):
        return matrix
    return torch.where(mask[..., :, None] & mask[..., None, :], matrix, 0.0)


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
        *(_joined(each, b, width) for each, width in zip(zip(*parts, strict=True), widths, strict=True))
    )


def in_parts(
    X: Float[Tensor, "*#b j n d"],
    y: Float[Tensor, "*#b j n"],
    mask: Bool[Tensor, "*#b j n"],
    h: Hyperparameters,
    noise: Float[Tensor, "*#b j #n"],
    *more: Float[Tensor, "*#b j n k"],
    one: bool = False,
) -> Iterator[tuple]:
    """The same, as it is or one part of the rows after another, each with no more columns than it has data.

    The parts are as large as the cache holds, or of `one` row each.
    """
    b, n = h.amplitude.shape, X.shape[-2]
    some = 1 if one else max(1, AT_ONCE[X.device.type] // max(1, n * n))
    if b.numel() <= some and not one:
        yield X, y, mask, h, noise, *more
        return

    def flat(part: Tensor, own: int) -> Tensor:
        return part.expand(*b, *part.shape[part.dim() - own :]).flatten(0, len(b) - 1)

    h = Hyperparameters(flat(h.lengthscale, 1), *(flat(part, 0) for part in h[1:]))
    X, y, mask, noise, more = (
        flat(X, 2),
        flat(y, 1),
        flat(mask, 1),
        flat(noise, 1),
        tuple(flat(each, 2) for each in more),
    )
    counts = ((mask * torch.arange(1, n + 1, device=mask.device)).amax(-1)).tolist()
    for at in range(0, b.numel(), some):
        own, m = slice(at, at + some), max(1, *counts[at : at + some])
        here = Hyperparameters(*(part[own] for part in h))
        yield X[own, :m], y[own, :m], mask[own, :m], here, noise[own, :m], *(each[own, :m] for each in more)


def _joined(parts: Sequence[Tensor], b: torch.Size, width: int | None) -> Tensor:
    """What was computed in parts, in one; zeros up to the width where a part has fewer data."""
    if width is None:
        return torch.cat([*parts]).view(b)
    whole = torch.cat([torch.nn.functional.pad(part, (0, width - part.shape[-1])) for part in parts])
    return whole.view(*b, *whole.shape[1:])


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
    root = cholesky(_padded(correlations, mask, h.amplitude, noise), h.amplitude, jitter=1e-14)
    inverse = torch.cholesky_inverse(root)
    ones = mask.to(y.dtype).expand(inverse.shape[:-1])
    weight, of_values = (inverse @ torch.stack([ones, torch.where(mask, y, 0.0).expand_as(ones)], -1)).unbind(-1)
    precision = (weight * ones).sum(-1)
    mean = (weight * y).sum(-1) / precision.clamp(min=1e-300)
    residual = torch.where(mask, y - mean[..., None], 0.0)
    solved = of_values - mean[..., None] * weight
    log_likelihood = (
        -0.5 * (residual * solved).sum(-1)
        - root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        - 0.5 * math.log(2 * math.pi) * mask.sum(-1).to(y.dtype)
    )
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
    return ProfileLikelihood(*(_joined(each, h.amplitude.shape, None) for each in zip(*parts, strict=True)))


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
    root = cholesky(_padded(correlations, mask, h.amplitude, noise), h.amplitude, jitter=1e-14)
    both = torch.stack([mask.to(y.dtype).expand(y.shape), torch.where(mask, y, 0.0)], -1)
    ones, values = torch.linalg.solve_triangular(root, both.expand(*root.shape[:-1], 2), upper=False).unbind(-1)
    precision = ones.square().sum(-1)
    mean = (ones * values).sum(-1) / precision.clamp(min=1e-300)
    square = (values - mean[..., None] * ones).square().sum(-1)
    log_likelihood = (
        -0.5 * square
        - root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        - 0.5 * math.log(2 * math.pi) * mask.sum(-1).to(y.dtype)
    )
    return ProfileLikelihood(log_likelihood, mean, precision, square)


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
    value = (
        -0.5 * whitened.square().sum(-1)
        - root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        - 0.5 * math.log(2 * math.pi) * mask.sum(-1).to(y.dtype)
    )
    return torch.where((failed == 0) & torch.isfinite(value), value, -torch.inf)
