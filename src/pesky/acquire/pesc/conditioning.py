"""What every row is given that the constrained minimum is at x*: where the factors are, and EP (METHOD 3, 5 to 7, 9).

That x* is the minimum says of every other point that it is not both feasible and better. Of these factors, those at a
few points stand for all; what they tell of the rows anywhere else follows from the values there.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.fantasy import FantasyMoments
from pesky.data.pending import Pending
from pesky.infer import ep
from pesky.infer.limits import Limits
from pesky.infer.predict import Knowledge, learn, to_objective_differences
from pesky.model.belief import Belief, for_hyper_samples

RELEVANT = 1e-3
"""Points whose factor moves nothing by this many deviations are left out of EP (METHOD 9): it changes the gains by less
than 1e-4, in rare places by 1e-3."""
MOST_POINTS = 64
"""Of the others, at most this many per x* sample are kept, the most relevant first."""
TOO_CLOSE = 1e-3
"""Points this close to x*, in lengthscales, say nothing and make the covariance singular."""


class FactorPoints(NamedTuple):
    """All points at which a factor may be, and the samples of x* themselves."""

    shared: Float[Tensor, "*b s d"]
    """Measured and pending points, which may say something about any x* (METHOD 9)."""
    optima: Float[Tensor, "*b m d"]
    local: Float[Tensor, "*b m l d"]
    """Neighbors of each x*, which say something about that one alone (METHOD 9, E1)."""

    @property
    def all(self) -> Float[Tensor, "*b p d"]:
        """In one list, in this order: what the indices of points count."""
        return torch.cat([self.shared, self.optima, self.local.flatten(-3, -2)], -2)

    @property
    def optima_index(self) -> Int[Tensor, "*b m"]:
        """Where in the list each x* is."""
        *batch, m, _ = self.optima.shape
        first = self.shared.shape[-2]
        return torch.arange(first, first + m, device=self.optima.device).expand(*batch, m)

    @property
    def local_index(self) -> Int[Tensor, "*b m l"]:
        """Where in the list the neighbors of each x* are."""
        *batch, m, count, _ = self.local.shape
        first = self.shared.shape[-2] + m
        return torch.arange(first, first + m * count, device=self.local.device).view(m, count).expand(*batch, m, count)


class FactorIndex(NamedTuple):
    """Which points an x* sample is compared with."""

    which: Int[Tensor, "*b m n"]
    """Each sample's points among all, its x* last."""
    active: Bool[Tensor, "*b m s"]
    """Which of them, x* aside, carry a factor: the samples have as many as the one that needs most."""


class Conditioning(NamedTuple):
    """What EP found, and what it makes of the rows at any x (METHOD 7)."""

    factors: FactorIndex
    sites: ep.Sites
    knowledge: Knowledge
    """Of all samples, their dimension behind that of the rows."""
    info: ep.Info


def factor_points(
    belief: Belief,
    x: Float[Tensor, "*b m d"],
    pending: Pending | None,
    local_reach: float | None,
    snap: Callable[[Tensor], Tensor] | None,
) -> FactorPoints:
    """Where factors may be, of samples x of x*; neighbors at `local_reach` lengthscales, or none."""
    told = belief.points if pending is None else torch.cat([belief.points, pending.X])
    local = (
        x[..., None, :][..., :0, :]
        if local_reach is None
        else neighbors(x, local_reach * smallest_lengthscale(belief), snap)
    )
    return FactorPoints(for_hyper_samples(belief, told), x, local)


def smallest_lengthscale(belief: Belief) -> Float[Tensor, "*b d"]:
    """Over rows, along each axis: the unit of distances between points (METHOD 9)."""
    return belief.lengthscale.amin(-2)


def neighbors(
    x: Float[Tensor, "*b m d"], reach: Float[Tensor, "*b d"], snap: Callable[[Tensor], Tensor] | None
) -> Float[Tensor, "*b m n d"]:
    """Points one reach either side of each x along each axis, reflected at the cube's faces."""
    steps = torch.diag_embed(reach)
    moved = torch.cat([x[..., None, :] + steps[..., None, :, :], x[..., None, :] - steps[..., None, :, :]], -2)
    moved = torch.where(moved > 1, 2 - moved, moved).abs().clamp(max=1.0)
    return snap(moved) if snap else moved


def condition(belief: Belief, points: FactorPoints, moments: FantasyMoments) -> Conditioning:
    """EP for every x* sample, of the joint moments at all points."""
    limits = limits_of(belief)
    factors = relevant_points(points, moments, smallest_lengthscale(belief), limits)
    prior, values_covariance = priors(moments, factors, belief.amplitude, limits)
    state, info = ep.run(prior)
    return Conditioning(factors, state.sites, _rows_first(learn(state, values_covariance), factors), info)


def recondition(before: Conditioning, belief: Belief, moments: FantasyMoments) -> Conditioning:
    """The factors and sites of before, on moments that have changed since (METHOD 20.2)."""
    prior, values_covariance = priors(moments, before.factors, belief.amplitude, limits_of(belief))
    state = ep.resume(prior, before.sites)
    knowledge = _rows_first(learn(state, values_covariance), before.factors)
    return before._replace(sites=state.sites, knowledge=knowledge)


def limits_of(belief: Belief) -> Limits | None:
    """The limits of rows besides zero, where there are any (METHOD 24)."""
    conditions = belief.likelihoods.conditions
    return None if conditions is None else conditions.limits


def relevant_points(
    points: FactorPoints, moments: FantasyMoments, lengthscale: Float[Tensor, "*b d"], limits: Limits | None = None
) -> FactorIndex:
    """The shared points that matter to each sample, the most relevant first, and all of its neighbors (METHOD 9)."""
    x, shared = (each / lengthscale[..., None, :] for each in (points.optima, points.shared))
    local = points.local / lengthscale[..., None, None, :]
    is_close = torch.cdist(x, shared, compute_mode="donot_use_mm_for_euclid_dist") < TOO_CLOSE
    # Of studies in lockstep, those with fewer points than others have their first one again.
    is_again = (points.shared[..., :, None, :] == points.shared[..., None, :, :]).all(-1).tril(-1).any(-1)
    says_nothing = is_close | is_again[..., None, :]
    score = torch.where(says_nothing, 0.0, torch.nan_to_num(shared_relevance(points, moments, limits)))

    needed = (score >= RELEVANT).sum(-1)
    most = score.topk(min(int(needed.max()) if needed.numel() else 0, MOST_POINTS), dim=-1)
    is_apart = (local - x[..., None, :]).norm(dim=-1) >= TOO_CLOSE
    return FactorIndex(
        which=torch.cat([most.indices, points.local_index, points.optima_index[..., None]], -1),
        active=torch.cat([most.values >= RELEVANT, is_apart], -1),
    )


def shared_relevance(
    points: FactorPoints, moments: FantasyMoments, limits: Limits | None = None
) -> Float[Tensor, "*b m s"]:
    """By how many deviations the factor at each shared point moves any row of each sample, at the start of EP.

    There the rows have the moments of the belief: of the constraints at u, and of the objective d = f(u) - f(x*), whose
    variance is Var f(u) + Var f(x*) - 2 Cov(f(u), f(x*)).
    """
    s, m = points.shared.shape[-2], points.optima.shape[-2]
    mean = moments.mean.expand(*moments.mean.shape[:-2], m, -1)
    variance = moments.covariance.diagonal(dim1=-2, dim2=-1).clamp(min=1e-300)
    f, f_variance, f_covariance = mean[..., 0, :, :], variance[..., 0, :], moments.covariance[..., 0, :, :]
    at_shared, at_optima = slice(s), slice(s, s + m)

    f_of_x = f[..., at_optima].diagonal(dim1=-2, dim2=-1)
    d = f[..., at_shared] - f_of_x[..., None]
    d_variance = (
        f_variance[..., None, at_shared]
        + f_variance[..., at_optima, None]
        - 2 * f_covariance[..., at_optima, at_shared]
    ).clamp(min=1e-300)
    c, c_variance = mean[..., 1:, :, at_shared], variance[..., 1:, None, at_shared]
    a = torch.cat([(d / d_variance.sqrt())[..., None, :, :], c / c_variance.sqrt()], -3)
    ends = None if limits is None else limits.ends(c, c_variance.sqrt().expand_as(c)).flatten(-2)
    return ep.relevance(a.flatten(-2), ends).view_as(d)


def priors(
    moments: FantasyMoments, factors: FactorIndex, amplitude: Float[Tensor, "*b j"], limits: Limits | None = None
) -> tuple[ep.Prior, Float[Tensor, "q j n n"]]:
    """What EP starts from, for all q samples of all batches, and the covariance of the values at each one's points."""
    *batch, m, _ = factors.which.shape
    mean, covariance = moments_at(moments, factors.which)
    scale = amplitude[..., None, :].expand(*batch, m, -1).reshape(mean.shape[:-1])
    if limits is not None:
        limits = limits.for_samples(m)
    prior = ep.prior(*to_objective_differences(mean, covariance), scale, factors.active.flatten(0, -2), limits)
    return prior, covariance


def moments_at(
    moments: FantasyMoments, index: Int[Tensor, "*b m n"]
) -> tuple[Float[Tensor, "q j n"], Float[Tensor, "q j n n"]]:
    """The joint moments of the values of every row at each sample's points, all samples in one dimension."""
    m, n = index.shape[-2:]
    rows, p = moments.covariance.shape[-3], moments.covariance.shape[-1]
    mean = moments.mean.expand(*moments.mean.shape[:-2], m, p).reshape(-1, rows, m, p)
    covariance = moments.covariance.reshape(-1, rows, p, p)

    # One index per dimension of these, all of shape (batch element, sample, row, point): what is taken has that shape.
    element = torch.arange(len(covariance), device=index.device)[:, None, None, None]
    sample = torch.arange(m, device=index.device)[:, None, None]
    row = torch.arange(rows, device=index.device)[:, None]
    point = index.view(-1, m, 1, n)
    pairs = covariance[element[..., None], row[..., None], point[..., :, None], point[..., None, :]]
    return mean[element, row, sample, point].flatten(0, 1), pairs.flatten(0, 1)


def _rows_first(knowledge: Knowledge, factors: FactorIndex) -> Knowledge:
    """The knowledge of all samples (q, j, ..) with the dimensions that a belief at x has: (*b, j, m, ..)."""
    weight, reduction, *of_objective = (t.view(*factors.which.shape[:-1], *t.shape[1:]) for t in knowledge)
    sample = factors.which.dim() - 2
    per_row = (t.transpose(sample, sample + 1).contiguous() for t in (weight, reduction))
    return Knowledge(*per_row, *of_objective)
