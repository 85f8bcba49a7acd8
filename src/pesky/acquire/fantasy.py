"""Fantasies at pending points: the belief as it will be once their values are in (METHOD 20.1).

What is awaited lowers the variances wherever it comes out; what it does to the means depends on the values. Improvement
rules look at means and variances alone, and take each value to be its mean, so that an incumbent stays one: a
`FantasyBelief`. Entropy rules have samples with values of their own everywhere, and condition each of them on these:
`Fantasies`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.data.pending import Pending
from pesky.infer.gaussian import cholesky
from pesky.infer.predict import VARIANCE_FLOOR
from pesky.model.belief import Belief, Evaluator, Paths, PosteriorMoments
from pesky.model.derived import DerivedBelief
from pesky.numerics.rng import Source, normal


def precision(
    belief: Belief, pending: Pending, noise: Float[Tensor, "*b j"] | None = None
) -> Float[Tensor, "*b j p p"]:
    """Inverse covariance of the pending values, zero where a row is not measured; the noise is the belief's if None."""
    batch = belief.amplitude.shape[:-1]
    P = pending.X.expand(*batch, *pending.X.shape)
    measured = pending.rows.mT
    both = measured[..., :, None] & measured[..., None, :]
    # A repeated noise-free question has a singular covariance: the floor of the noise keeps it solvable.
    noise = torch.maximum(belief.noise if noise is None else noise, VARIANCE_FLOOR * belief.amplitude)
    joint = torch.where(both, belief.covariance(P, P), 0.0) + torch.diag_embed(
        torch.where(measured, noise[..., None], belief.amplitude[..., None])
    )
    root = cholesky(joint, belief.amplitude, jitter=1e-14)
    return torch.where(both, torch.cholesky_inverse(root), 0.0)


def fantasize(belief: Belief, paths: Paths, P: Float[Tensor, "*b p d"], source: Source) -> Float[Tensor, "*b j m p"]:
    """What each draw would have measured at P: its own values there, plus noise."""
    drawn = paths.values(P)
    error = normal(source, *drawn.shape, like=drawn)
    return drawn + belief.noise.sqrt()[..., None, None] * error


def with_pending(belief: Belief, pending: Pending | None) -> Belief:
    """The belief once the pending values are in, if they come out as expected; itself where nothing is pending."""
    return belief if pending is None else FantasyBelief(belief, pending)


@dataclass(frozen=True)
class FantasyBelief(DerivedBelief):
    """A belief, conditioned on values at the pending points that equal their means ("kriging believer")."""

    pending: Pending

    @cached_property
    def P(self) -> Float[Tensor, "*b p d"]:
        """The pending points, for every batch element."""
        return self.pending.X.expand(*self.belief.amplitude.shape[:-1], *self.pending.X.shape)

    @cached_property
    def precision(self) -> Float[Tensor, "*b j p p"]:
        return precision(self.belief, self.pending)

    def variance(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self._variance(self.belief.variance(X), self.belief.covariance(self.P, X))

    def _variance(
        self, variance: Float[Tensor, "*b j x"], to_pending: Float[Tensor, "*b j p x"]
    ) -> Float[Tensor, "*b j x"]:
        """What is left of the variance, given its covariance with the pending values."""
        explained = (to_pending * (self.precision @ to_pending)).sum(-2)
        return torch.maximum(variance - explained, VARIANCE_FLOOR * self.amplitude[..., None])

    def covariance(self, X: Float[Tensor, "*b x d"], Z: Float[Tensor, "*b z d"]) -> Float[Tensor, "*b j x z"]:
        explained = self.belief.covariance(X, self.P) @ self.precision @ self.belief.covariance(self.P, Z)
        return self.belief.covariance(X, Z) - explained

    def evaluator(self, P: Float[Tensor, "*b p d"]) -> Evaluator:
        evaluate = self.evaluator_with_pending(P)
        return lambda X: evaluate(X)[0]

    def evaluator_with_pending(
        self, points: Float[Tensor, "*b n d"]
    ) -> Callable[[Tensor], tuple[PosteriorMoments, Float[Tensor, "*b j p x"]]]:
        """As `evaluator`; and with the moments comes the covariance of x with the pending values, these unknown."""
        n = points.shape[-2]
        both = self.belief.evaluator(torch.cat([points, self.P], -2))
        weight = self.belief.covariance(points, self.P) @ self.precision

        def evaluate(X: Tensor) -> tuple[PosteriorMoments, Tensor]:
            mean, variance, covariance = both(X)
            to_points, to_pending = covariance[..., :n, :], covariance[..., n:, :]
            left = self._variance(variance, to_pending)
            return PosteriorMoments(mean, left, to_points - weight @ to_pending), to_pending

        return evaluate

    def paths(self, count: int, source: Source) -> FantasyPaths:
        drawn = self.belief.paths(count, source)
        lacking = self.belief.mean(self.P)[..., None, :] - fantasize(self.belief, drawn, self.P, source)
        return FantasyPaths(self, drawn, lacking @ self.precision)


@dataclass(frozen=True)
class FantasyPaths:
    """Draws, each corrected for what its own value at the pending points lacks of the mean."""

    given: FantasyBelief
    drawn: Paths
    weight: Float[Tensor, "*b j m p"]

    def values(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
        return self.drawn.values(X) + self.weight @ self.given.belief.covariance(self.given.P, X)

    def at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        value, gradient = self.drawn.at(X)
        with torch.enable_grad():
            here = X.detach().requires_grad_()
            shift = (self.weight.mT * self.given.belief.covariance(self.given.P, here)).sum(-2)
            each = [torch.autograd.grad(row.sum(), here, retain_graph=True)[0] for row in shift.unbind(-2)]
        return value + shift.detach(), gradient + torch.stack(each, -3)

    def select(self, index: Int[Tensor, "*b r"]) -> FantasyPaths:
        rows = index[..., None, :, None].expand(*self.weight.shape[:-2], index.shape[-1], self.weight.shape[-1])
        return FantasyPaths(self.given, self.drawn.select(index), torch.gather(self.weight, -2, rows))


class FantasyMoments(NamedTuple):
    """A belief per x* sample m: its means differ, its covariance does not."""

    mean: Float[Tensor, "*b j #m x"]
    variance: Float[Tensor, "*b j x"]
    covariance: Float[Tensor, "*b j p x"]


class Fantasies:
    """The belief as it will be once the pending values are in: for x* sample m, the value of its own draw plus noise.

    The values do not enter the covariance, so that is shared by all samples, and each x* stays consistent with its
    own fantasy. Without pending points this is the belief itself.
    """

    def __init__(
        self, belief: Belief, pending: Pending | None = None, paths: Paths | None = None, source: Source | None = None
    ) -> None:
        self.belief = belief
        self.given = None if pending is None else FantasyBelief(belief, pending)
        if self.given is not None:
            assert paths is not None
            assert source is not None
            surprise = fantasize(belief, paths, self.given.P, source) - belief.mean(self.given.P)[..., None, :]
            self.shift = surprise @ self.given.precision

    def evaluator(self, points: Float[Tensor, "*b n d"]) -> Callable[[Tensor], FantasyMoments]:
        """What is believed at any x, and its covariance with these points; see `Belief.evaluator`."""
        if self.given is None:
            plain = self.belief.evaluator(points)

            def unchanged(X: Tensor) -> FantasyMoments:
                moments = plain(X)
                return FantasyMoments(moments.mean[..., None, :], moments.variance, moments.covariance)

            return unchanged
        given = self.given.evaluator_with_pending(points)

        def shifted(X: Tensor) -> FantasyMoments:
            moments, to_pending = given(X)
            mean = moments.mean[..., None, :] + self.shift @ to_pending
            return FantasyMoments(mean, moments.variance, moments.covariance)

        return shifted


def overlap(belief: Belief, x: Float[Tensor, " d"], rows: Bool[Tensor, " j"], others: Pending) -> float:
    """The share of the variance at x, of the row of these where it is largest, that the others' answers explain.

    An answer y of variance v + noise tells 0.5 log(1 + v / noise) of its row at x, and beside others that explain the
    share r of v at least 1 - r of that, since the logarithm is concave. It takes a millisecond to compute, where to
    decide anew takes all the stages of that.
    """
    batch = belief.amplitude.shape[:-1]
    here, there = (P.expand(*batch, *P.shape) for P in (x[None], others.X))
    with_x = belief.covariance(there, here)
    explained = (with_x * (precision(belief, others) @ with_x)).sum((-2, -1))
    # what is known of the row but for rounding errors is explained by nobody
    share = explained / torch.maximum(belief.variance(here)[..., 0], VARIANCE_FLOOR * belief.amplitude)
    return float(share.reshape(-1, share.shape[-1]).mean(0)[rows].amax().clamp(max=1.0))
