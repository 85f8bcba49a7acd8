"""The interface between what is believed and everything that is computed from it.

Shapes are in the types, here and in all that uses a belief: b a batch (hyperparameter samples, before them studies),
w studies, j rows (the objective, then every constraint), k constraints, m samples of x*, n points that are given, x
points that are asked about, p other fixed points, d dimensions of the unit cube, t tasks, q all samples of all batches.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from pesky.likelihood import Likelihoods
from pesky.numerics.rng import Source


class PosteriorMoments(NamedTuple):
    """A belief at x, and its covariance with fixed points p."""

    mean: Float[Tensor, "*b j x"]
    variance: Float[Tensor, "*b j x"]
    covariance: Float[Tensor, "*b j p x"]


@runtime_checkable
class Evaluator(Protocol):
    """Repeated looks at a belief from the same fixed points: what depends on them alone is computed once."""

    def __call__(self, X: Float[Tensor, "*b x d"]) -> PosteriorMoments: ...


class Anchored(NamedTuple):
    """A belief as it is looked at from fixed points."""

    here: PosteriorMoments
    """At these points themselves."""
    evaluate: Evaluator


@runtime_checkable
class Paths(Protocol):
    """Functions drawn from a belief."""

    def values(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
        """Every draw at every point."""
        ...

    def at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        """Value and gradient of each draw at a point of its own."""
        ...

    def select(self, index: Int[Tensor, "*b r"]) -> "Paths":
        """The draws with these numbers."""
        ...


@runtime_checkable
class RoughPaths(Paths, Protocol):
    """Functions that are quicker to look at from afar."""

    def roughly(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
        """As `values`, in single precision where its rounding errors are certainly small."""
        ...

    def roughly_at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b j m"], Float[Tensor, "*b j m d"]]:
        """As `at`, likewise."""
        ...


@runtime_checkable
class PathsInLockstep(Paths, Protocol):
    """Functions drawn for several studies."""

    def replaced(self, which: Bool[Tensor, " w"], others: Paths) -> Paths:
        """These, with the ones of some of the studies replaced."""
        ...


@runtime_checkable
class Marginals(Protocol):
    """What is believed of each point by itself: what a recommendation asks of a belief."""

    @property
    def amplitude(self) -> Float[Tensor, "*b j"]:
        """Prior variance: the unit of every tolerance."""
        ...

    @property
    def likelihoods(self) -> Likelihoods:
        """How the measurements of each row come from its latent function."""
        ...

    @property
    def points(self) -> Float[Tensor, "*w n d"]:
        """Every distinct measured input in the cube, of any row; where a study has fewer than others, its first."""
        ...

    def mean(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]: ...

    def variance(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]: ...


@runtime_checkable
class Belief(Marginals, Protocol):
    """A Gaussian posterior over functions on the unit cube, one independent row per objective or constraint.

    Leading dimensions b are hyperparameter samples, before them w: studies in lockstep, none of a single one. What
    is one study's, like a recommendation, is an average over its hyperparameter samples. Nothing outside the belief
    sees a kernel or the data, and nothing inverts a posterior covariance, so noise-free data need no special case.

    A row is the latent function that its measurements tell of, each with its likelihood: see `Likelihood`.
    """

    @property
    def lengthscale(self) -> Float[Tensor, "*b j d"]: ...

    @property
    def noise(self) -> Float[Tensor, "*b j"]:
        """Variance of the noise of one measurement; its likelihood's own (`fixed_noise`) where that has one."""
        ...

    def covariance(self, X: Float[Tensor, "*b x d"], Z: Float[Tensor, "*b z d"]) -> Float[Tensor, "*b j x z"]: ...

    def evaluator(self, P: Float[Tensor, "*b p d"]) -> Evaluator: ...

    def paths(self, count: int, source: Source) -> Paths: ...


@runtime_checkable
class InLockstep(Belief, Protocol):
    """A belief of several studies."""

    def of(self, some: Bool[Tensor, " w"]) -> Belief:
        """That of some of them."""
        ...


@runtime_checkable
class SelectsRows(Belief, Protocol):
    """A belief whose rows can be looked at apart from the others, at a cost that is theirs alone."""

    def select_rows(self, index: Int[Tensor, " r"]) -> Belief:
        """That of these rows; its points are those of all."""
        ...


@runtime_checkable
class Anchors(Belief, Protocol):
    """A belief for which its own fixed points are no more work than to prepare looks from them."""

    def anchored(self, P: Float[Tensor, "*b p d"]) -> Anchored: ...


def anchored(belief: Belief, P: Float[Tensor, "*b p d"]) -> Anchored:
    """What is believed at fixed points, and looks from there, of any belief."""
    if isinstance(belief, Anchors):
        return belief.anchored(P)
    return Anchored(PosteriorMoments(belief.mean(P), belief.variance(P), belief.covariance(P, P)), belief.evaluator(P))


def studies(belief: Marginals) -> torch.Size:
    """The leading dimensions that are studies in lockstep."""
    return belief.points.shape[:-2]


def hyperparameter_samples(belief: Marginals) -> int:
    """How many there are for each study."""
    return belief.amplitude.shape[len(studies(belief)) : -1].numel()


MANY_POINTS = 500
"""From so many points on repeats are found without comparing all pairs."""


def for_hyper_samples(belief: Marginals, X: Shaped[Tensor, "*w x d"]) -> Shaped[Tensor, "*b x d"]:
    """Each study's points, the same for all of its hyperparameter samples, where the belief is."""
    batch, w = belief.amplitude.shape[:-1], X.shape[:-2]
    return (
        X.to(belief.amplitude.device)
        .view(*w, *(1,) * (len(batch) - len(w)), *X.shape[-2:])
        .expand(*batch, *X.shape[-2:])
    )


def over_hyper_samples(belief: Marginals, values: Tensor, dims: int = 1) -> Tensor:
    """The values (*b, ..) with all hyperparameter samples of a study in one dimension, before the last `dims`."""
    return values.reshape(*studies(belief), hyperparameter_samples(belief), *values.shape[values.dim() - dims :])


def distinct(points: Float[Tensor, "n d"], tolerance: float = 1e-6) -> Float[Tensor, "m d"]:
    """The points without those that repeat an earlier one."""
    return points[~repeats(points, tolerance)]


def repeats(points: Float[Tensor, "*w n d"], tolerance: float = 1e-6) -> Bool[Tensor, "*w n"]:
    """Which of the points repeat an earlier one."""
    if points.dim() == 2 and len(points) > MANY_POINTS:
        return _repeats_of_many(points, tolerance)
    close = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist") < tolerance
    return close.tril(-1).any(-1)


def _repeats_of_many(points: Float[Tensor, "n d"], tolerance: float) -> Bool[Tensor, " n"]:
    """The same without all pairs: points that are close have shadows on a line that are."""
    line = torch.linspace(1, 2, points.shape[-1], dtype=points.dtype, device=points.device)
    shadow, order = (points @ (line / line.norm())).sort()
    is_repeat = torch.zeros(len(points), dtype=torch.bool, device=points.device)
    for apart in range(1, len(points)):
        near = (shadow[apart:] - shadow[:-apart] < tolerance).nonzero()[:, 0]
        if not len(near):
            break
        a, b = order[near], order[near + apart]
        close = (points[a] - points[b]).norm(dim=-1) < tolerance
        is_repeat[torch.maximum(a, b)[close]] = True
    return is_repeat


def union(X: Float[Tensor, "*w j n d"], mask: Bool[Tensor, "*w j n"]) -> Float[Tensor, "*w m d"]:
    """The distinct points of all rows of each study; one that has fewer than others has its first one again.

    Data outside of the unit cube are none of them: nothing can be there, and so not the solution.
    """
    if bool(mask.all()) and torch.equal(X, X[..., :1, :, :].expand_as(X)):  # as where all is measured at each point
        X, mask = X[..., :1, :, :], mask[..., :1, :]
    points = X.flatten(-3, -2)
    there = mask.flatten(-2) & ((points >= 0) & (points <= 1)).all(-1)
    # what is not there is far from all that is, and so no repeat of it
    gone = repeats(torch.where(there[..., None], points, 2.0), 1e-6) | ~there
    count = (~gone).sum(-1, keepdim=True)
    order = torch.argsort(gone.to(torch.uint8), dim=-1, stable=True)[..., : int(count.max())]
    order = torch.where(torch.arange(order.shape[-1], device=X.device) < count, order, order[..., :1])
    return torch.gather(points, -2, order[..., None].expand(*order.shape, X.shape[-1]))
