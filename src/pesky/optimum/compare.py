"""How probably one point is better than another."""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf
from pesky.model.belief import Belief, for_hyper_samples, over_hyper_samples


def probability_lower(belief: Belief, u: Float[Tensor, " d"], other: Float[Tensor, " d"]) -> Float[Tensor, ""]:
    """P(f(u) < f(other)), averaged over hyperparameter samples; one half where they are the same point.

    The difference of the two values is Gaussian: of variance v_u + v_other - 2 covariance.
    """
    with torch.no_grad():
        both = for_hyper_samples(belief, torch.stack([u, other]))
        mean = over_hyper_samples(belief, belief.mean(both)[..., :1, :], 2)[..., 0, :]
        covariance = over_hyper_samples(belief, belief.covariance(both, both)[..., 0, :, :], 2)
        variance = covariance[..., 0, 0] + covariance[..., 1, 1] - 2 * covariance[..., 0, 1]
        least = 1e-16 * over_hyper_samples(belief, belief.amplitude[..., :1], 1)[..., 0]
        return log_cdf((mean[..., 1] - mean[..., 0]) / torch.maximum(variance, least).sqrt()).exp().mean()
