"""What is believed of hyperparameters before any data: the same wherever they come from (METHOD 10)."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model.hyper import Hyperparameters

LOG_LENGTHSCALE = (math.log(5e-3), math.log(20.0))
LOG_AMPLITUDE = (math.log(1e-3), math.log(1e4))
"""As multiples of the typical one: that of values which lie close together far from their threshold is large."""
LOG_NOISE = (math.log(1e-8), math.log(10.0))
LENGTHSCALE_SPREAD = math.sqrt(3)
NOISE_CENTER, ABOVE, BELOW = -6.0, 2.0, 4.0
"""Of the log noise: where it is expected, and the deviation on either side of that."""


def log_prior(
    h: Hyperparameters, infer_noise: Bool[Tensor, " j"], typical: Float[Tensor, "*#b j"]
) -> tuple[Float[Tensor, "*b j"], Float[Tensor, "*b j p"]]:
    """Log density of the logs of (lengthscales, amplitude, noise), up to a constant, and its gradient.

    Lengthscales: BoTorch's log-normal, whose centre grows with sqrt(d) (Hvarfner et al. 2024); its density of l is
    taken as one of log l, so that the logs are normal around 3 less. Amplitude: log-normal around the `typical` one
    with deviation 1. Noise: log-normal, for outputs of unit variance, and wide downwards: many outcomes have hardly
    any, and nobody declares it.
    """
    d = h.lengthscale.shape[-1]
    log_l, log_a, log_s = h.lengthscale.log(), h.amplitude.log(), h.noise.log()
    center, noise_spread = math.sqrt(2) + 0.5 * math.log(d), _noise_spread(h.noise)
    z_l, z_a = (log_l - center) / LENGTHSCALE_SPREAD, log_a - typical.log()
    z_s = (log_s - NOISE_CENTER) / noise_spread
    counted = infer_noise.to(log_s.dtype)
    value = -(0.5 * z_l.square() + log_l).sum(-1) - 0.5 * z_a.square() + counted * log_noise_prior(h.noise)
    gradient = torch.cat(
        [
            -z_l / LENGTHSCALE_SPREAD - 1,
            -z_a[..., None],
            -(counted * z_s / noise_spread)[..., None].expand(*z_a.shape, 1),
        ],
        -1,
    )
    return value, gradient


def log_noise_prior(noise: Float[Tensor, "*b j"]) -> Float[Tensor, "*b j"]:
    """The part of it that is the noise's: zero where it is expected."""
    return -0.5 * ((noise.log() - NOISE_CENTER) / _noise_spread(noise)).square()


def prior_precision(h: Hyperparameters, infer_noise: Bool[Tensor, " j"]) -> Float[Tensor, "*b j p"]:
    """Minus the second derivatives of the log prior, which has no mixed ones; 1 for a noise that is given."""
    of_lengthscale = torch.full_like(h.lengthscale, LENGTHSCALE_SPREAD**-2)
    of_amplitude, of_noise = torch.ones_like(h.amplitude), torch.where(infer_noise, _noise_spread(h.noise) ** -2, 1.0)
    return torch.cat([of_lengthscale, of_amplitude[..., None], of_noise[..., None]], -1)


def _noise_spread(noise: Float[Tensor, "*b j"]) -> Float[Tensor, "*b j"]:
    return torch.where(noise.log() < NOISE_CENTER, BELOW, ABOVE).to(noise)


def log_bounds(
    d: int, typical: Float[Tensor, "*b"], least_noise: Float[Tensor, "*b"] | None = None
) -> tuple[Float[Tensor, "*b p"], Float[Tensor, "*b p"]]:
    """The least and the largest (log lengthscales, log amplitude, log noise) of rows with these typical amplitudes."""
    bounds = torch.tensor([LOG_LENGTHSCALE] * d + [LOG_AMPLITUDE, LOG_NOISE], dtype=typical.dtype)
    own = bounds.to(typical.device).repeat(*typical.shape, 1, 1)
    own[..., d, :] += typical.log()[..., None]
    if least_noise is not None:
        own[..., -1, 0] = least_noise.log().clamp(*LOG_NOISE)
    return own[..., 0], own[..., 1]
