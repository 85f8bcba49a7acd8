"""The entropy of a measurement whose moments are estimated from few samples, less the bias that this gives it.

A function H of an estimate of variance s^2 is on average too large by H'' s^2 / 2. Of n samples of variance u, the mean
has the variance u / n, and the variance, of f degrees of freedom, 2 u^2 / f.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.grouped.moments import GroupMoments
from pesky.infer.gaussian import log_cdf, log_density
from pesky.likelihood.base import z_score
from pesky.likelihood.rows import GAUSSIAN, PROBIT

NODES = 12
"""Values of what is pending, for the entropy of an answer once it is known."""


def number_entropy(moments: GroupMoments, noise: Float[Tensor, "*b j"]) -> Float[Tensor, "*b j g x"]:
    """1/2 log(v + noise), less its bias, where a part u of the variance v is estimated.

    The second derivative of the logarithm is -1 / (v + noise)^2, so the bias is -[u / (v + noise)]^2 / (2 f). Where u
    is all, it is exactly [digamma(f / 2) - log(f / 2)] / 2, which therefore stands for -1 / (2 f): it is right down to
    one degree of freedom.
    """
    noise = noise[..., None, None]
    half = moments.degrees_of_freedom / 2
    sampled_share = moments.sampled / (moments.variance + noise)
    bias = 0.5 * sampled_share.square() * (torch.digamma(half) - torch.log(half))
    return GAUSSIAN.entropy(moments.mean, moments.variance, noise) - bias


def answer_entropy(moments: GroupMoments, size: Float[Tensor, "*b 1 g 1"]) -> Float[Tensor, "*b r g x"]:
    """The entropy of an answer of probability Phi(latent), expected over what is pending, and less its bias.

    It is H(a), the entropy of a bit of probability Phi(a), a = m / sqrt(1 + v). With s^2 = 1 + v, da/dv = -a / (2 s^2)
    and d^2a/dv^2 = 3 a / (4 s^4), the bias is

        H''(a) / s^2  u / (2 n)  +  [H''(a) a^2 / 4 + H'(a) 3 a / 4] / s^4  u^2 / f,

    with H'(a) = phi(a) log[Phi(-a) / Phi(a)] and H''(a) = -phi(a)^2 / [Phi(a) Phi(-a)] - a H'(a).
    """
    mean, weight = _means_once_known(moments)
    variance = moments.variance[..., None]
    # The noise is a part of the answer.
    entropy = PROBIT.entropy(mean, variance, torch.zeros_like(variance))
    a = z_score(mean, variance, PROBIT.answer_noise)
    log_yes, log_no = log_cdf(a), log_cdf(-a)
    slope = (log_no - log_yes) * log_density(a).exp()
    curvature = -torch.exp(2 * log_density(a) - log_yes - log_no) - a * slope
    sampled_share = moments.sampled / (moments.variance + PROBIT.answer_noise)
    of_mean = (sampled_share / size.clamp(min=1.0))[..., None]
    of_variance = (sampled_share.square() / moments.degrees_of_freedom)[..., None]
    bias = 0.5 * curvature * (of_mean + 0.5 * a.square() * of_variance) + 0.75 * a * slope * of_variance
    return ((entropy - bias) * weight).sum(-1)


def _means_once_known(moments: GroupMoments) -> tuple[Float[Tensor, "*b r g x n"], Float[Tensor, " n"]]:
    """The means of the latent function that what is pending may lead to, and their weights: Gauss-Hermite nodes."""
    mean = moments.mean[..., None]
    if not bool((moments.explained > 0).any()):
        return mean, mean.new_ones(1)
    node, weight = np.polynomial.hermite_e.hermegauss(NODES)
    # The square root has no derivative at zero, where nothing of what is pending is near.
    mean = mean + (moments.explained + 1e-12).sqrt()[..., None] * torch.from_numpy(node).to(mean)
    return mean, torch.from_numpy(weight / weight.sum()).to(mean)
