"""The belief once the pending values are in, if they come out as expected ("kriging believer").

Improvement rules look at means and variances alone. What is awaited lowers the variances wherever it comes out; the
means are kept, so that an incumbent stays one. Entropy rules, whose samples have values of their own everywhere,
condition each of them on these: see `pending`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.fantasy import Pending, precision
from pesky.likelihood import Likelihoods
from pesky.model.belief import Belief, Evaluator, Paths, PosteriorMoments
from pesky.numerics.rng import Source, normal


def believe(belief: Belief, pending: Pending | None) -> Belief:
    """The belief itself where nothing is pending."""
    return belief if pending is None else FantasyBelief(belief, pending)


@dataclass(frozen=True)
class FantasyBelief:
    """A belief, conditioned on values at the pending points that equal their means."""

    belief: Belief
    pending: Pending
    solve: Float[Tensor, "*b j p p"] = field(init=False)
    P: Float[Tensor, "*b p d"] = field(init=False)

    def __post_init__(self) -> None:
        batch = self.belief.amplitude.shape[:-1]
        object.__setattr__(self, "solve", precision(self.belief, self.pending))
        object.__setattr__(self, "P", self.pending.X.expand(*batch, *self.pending.X.shape))

    @property
    def amplitude(self) -> Float[Tensor, "*b j"]:
        return self.belief.amplitude

    @property
    def lengthscale(self) -> Float[Tensor, "*b j d"]:
        return self.belief.lengthscale

    @property
    def noise(self) -> Float[Tensor, "*b j"]:
        return self.belief.noise

    @property
    def likelihoods(self) -> Likelihoods:
        return self.belief.likelihoods

    @property
    def binary(self) -> Bool[Tensor, " j"]:
        return self.belief.binary

    @property
    def points(self) -> Float[Tensor, "n d"]:
        return self.belief.points

    def mean(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self.belief.mean(X)

    def variance(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        to_pending = self.belief.covariance(self.P, X)
        return self._lowered(self.belief.variance(X), to_pending)

    def _lowered(
        self, variance: Float[Tensor, "*b j x"], to_pending: Float[Tensor, "*b j p x"]
    ) -> Float[Tensor, "*b j x"]:
        explained = (to_pending * (self.solve @ to_pending)).sum(-2)
        return torch.maximum(variance - explained, 1e-10 * self.amplitude[..., None])

    def covariance(self, X: Float[Tensor, "*b x d"], Z: Float[Tensor, "*b z d"]) -> Float[Tensor, "*b j x z"]:
        explained = self.belief.covariance(X, self.P) @ self.solve @ self.belief.covariance(self.P, Z)
        return self.belief.covariance(X, Z) - explained

    def evaluator(self, P: Float[Tensor, "*b p d"]) -> Evaluator:
        n = P.shape[-2]
        both = self.belief.evaluator(torch.cat([P, self.P], -2))
        known = self.belief.covariance(P, self.P) @ self.solve

        def evaluate(X: Float[Tensor, "*b x d"]) -> PosteriorMoments:
            moments = both(X)
            to_points, to_pending = moments.covariance[..., :n, :], moments.covariance[..., n:, :]
            return PosteriorMoments(
                moments.mean, self._lowered(moments.variance, to_pending), to_points - known @ to_pending
            )

        return evaluate

    def paths(self, count: int, source: Source) -> FantasyPaths:
        drawn = self.belief.paths(count, source)
        values = drawn.values(self.P)
        error = normal(source, *values.shape, like=values)
        noisy = values + self.belief.noise.sqrt()[..., None, None] * error
        return FantasyPaths(self, drawn, (self.belief.mean(self.P)[..., None, :] - noisy) @ self.solve)


@dataclass(frozen=True)
class FantasyPaths:
    """Draws, each corrected for what its own value at the pending points lacks of the mean."""

    believer: FantasyBelief
    drawn: Paths
    weight: Float[Tensor, "*b j m p"]

    def values(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
        return self.drawn.values(X) + self.weight @ self.believer.belief.covariance(self.believer.P, X)

    def at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        value, gradient = self.drawn.at(X)
        with torch.enable_grad():
            here = X.detach().requires_grad_()
            shift = (self.weight.mT * self.believer.belief.covariance(self.believer.P, here)).sum(-2)
            each = [torch.autograd.grad(row.sum(), here, retain_graph=True)[0] for row in shift.unbind(-2)]
        return value + shift.detach(), gradient + torch.stack(each, -3)

    def select(self, index: Int[Tensor, "*b r"]) -> FantasyPaths:
        rows = index[..., None, :, None].expand(*self.weight.shape[:-2], index.shape[-1], self.weight.shape[-1])
        return FantasyPaths(self.believer, self.drawn.select(index), torch.gather(self.weight, -2, rows))
