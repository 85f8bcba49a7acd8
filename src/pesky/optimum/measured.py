"""The measured points near which the solution may be."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.model.belief import Marginals, for_hyper_samples, over_hyper_samples
from pesky.model.moments import mean_at_points

MOST_MEASURED = 512
"""Measured points that are looked at: x* is near the best of them, or between all."""
AT_ONCE = 2**24
"""Covariances with the data, or scaled coordinates, that are computed at a time."""
WORSE = 10.0
"""What a deviation of a violated constraint counts, in deviations of the objective, when measured points are ranked."""


def best_measured(belief: Marginals, count: int = MOST_MEASURED) -> Float[Tensor, "*w n d"]:
    """The measured points, of more than so many those that are expected to be the best."""
    measured = belief.points
    if measured.shape[-2] <= count:
        return measured
    return lowest_ranked(measured, rank_of_points(belief), count)


def lowest_ranked(X: Float[Tensor, "*w n d"], rank: Float[Tensor, "*w n"], count: int) -> Float[Tensor, "*w m d"]:
    """So many points, those of the lowest rank."""
    best = rank.argsort(-1)[..., :count]
    return torch.gather(X, -2, best[..., None].expand(*best.shape, X.shape[-1]))


def expected_rank(belief: Marginals, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n"]:
    """How good each point is expected to be, the lower the better: the objective, and what constraints are violated by.

    It needs no variance, which would take as long as all else.
    """
    with torch.no_grad():
        each = [_rank(belief, belief.mean(for_hyper_samples(belief, some))) for some in some_at_a_time(belief, X)]
    return each[0] if len(each) == 1 else torch.cat(each, -1)


def some_at_a_time(belief: Marginals, X: Float[Tensor, "*w n d"]) -> Sequence[Float[Tensor, "*w m d"]]:
    """The points in parts, of which the belief of each takes little memory."""
    n, d = belief.points.shape[-2:]
    return X.split(max(1, AT_ONCE // (belief.amplitude.numel() * max(n, d))), -2)


def rank_of_points(belief: Marginals) -> Float[Tensor, "*w n"]:
    """The same of the belief's own points, whose means it has at hand."""
    with torch.no_grad():
        return _rank(belief, mean_at_points(belief))


def rank_of_some(belief: Marginals, some: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """The same of points that are most probably the belief's own."""
    points, some = belief.points, some.to(belief.points)
    _, which = torch.unique(torch.cat([points, some]), dim=0, return_inverse=True)
    rank = points.new_full((len(which),), torch.nan).scatter(0, which[: len(points)], rank_of_points(belief))
    found = rank[which[len(points) :]]
    return expected_rank(belief, some) if bool(found.isnan().any()) else found


def _rank(belief: Marginals, mean: Float[Tensor, "*b j n"]) -> Float[Tensor, "*w n"]:
    likelihoods = belief.likelihoods
    rows = likelihoods.inequalities(mean, -2) / likelihoods.units(belief.amplitude.sqrt())[..., None]
    violation = (-rows[..., 1:, :]).clamp(min=0.0).sum(-2)
    return over_hyper_samples(belief, rows[..., 0, :] + WORSE * violation).mean(-2)
