"""Whether outcomes have any noise, where nobody said so: values that speak for none are taken to have none (METHOD 10).

Simulators have none, and few declare it. A maximum approaches none only slowly, one decade with every few values.
"""

import torch
from jaxtyping import Bool
from torch import Tensor

from pesky.model.evidence import profile_likelihood
from pesky.model.hyper import NOISE_FLOOR, Hyperparameters, datum_noise
from pesky.model.kernel import Kernel
from pesky.model.prior import log_noise_prior
from pesky.observations import Observations

EVIDENCE = 1.0
"""Nats by which none at all must be ahead of the noise of the maximum, the prior of that included. Without evidence six
parameters and twenty values are believed exact that are not, and infeasible answers come of it."""
SMALL = 3e-4
"""A noise above this, beside the variance of all values, is none that so much speaks against."""


def is_noiseless(kernel: Kernel, o: Observations, h: Hyperparameters) -> Bool[Tensor, " j"]:
    """Which rows of numbers, of those whose noise was inferred, are better explained by none, all else being equal."""
    is_small = torch.isnan(o.noise) & (h.noise < SMALL)
    if o.least_noise is not None:  # values that are rounded are not known to more digits than they have
        is_small = is_small & (o.least_noise == 0)
    if not bool(is_small.any()):
        return is_small

    def value(h: Hyperparameters) -> Tensor:
        each = datum_noise(h.noise, h.amplitude, o.relative_noise)
        return profile_likelihood(kernel, o.X, o.y, o.mask, h, each).log_likelihood

    ahead = value(h._replace(noise=NOISE_FLOOR * h.amplitude)) - value(h) - log_noise_prior(h.noise)
    return is_small & (ahead >= EVIDENCE)
