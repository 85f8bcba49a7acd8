"""A belief whose rows must hold other conditions than to be zero or above."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.likelihood import Conditions, Likelihoods
from pesky.model.belief import Anchored, Belief, InLockstep, anchored
from pesky.model.derived import DerivedBelief
from pesky.model.moments import Expansion, Moments, expand, mean_at_points, moments_of


@dataclass(frozen=True)
class WithConditions(DerivedBelief):
    """The same belief under these conditions (METHOD 24); see `Belief`."""

    conditions: Conditions

    @property
    def likelihoods(self) -> Likelihoods:
        return self._likelihoods

    @cached_property
    def _likelihoods(self) -> Likelihoods:
        return replace(self.belief.likelihoods, conditions=self.conditions)

    @property
    def mean_at_points(self) -> Float[Tensor, "*b j n"]:
        return mean_at_points(self.belief)

    def moments(self, X: Float[Tensor, "*b x d"]) -> Moments:
        return moments_of(self.belief, X)

    def expand(self, X: Float[Tensor, "*b x d"], axes: Int[Tensor, " e"]) -> Expansion:
        return expand(self.belief, X, axes)

    def anchored(self, P: Float[Tensor, "*b p d"]) -> Anchored:
        return anchored(self.belief, P)

    def of(self, some: Bool[Tensor, " w"]) -> WithConditions:
        assert isinstance(self.belief, InLockstep)
        return WithConditions(self.belief.of(some), self.conditions.of(some))


def with_conditions(belief: Belief, conditions: Conditions | None) -> Belief:
    """The belief under these conditions, for all of its hyperparameter samples; None: as the rows are by themselves."""
    bare = without_conditions(belief)
    if conditions is None:
        return bare
    batch, bound = bare.amplitude.shape[:-1], conditions.bound
    # Of studies in lockstep each has its own, for all of its samples.
    lacking = len(batch) - (bound.dim() - 1)
    bound = bound.view(*bound.shape[:-1], *(1,) * lacking, bound.shape[-1]).expand(*batch, bound.shape[-1])
    return WithConditions(bare, replace(conditions, bound=bound.to(bare.amplitude)))


def without_conditions(belief: Belief) -> Belief:
    """The belief with its rows by themselves."""
    return belief.belief if isinstance(belief, WithConditions) else belief
