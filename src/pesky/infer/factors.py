"""The factor that says "no better point here", and its exact moments."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf, log_density, truncation
from pesky.infer.interval import CERTAIN, FAR, interval_moments, log_interval
from pesky.infer.limits import log_not

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


def no_better(
    a: Float[Tensor, "*b j n"],
    ends: Float[Tensor, "*b k n"] | None = None,
    log_reach: Float[Tensor, "*b n"] | None = None,
) -> TiltedMoments:
    """TiltedMoments of h = 1 - [d < 0] prod_k [c_k >= 0] under independent normals of unit variance and means `a`.

    Row 0 is the difference d = f(u) - f(x*), rows 1..K the constraints at u: the point u may not be both
    feasible and better. Every remaining variance is a sum of terms that cannot be negative (a mixture's
    variance within and between its parts), so nothing cancels in the tails.

    Constraints with an upper limit, too, have it at `ends` deviations above their means; `log_reach` is the log
    probability that a better f(u) is above the objective's lower limit (METHOD 24).
    """
    if ends is not None:
        return _within_limits(a, ends, log_reach)
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


def _within_limits(
    a: Float[Tensor, "*b j n"], ends: Float[Tensor, "*b k n"], log_reach: Float[Tensor, "*b n"] | None
) -> TiltedMoments:
    """The same where a constraint is feasible between two limits: inside, below and above are three parts of it."""
    worse, better = log_cdf(a[..., 0, :]), log_cdf(-a[..., 0, :])
    hazard_d, within_d = truncation(a[..., 0, :], worse)
    low, high = (-a[..., 1:, :]).clamp(-FAR, FAR), ends.clamp(max=CERTAIN)
    k = low.shape[-2]
    log_in, log_below, log_above = log_interval(low, high), log_cdf(low), log_cdf(-high)
    log_out = torch.logaddexp(log_below, log_above)
    # That f(u) is within reach is one more event beside the constraints, of which nothing is learnt.
    log_each, log_fail = log_in, log_out
    if log_reach is not None:
        log_each = torch.cat([log_in, log_reach[..., None, :]], -2)
        log_fail = torch.cat([log_out, log_not(log_reach)[..., None, :]], -2)
    log_feasible, log_infeasible = log_each.sum(-2), log_any(log_fail, log_each)
    log_z = torch.logaddexp(log_feasible + worse, log_infeasible)

    cut, uncut = torch.exp(log_feasible + worse - log_z), torch.exp(log_infeasible - log_z)
    shift_d = cut * hazard_d
    remaining_d = uncut + cut * within_d + cut * uncut * hazard_d.square()

    log_z_c = log_z[..., None, :]
    log_q = log_feasible[..., None, :] - log_in + better[..., None, :]
    log_not_q = torch.logaddexp(worse[..., None, :], better[..., None, :] + log_any_other(log_fail, log_each))[
        ..., :k, :
    ]
    mean, variance = interval_moments(low, high)
    (below, within_below), (above, within_above) = truncation(low, log_below), truncation(-high, log_above)
    inside, under, over = (torch.exp(each - log_z_c) for each in (log_not_q + log_in, log_below, log_above))
    # The means of the three parts, unweighted, add up to nothing: what the factor takes from inside is the shift.
    shift_c = -torch.exp(log_q + log_in - log_z_c) * mean
    remaining_c = inside * variance + under * within_below + over * within_above
    remaining_c = remaining_c + inside * (under * (mean + below).square() + over * (above - mean).square())
    remaining_c = remaining_c + under * over * (above + below).square()
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
