"""The factor that says "no better point here", and its exact moments."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf, log_density, truncation

NEVER = -1e30
"""Log probability of what does not happen; finite, so that gradients are."""


class TiltedMoments(NamedTuple):
    """What multiplying a Gaussian by a factor does to each of its standardized coordinates."""

    log_z: Float[Tensor, "*b n"]
    """Log of the factor's expectation."""
    shift: Float[Tensor, "*b j n"]
    """Mean after minus mean before, in standard deviations (METHOD 6.2: beta)."""
    remaining: Float[Tensor, "*b j n"]
    """Variance after over variance before (METHOD 6.3: 1 - gamma); above 1 where the factor widens."""


def no_better(a: Float[Tensor, "*b j n"]) -> TiltedMoments:
    """TiltedMoments of h = 1 - [d < 0] prod_k [c_k >= 0] under independent normals of unit variance and means `a`.

    Row 0 is the difference d = f(u) - f(x*), rows 1..K the constraints at u: the point u may not be both
    feasible and better. Every remaining variance is a sum of terms that cannot be negative (a mixture's
    variance within and between its parts), so nothing cancels in the tails.
    """
    rows = a.shape[-2]
    both = torch.cat([a, -a], -2)
    log_both = log_cdf(both)
    hazard, within = truncation(both, log_both)
    worse, better = log_both[..., 0, :], log_both[..., rows, :]
    if rows == 1:
        return TiltedMoments(worse, hazard[..., :1, :], within[..., :1, :])

    log_c, log_below = log_both[..., 1:rows, :], log_both[..., rows + 1 :, :]
    log_feasible = log_c.sum(-2)
    log_infeasible = log_any(log_below, log_c)
    log_z = torch.logaddexp(log_feasible + worse, log_infeasible)

    # d: cut off below zero if the point is feasible, untouched if it is not.
    cut, uncut = torch.exp(log_feasible + worse - log_z), torch.exp(log_infeasible - log_z)
    hazard_d = hazard[..., 0, :]
    shift_d = cut * hazard_d
    remaining_d = uncut + cut * within[..., 0, :] + cut * uncut * hazard_d.square()

    # c_k: above zero its weight falls to 1 - Q_k, with Q_k the probability that all else makes u a better point.
    log_z_c = log_z[..., None, :]
    log_q = log_feasible[..., None, :] - log_c + better[..., None, :]
    log_not_q = worse[..., None, :]
    if rows > 2:
        log_not_q = torch.logaddexp(log_not_q, better[..., None, :] + log_any_other(log_below, log_c))
    above, below = torch.exp(log_not_q + log_c - log_z_c), torch.exp(log_below - log_z_c)
    shift_c = -torch.exp(log_q + log_density(a[..., 1:, :]) - log_z_c)
    between = above * below * (hazard[..., 1:rows, :] + hazard[..., rows + 1 :, :]).square()
    remaining_c = above * within[..., 1:rows, :] + below * within[..., rows + 1 :, :] + between
    return TiltedMoments(
        log_z,
        torch.cat([shift_d[..., None, :], shift_c], -2),
        torch.cat([remaining_d[..., None, :], remaining_c], -2),
    )


def log_any(log_p: Float[Tensor, "*b k n"], log_not_p: Float[Tensor, "*b k n"]) -> Float[Tensor, "*b n"]:
    """Log probability that at least one of k independent events happens, accurate also where all are rare.

    The first event that happens is number 1, or 2, ..: a sum of terms, where 1 - prod(1 - p) would cancel.
    """
    none_before = log_not_p.cumsum(-2) - log_not_p
    return (log_p + none_before).logsumexp(-2)


def log_any_other(log_p: Float[Tensor, "*b k n"], log_not_p: Float[Tensor, "*b k n"]) -> Float[Tensor, "*b k n"]:
    """The same for each event left out in turn."""
    k = log_p.shape[-2]
    itself = torch.eye(k, dtype=torch.bool, device=log_p.device)[:, :, None]
    others = torch.where(itself, NEVER, log_p[..., None, :, :])
    return log_any(others, torch.where(itself, 0.0, log_not_p[..., None, :, :]))
