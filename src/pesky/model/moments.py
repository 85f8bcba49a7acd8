"""Mean and variance of every row at x, and their derivatives by x.

A search that needs the gradient of every row by itself would go backward through the whole posterior once for each. A
Gaussian process has all of them at the price of two solves.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pesky.model.belief import Marginals, for_hyper_samples


class Moments(NamedTuple):
    mean: Float[Tensor, "*b j x"]
    variance: Float[Tensor, "*b j x"]


class Slopes(NamedTuple):
    """By those coordinates of x along which it may move, e of d."""

    mean: Float[Tensor, "*b j x e"]
    variance: Float[Tensor, "*b j x e"]


@runtime_checkable
class HasMoments(Protocol):
    """A belief that says both moments at once."""

    def moments(self, X: Float[Tensor, "*b x d"]) -> Moments: ...


class Expansion(NamedTuple):
    """The moments near x, to second order."""

    moments: Moments
    slopes: Slopes
    curvatures: Callable[[Float[Tensor, "*b j x"], Float[Tensor, "*b j x"]], Float[Tensor, "*b x e e"]] | None
    """Weights of the means and of the variances -> second derivatives of their weighted sum; None if nobody knows."""


@runtime_checkable
class Expands(Protocol):
    """A belief that knows its derivatives."""

    def expand(self, X: Float[Tensor, "*b x d"], axes: Int[Tensor, " e"]) -> Expansion: ...


def moments_of(belief: Marginals, X: Float[Tensor, "*b x d"]) -> Moments:
    """What is believed at x, of any belief; differentiable."""
    return belief.moments(X) if isinstance(belief, HasMoments) else Moments(belief.mean(X), belief.variance(X))


@runtime_checkable
class KnowsItsPoints(Protocol):
    """A belief that has the mean at its points at less cost than elsewhere."""

    @property
    def mean_at_points(self) -> Float[Tensor, "*b j n"]: ...


def mean_at_points(belief: Marginals) -> Float[Tensor, "*b j n"]:
    """The mean of every row where something was measured, of any belief."""
    if isinstance(belief, KnowsItsPoints):
        return belief.mean_at_points
    return belief.mean(for_hyper_samples(belief, belief.points))


def expand(belief: Marginals, X: Float[Tensor, "*b x d"], axes: Int[Tensor, " e"]) -> Expansion:
    """What is believed near x along these axes, of any belief."""
    if isinstance(belief, Expands):
        return belief.expand(X, axes)
    rows, n = belief.amplitude.shape[-1], X.shape[-2]
    # each row has a copy of the points to itself, so that one pass backward is that of all rows
    copies = X.detach().repeat(*[1] * (X.dim() - 2), rows, 1).requires_grad_()
    with torch.enable_grad():
        now = [each.unflatten(-1, (rows, n)).diagonal(0, -3, -2).mT for each in moments_of(belief, copies)]
        by_x = [torch.autograd.grad(each.sum(), copies, retain_graph=True)[0].unflatten(-2, (rows, n)) for each in now]
    return Expansion(Moments(*(each.detach() for each in now)), Slopes(*(each[..., axes] for each in by_x)), None)
