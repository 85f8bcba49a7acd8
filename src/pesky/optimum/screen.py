"""Which of many points may be the solution at all: the others need no look in hundreds of draws (METHOD 4.2)."""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.model.belief import Belief, for_hyper_samples, over_hyper_samples, studies

CERTAIN = 4.0
"""Deviations beyond which nothing is expected: one draw in 30,000 is, and some hundreds are drawn."""
MANY = 400
"""Data from which on it takes longer to know the deviations than to look at every point in every draw."""


def possible_solutions(belief: Belief, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w m d"]:
    """Without the points that are certainly not the best: all constraints hold at another, which is better.

    The difference of the objective at two points has the variance of both together, or less where they go up and down
    together. Of several studies in lockstep, which would keep as many each, all are kept.
    """
    if studies(belief) or belief.points.shape[-2] > MANY:
        return X
    here = for_hyper_samples(belief, X)
    mean, variance = belief.mean(here), belief.variance(here)
    margin, deviation = belief.likelihoods.margins(mean, variance)
    score, objective, spread = margin / deviation, mean[..., 0, :], variance[..., 0, :]
    holds, fails = (score > CERTAIN).all(-2), (score < -CERTAIN).any(-2)
    known = torch.where(holds, objective + CERTAIN * spread.sqrt(), torch.inf).argmin(-1, keepdim=True)
    apart = objective - objective.gather(-1, known)
    is_worse = apart > CERTAIN * (spread + spread.gather(-1, known)).sqrt()
    is_possible = ~(holds.any(-1, keepdim=True) & (fails | is_worse))
    return X[over_hyper_samples(belief, is_possible).any(-2)]
