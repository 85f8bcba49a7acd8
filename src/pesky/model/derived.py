"""A belief made of another one, which answers whatever it does not answer itself."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from pesky.likelihood import Likelihoods
from pesky.model.belief import Belief, Evaluator, Paths
from pesky.numerics.rng import Source


@dataclass(frozen=True)
class DerivedBelief:
    """All that a `Belief` answers, as another one does; a subclass overrides what is different."""

    belief: Belief

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
    def points(self) -> Float[Tensor, "*w n d"]:
        return self.belief.points

    def mean(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self.belief.mean(X)

    def variance(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self.belief.variance(X)

    def covariance(self, X: Float[Tensor, "*b x d"], Z: Float[Tensor, "*b z d"]) -> Float[Tensor, "*b j x z"]:
        return self.belief.covariance(X, Z)

    def evaluator(self, P: Float[Tensor, "*b p d"]) -> Evaluator:
        return self.belief.evaluator(P)

    def paths(self, count: int, source: Source) -> Paths:
        return self.belief.paths(count, source)
