"""Beliefs while measurements are running: each x* sample is conditioned on a fantasy of its own (METHOD 20.1)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import cholesky
from pesky.model.belief import Belief, Paths, PosteriorMoments
from pesky.numerics.rng import Source, normal


class Pending(NamedTuple):
    """Points being measured, and which rows are measured at each."""

    X: Float[Tensor, "p d"]
    rows: Bool[Tensor, "p j"]


def precision(belief: Belief, pending: Pending) -> Float[Tensor, "*b j p p"]:
    """Inverse covariance of the pending values, zero where a row is not measured."""
    batch = belief.amplitude.shape[:-1]
    P = pending.X.expand(*batch, *pending.X.shape)
    measured = pending.rows.mT
    both = measured[..., :, None] & measured[..., None, :]
    # A repeated noise-free question has a singular covariance: the floor of the noise keeps it solvable.
    noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)
    joint = torch.where(both, belief.covariance(P, P), 0.0) + torch.diag_embed(
        torch.where(measured, noise[..., None], belief.amplitude[..., None])
    )
    root = cholesky(joint, belief.amplitude, jitter=1e-14)
    return torch.where(both, torch.cholesky_inverse(root), 0.0)


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
        self, belief: Belief, pending: Pending | None = None, paths: Paths | None = None,
        generator: Source | None = None,
    ) -> None:  # fmt: skip
        self.belief, self.pending = belief, pending
        if pending is None:
            return
        assert paths is not None
        assert generator is not None
        batch = belief.amplitude.shape[:-1]
        self.P = P = pending.X.expand(*batch, *pending.X.shape)
        self.solve = precision(belief, pending)
        drawn = paths.values(P)
        error = normal(generator, *drawn.shape, like=drawn)
        drawn = drawn + belief.noise.sqrt()[..., None, None] * error
        surprise = drawn - belief.mean(P)[..., None, :]
        self.shift = surprise @ self.solve

    def evaluator(self, points: Float[Tensor, "*b n d"]) -> Callable[[Tensor], FantasyMoments]:
        """Repeated looks from fixed points; see `Belief.view`."""
        if self.pending is None:
            plain = self.belief.evaluator(points)

            def unchanged(X: Tensor) -> FantasyMoments:
                moments: PosteriorMoments = plain(X)
                return FantasyMoments(moments.mean[..., None, :], moments.variance, moments.covariance)

            return unchanged
        n = points.shape[-2]
        both = self.belief.evaluator(torch.cat([points, self.P], -2))
        known = self.belief.covariance(points, self.P) @ self.solve
        floor = 1e-10 * self.belief.amplitude[..., None]

        def evaluate(X: Tensor) -> FantasyMoments:
            moments: PosteriorMoments = both(X)
            to_points, to_pending = moments.covariance[..., :n, :], moments.covariance[..., n:, :]
            mean = moments.mean[..., None, :] + self.shift @ to_pending
            explained = (to_pending * (self.solve @ to_pending)).sum(-2)
            variance = torch.maximum(moments.variance - explained, floor)
            return FantasyMoments(mean, variance, to_points - known @ to_pending)

        return evaluate
