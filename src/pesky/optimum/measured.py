"""The measured points near which the solution may be."""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.model.belief import Marginals, for_hyper_samples, over_hyper_samples

MOST_MEASURED = 512
"""Measured points that are looked at: x* is near the best of them, or between all."""
WORSE = 10.0
"""What a deviation of a violated constraint counts, in deviations of the objective, when measured points are ranked."""


def best_measured(belief: Marginals, count: int = MOST_MEASURED) -> Float[Tensor, "*w n d"]:
    """The measured points, of more than so many those that are expected to be the best."""
    measured = belief.points
    if measured.shape[-2] <= count:
        return measured
    best = expected_rank(belief, measured).argsort(-1)[..., :count]
    return torch.gather(measured, -2, best[..., None].expand(*best.shape, measured.shape[-1]))


def expected_rank(belief: Marginals, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n"]:
    """How good each point is expected to be, the lower the better: the objective, and what constraints are violated by.

    It needs no variance, which would take as long as all else.
    """
    with torch.no_grad():
        mean, likelihoods = belief.mean(for_hyper_samples(belief, X)), belief.likelihoods
    rows = likelihoods.inequalities(mean, -2) / likelihoods.units(belief.amplitude.sqrt())[..., None]
    violation = (-rows[..., 1:, :]).clamp(min=0.0).sum(-2)
    return over_hyper_samples(belief, rows[..., 0, :] + WORSE * violation).mean(-2)
