"""Joint samples beside what is pending: each sample has measurements of its own at the pending points (METHOD 20.1).

With the loadings b(x) of a row at x and B at the pending points, and measurements y = B^T e + error, what y tells of
the row at x is the prediction u = w(x)^T y, w(x) = Cov(y)^-1 Cov(y, z(x)). So a sample's value is a surprise and a
prediction,

    b(x)^T e = [b(x) - B w(x)]^T e - w(x)^T error  +  u,

and a group of twenty samples can be regressed on u, however many points are pending. The surprise is computed from its
own loadings: as a difference of values it would have no digits left near a pending point.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pesky.acquire.fantasy import precision
from pesky.acquire.grouped.inducing import WhitenedBelief, whitening_of
from pesky.data.pending import Pending
from pesky.model.belief import Belief, Evaluator
from pesky.numerics.rng import normal_blocks


class SampledAt(NamedTuple):
    """Of every row at x: what all samples share, and how the value of each is made of its coordinates."""

    mean: Float[Tensor, "*b j x"]
    unsampled: Float[Tensor, "*b j x"]
    """The variance of what is independent of the samples."""
    loadings: Float[Tensor, "*b j r x"]
    """Of the value, or of the surprise where something is pending."""
    weights: Float[Tensor, "*b j p x"] | None = None
    """Of a sample's own measurements at the pending points, in what they predict."""


class Awaited(NamedTuple):
    """The samples with their measurements at p pending points; see `SampledAt` for what they are at x."""

    evaluate: Evaluator
    """Covariances with the inducing points, then with the pending points."""
    whitening: Float[Tensor, "*b j r k"]
    own_whitening: Float[Tensor, "*b j q p"]
    """Of what the inducing points leave open at the pending points: q coordinates more."""
    at_pending: Float[Tensor, "*b j r+q p"]
    """The loadings at the pending points."""
    precision: Float[Tensor, "*b j p p"]
    """Of the measurements; zero where a row is not measured."""
    deviation: Float[Tensor, "*b j 1 1"]
    """Of their errors."""
    coordinates: Float[Tensor, "*b j h r+q+p"]
    """Those of the samples, of what the pending points add, and of the errors; of mirror images with the other sign."""
    measured: Float[Tensor, "*b j h p"]

    def first_pairs(self, count: int) -> "Awaited":
        """The same of the first `count` samples, and their mirror images."""
        few = (t[..., :count, :] for t in (self.coordinates, self.measured))
        return Awaited(*self[:-2], *few)

    def __call__(self, X: Float[Tensor, "*b x d"]) -> SampledAt:
        mean, variance, covariance = self.evaluate(X)
        k, r = self.whitening.shape[-1], self.whitening.shape[-2]
        loadings, to_pending = self.whitening @ covariance[..., :k, :], covariance[..., k:, :]
        own = self.own_whitening @ (to_pending - self.at_pending[..., :r, :].mT @ loadings)
        loadings = torch.cat([loadings, own], -2)
        weights = self.precision @ to_pending
        surprise = torch.cat([loadings - self.at_pending @ weights, -self.deviation * weights], -2)
        return SampledAt(mean, (variance - loadings.square().sum(-2)).clamp(min=0.0), surprise, weights)


def await_pending(
    belief: Belief,
    whitened: WhitenedBelief,
    coordinates: Float[Tensor, "*b j h r"],
    pending: Pending,
    noise: Float[Tensor, "*b j"],
    seeds: Int[Tensor, "*b j"],
) -> Awaited:
    """The samples of these coordinates, with measurements of their own at the pending points."""
    P = pending.X.expand(*belief.amplitude.shape[:-1], *pending.X.shape)
    _, loadings = whitened(P)
    left_open = belief.covariance(P, P) - loadings.mT @ loadings
    own_whitening = whitening_of(left_open, belief.amplitude)
    at_pending = torch.cat([loadings, own_whitening @ left_open], -2)
    deviation = noise.sqrt()[..., None, None]
    more = normal_blocks(seeds, own_whitening.shape[-2] + P.shape[-2], coordinates.shape[-2], like=loadings)
    extended = torch.cat([coordinates, more.mT.to(coordinates)], -1)
    r = at_pending.shape[-2]
    measured = extended[..., :r] @ at_pending.to(extended) + deviation.to(extended) * extended[..., r:]
    return Awaited(
        belief.evaluator(torch.cat([whitened.points, P], -2)),
        whitened.whitening,
        own_whitening,
        at_pending,
        precision(belief, pending, noise),
        deviation,
        extended,
        measured,
    )
