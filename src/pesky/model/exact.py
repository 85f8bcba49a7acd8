"""A belief beside which some rows are known exactly: functions of the parameters that need no measuring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.likelihood import Likelihoods
from pesky.likelihood.gaussian import GaussianLikelihood
from pesky.model.belief import (
    Anchored,
    Belief,
    Evaluator,
    InLockstep,
    Paths,
    PathsInLockstep,
    PosteriorMoments,
    anchored,
    for_hyper_samples,
)
from pesky.model.gp import ERROR_FLOOR, VARIANCE_FLOOR
from pesky.model.moments import Expansion, Moments, Slopes, expand, mean_at_points, moments_of
from pesky.numerics.rng import Source
from pesky.observations import Observations
from pesky.space.exact import Exact, evaluate


@dataclass(frozen=True)
class ExactRow:
    """A known outcome in the scaled units of a row."""

    outcome: Exact
    direction: float
    offset: float
    scale: float

    @classmethod
    def of(cls, outcome: Exact, o: Observations, row: int) -> ExactRow:
        """The outcome, scaled as the row is: by its own values, and so alike in all studies in lockstep."""
        direction, offset, scale = (part.reshape(-1, part.shape[-1])[0] for part in (o.direction, o.offset, o.scale))
        return cls(outcome, float(direction[row]), float(offset[row]), float(scale[row]))

    def values(self, X: Float[Tensor, "x d"]) -> Float[Tensor, " x"]:
        return ((self.direction * self.outcome.values(X) - self.offset) / self.scale).to(X)

    def gradients(self, X: Float[Tensor, "x d"]) -> Float[Tensor, "x d"]:
        return (self.direction / self.scale * self.outcome.gradients(X)).to(X)


@dataclass(frozen=True)
class WithExactRows:
    """The belief of the rows that are measured, with the others known exactly between them; see `Belief`.

    An exact row has amplitude 1 and, at every point, the least variance that a Gaussian process has of noise-free
    data, uncorrelated between points: expectation propagation divides by it. It varies over no lengthscale. Answers,
    which do not, believe it to the last digits (`moments`).
    """

    belief: Belief
    known: tuple[ExactRow | None, ...]
    """One for each row, None where it is measured."""
    snap: Callable[[Tensor], Tensor] | None = None
    """Rounds points to what can be measured."""

    @cached_property
    def rows(self) -> tuple[ExactRow, ...]:
        """The rows that are known."""
        return tuple(row for row in self.known if row is not None)

    @cached_property
    def _order(self) -> Int[Tensor, " j"]:
        """Where each row is once the known ones stand behind the measured ones."""
        is_known = torch.tensor([row is not None for row in self.known])
        return torch.where(is_known, (~is_known).sum() + is_known.cumsum(0), (~is_known).cumsum(0)) - 1

    def of(self, some: Bool[Tensor, " w"]) -> WithExactRows:
        assert isinstance(self.belief, InLockstep)
        return replace(self, belief=self.belief.of(some))

    def merge(self, measured: Tensor, known: Tensor | float, dim: int) -> Tensor:
        """All rows, in their order along a dimension."""
        shape = list(measured.shape)
        shape[dim] = len(self.rows)
        exact = torch.as_tensor(known, dtype=measured.dtype, device=measured.device).expand(shape)
        return torch.cat([measured, exact], dim).index_select(dim, self._order.to(measured.device))

    @property
    def amplitude(self) -> Float[Tensor, "*b j"]:
        return self.merge(self.belief.amplitude, 1.0, -1)

    @property
    def lengthscale(self) -> Float[Tensor, "*b j d"]:
        return self.merge(self.belief.lengthscale, torch.inf, -2)

    @property
    def noise(self) -> Float[Tensor, "*b j"]:
        return self.merge(self.belief.noise, 0.0, -1)

    @property
    def likelihoods(self) -> Likelihoods:
        measured = iter(self.belief.likelihoods.kinds)
        return Likelihoods(tuple(next(measured) if row is None else GaussianLikelihood.kind for row in self.known))

    @property
    def points(self) -> Float[Tensor, "*w n d"]:
        return self.belief.points

    def exact(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b k x"]:
        """The known rows; differentiable once."""
        shape, X = X.shape[:-1], _once(X)
        each = [evaluate(X.reshape(-1, X.shape[-1]), row) for row in self.rows]
        return torch.stack([values.view(X.shape[:-1]).expand(shape) for values in each], -2)

    def _exact_covariance(self, X: Float[Tensor, "*b x d"], Z: Float[Tensor, "*b z d"]) -> Float[Tensor, "*b 1 x z"]:
        X, Z = (self.snap(P.detach()) if self.snap else P.detach() for P in (X, Z))
        apart = torch.cdist(X, Z, compute_mode="donot_use_mm_for_euclid_dist")
        return (VARIANCE_FLOOR * (apart == 0).to(X))[..., None, :, :]

    def mean(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self.merge(self.belief.mean(X), self.exact(X), -2)

    @property
    def mean_at_points(self) -> Float[Tensor, "*b j n"]:
        return self.merge(mean_at_points(self.belief), self.exact(for_hyper_samples(self, self.points)), -2)

    def variance(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self.merge(self.belief.variance(X), VARIANCE_FLOOR, -2)

    def moments(self, X: Float[Tensor, "*b x d"]) -> Moments:
        return self._completed(moments_of(self.belief, X), X)

    def expand(self, X: Float[Tensor, "*b x d"], axes: Int[Tensor, " e"]) -> Expansion:
        moments, slopes, _ = expand(self.belief, X, axes)
        by_mean = self.merge(slopes.mean, self.exact_slopes(X)[..., axes], -3)
        by_variance = self.merge(slopes.variance, 0.0, -3)
        return Expansion(self._completed(moments, X.detach()), Slopes(by_mean, by_variance), None)

    def exact_slopes(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b k x d"]:
        """The gradients of the known rows."""
        shape, X = X.shape, _once(X.detach())
        each = [row.gradients(X.reshape(-1, X.shape[-1])) for row in self.rows]
        return torch.stack([gradients.view(X.shape).expand(shape) for gradients in each], -3)

    def _completed(self, moments: Moments, X: Float[Tensor, "*b x d"]) -> Moments:
        return Moments(self.merge(moments.mean, self.exact(X), -2), self.merge(moments.variance, ERROR_FLOOR, -2))

    def covariance(self, X: Float[Tensor, "*b x d"], Z: Float[Tensor, "*b z d"]) -> Float[Tensor, "*b j x z"]:
        return self.merge(self.belief.covariance(X, Z), self._exact_covariance(X, Z), -3)

    def anchored(self, P: Float[Tensor, "*b p d"]) -> Anchored:
        here, measured = anchored(self.belief, P)
        return Anchored(self._with_exact(here, P, P), self._evaluator(P, measured))

    def evaluator(self, P: Float[Tensor, "*b p d"]) -> Evaluator:
        return self._evaluator(P, self.belief.evaluator(P))

    def _evaluator(self, P: Float[Tensor, "*b p d"], measured: Evaluator) -> Evaluator:
        return lambda X: self._with_exact(measured(X), P, X)

    def _with_exact(
        self, moments: PosteriorMoments, P: Float[Tensor, "*b p d"], X: Float[Tensor, "*b x d"]
    ) -> PosteriorMoments:
        """These moments at X of the measured rows, with those of the known ones between them."""
        return PosteriorMoments(
            self.merge(moments.mean, self.exact(X), -2),
            self.merge(moments.variance, VARIANCE_FLOOR, -2),
            self.merge(moments.covariance, self._exact_covariance(P, X), -3),
        )

    def paths(self, count: int, source: Source) -> PathsWithExactRows:
        return PathsWithExactRows(self, self.belief.paths(count, source))


def _once(X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*c x d"]:
    """The points without what repeats them for every hyperparameter sample."""
    while X.dim() > 2 and X.stride(0) == 0:
        X = X[0]
    return X


def with_exact_rows(
    belief: Belief,
    o: Observations,
    rows: tuple[str, ...],
    exact: Mapping[str, Exact],
    snap: Callable[[Tensor], Tensor] | None,
) -> Belief:
    """The belief of the measured rows, completed by those that are known, where there are any."""
    if not exact:
        return belief
    known = [ExactRow.of(exact[name], o, j) if name in exact else None for j, name in enumerate(rows)]
    return WithExactRows(belief, tuple(known), snap)


def without_exact_rows(belief: Belief) -> Belief:
    """The belief of the measured rows alone."""
    return belief.belief if isinstance(belief, WithExactRows) else belief


@dataclass(frozen=True)
class PathsWithExactRows:
    """Draws of the measured rows; the known ones are the same in each."""

    belief: WithExactRows
    drawn: Paths

    def values(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
        return self.belief.merge(self.drawn.values(X), self.belief.exact(X).detach()[..., None, :], -3)

    def at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        value, gradient = self.drawn.at(X)
        merge = self.belief.merge
        return merge(value, self.belief.exact(X).detach(), -2), merge(gradient, self.belief.exact_slopes(X), -3)

    def select(self, index: Int[Tensor, "*b r"]) -> PathsWithExactRows:
        return PathsWithExactRows(self.belief, self.drawn.select(index))

    def replaced(self, which: Bool[Tensor, " w"], others: PathsWithExactRows) -> PathsWithExactRows:
        assert isinstance(self.drawn, PathsInLockstep)
        return PathsWithExactRows(self.belief, self.drawn.replaced(which, others.drawn))
