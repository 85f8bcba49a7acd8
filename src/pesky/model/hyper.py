"""Hyperparameters of all rows, and the covariance of the data that they make."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model.kernel import Kernel, correlation_alone, squared_distance

NOISE_FLOOR = 1e-10
"""Noise variance of noise-free rows, as a share of the amplitude, with which the Cholesky factors of hundreds of points
still succeed. It limits how closely a noise-free constraint is measured (METHOD 21, F3)."""


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
    least, noise = (NOISE_FLOOR * amplitude)[..., None], noise[..., None]
    # a row at the floor has no noise that could be carried over
    return torch.where(is_noise_free(noise, amplitude[..., None]), least, torch.maximum(noise * relative, least))


def is_noise_free(noise: Float[Tensor, "*b"], amplitude: Float[Tensor, "*#b"]) -> Bool[Tensor, "*b"]:
    """Whether a noise variance is there for the factorization's sake alone."""
    return noise <= (1 + 1e-6) * NOISE_FLOOR * amplitude


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
    return covariance_of_data(correlation_alone(kernel, squared_distance(scaled, scaled)), mask, h.amplitude, noise)


def covariance_of_data(
    correlations: Float[Tensor, "*b j n n"],
    mask: Bool[Tensor, "*#b j n"],
    amplitude: Float[Tensor, "*b j"],
    noise: Float[Tensor, "*#b j #n"],
) -> Float[Tensor, "*b j n n"]:
    """The same, of correlations that are known."""
    gram = without_padding(amplitude[..., None, None] * correlations, mask)
    gram.diagonal(dim1=-2, dim2=-1).add_(torch.where(mask, noise, 1.0))
    return gram


def without_padding(matrix: Float[Tensor, "*b j n n"], mask: Bool[Tensor, "*#b j n"]) -> Float[Tensor, "*b j n n"]:
    """The matrix with zeros where it speaks of data that are not there."""
    if bool(mask.all()):
        return matrix
    return torch.where(mask[..., :, None] & mask[..., None, :], matrix, 0.0)
