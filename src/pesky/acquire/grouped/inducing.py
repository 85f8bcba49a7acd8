"""A belief on a whole grid through its values at a few inducing points (METHOD 15).

The values at inducing points, chosen among the cells of the grid, fix those at all other cells. In whitened coordinates
e ~ N(0, I_r) of these values a row at any x is

    z_j(x) = mean_j(x) + b_j(x)^T e_j + residual,    with the loadings b_j(x) = Cov(e_j, z_j(x)),

and the residual is independent of e_j: so samples of e are samples everywhere, and smooth in x.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.belief import (
    Belief,
    Evaluator,
    PosteriorMoments,
    anchored,
    for_hyper_samples,
    over_hyper_samples,
    studies,
)

SMALLEST = 1e-10
"""Variances below this share of the prior amplitude are rounding errors: what they would explain stays in the
residual."""
TIE = 1e-6
"""Shares that differ by no more than this part are equal."""


class InducingPoints(NamedTuple):
    points: Float[Tensor, "*w k d"]
    counts: list[int]
    """How many each of the studies in lockstep has: after its last one comes its first one again."""


def select_inducing_points(
    belief: Belief, cells: Float[Tensor, "n d"], most: int, tolerance: float = 1e-8
) -> InducingPoints:
    """Those of the cells whose values fix the values at all others, by greedy variance reduction.

    This is the pivoted Cholesky factorization of the posterior covariance matrices of all rows and hyperparameter
    samples, with pivots that all share. Column i of the factor L of each of them is the covariance of all cells with
    the pivot, given the pivots before, over the deviation that these leave at the pivot:

        L[:, i] = (K[:, pivot] - L[:, :i] L[pivot, :i]^T) / sqrt(remaining[pivot]),    remaining -= L[:, i]^2.

    Each pivot is where the largest share of some row's variance remains. They end where that is less than `tolerance`
    everywhere.
    """
    w = studies(belief)
    here = for_hyper_samples(belief, cells.expand(*w, *cells.shape))
    evaluate = belief.evaluator(here)
    remaining = belief.variance(here)
    largest = remaining.amax(-1, keepdim=True)
    factor = remaining.new_zeros(*remaining.shape, most)
    pivots: list[Tensor] = []
    counts = torch.zeros(w, dtype=torch.long, device=cells.device)
    for i in range(min(most, cells.shape[0])):
        pivot, is_needed = _next_pivot(belief, remaining / largest, tolerance)
        if not bool(is_needed.any()):
            break
        # A study that needs no more takes its first one again, where nothing remains.
        pivot = torch.where(is_needed, pivot, pivots[0] if pivots else 0)
        pivots.append(pivot)
        counts = counts + is_needed
        with_pivot = evaluate(for_hyper_samples(belief, cells[pivot][..., None, :])).covariance[..., 0]
        before = factor[..., :i]
        given_before = with_pivot - (before @ _at(pivot, before.mT)[..., None])[..., 0]
        at_pivot = _at(pivot, remaining)[..., None]
        # Another row asked for this pivot: where nothing of this row's variance remains, the rest is rounding errors.
        is_spent = at_pivot < SMALLEST * belief.amplitude[..., None]
        column = torch.where(is_spent, 0.0, given_before * at_pivot.clamp(min=1e-300).rsqrt())
        factor[..., i] = column
        remaining = (remaining - column.square()).clamp(min=0.0)
        remaining = remaining.scatter(
            -1, for_hyper_samples(belief, pivot[..., None, None]).expand(*remaining.shape[:-1], 1), 0.0
        )
    if not pivots:
        return InducingPoints(cells[:1].expand(*w, 1, cells.shape[-1]), [1] * w.numel())
    return InducingPoints(cells[torch.stack(pivots, -1)], counts.clamp(min=1).flatten().tolist())


def _next_pivot(
    belief: Belief, share: Float[Tensor, "*b j n"], tolerance: float
) -> tuple[Int[Tensor, "*w"], Bool[Tensor, "*w"]]:
    """Each study's cell with the largest remaining share of any row's variance, and whether that is worth a pivot."""
    largest_of_rows = over_hyper_samples(belief, share, 2).flatten(-3, -2).amax(-2)
    most = largest_of_rows.amax(-1, keepdim=True)
    # Far from all data every cell is as good, and rounding must not choose: the first of them does.
    pivot = (largest_of_rows >= most * (1 - TIE)).to(torch.uint8).argmax(-1)
    return pivot, most[..., 0] >= tolerance


def _at(pivot: Int[Tensor, "*w"], values: Float[Tensor, "*b n"]) -> Float[Tensor, "*b"]:
    """Each study's own entry along the last dimension."""
    index = pivot.view(*pivot.shape, *(1,) * (values.dim() - pivot.dim()))
    return torch.gather(values, -1, index.expand(*values.shape[:-1], 1))[..., 0]


class WhitenedBelief(NamedTuple):
    """The belief at any x, and its loadings on coordinates e ~ N(0, I_r) of the values at the inducing points."""

    evaluate: Evaluator
    whitening: Float[Tensor, "*b j r k"]
    """Applied to the covariance with the inducing points, it gives the loadings."""
    points: Float[Tensor, "*b k d"]
    """The inducing points."""
    here: PosteriorMoments
    """What is believed there."""

    def __call__(self, X: Float[Tensor, "*b x d"]) -> tuple[PosteriorMoments, Float[Tensor, "*b j r x"]]:
        moments = self.here if X is self.points else self.evaluate(X)
        return moments, self.whitening @ moments.covariance


def whiten(belief: Belief, points: Float[Tensor, "*b k d"], counts: Sequence[int] | None = None) -> WhitenedBelief:
    """Coordinates for the values at the inducing points, which may lie as close together as they like.

    `counts` is how many each of the studies in lockstep has, the first ones, if not all.
    """
    here, evaluate = anchored(belief, points)
    covariance, is_own = here.covariance, None
    if counts is not None and studies(belief):
        own = torch.tensor(counts, device=points.device).view(-1, *(1,) * (covariance.dim() - 2))
        is_own = torch.arange(points.shape[-2], device=points.device) < own
        covariance = torch.where(is_own[..., :, None] & is_own[..., None, :], covariance, 0.0)
    whitening, is_apart = _by_pivots(covariance, belief.amplitude, is_own)
    # Of studies in lockstep each has what it would have alone, for all of its hyperparameter samples and rows.
    is_apart = is_apart.view(*studies(belief), -1).all(-1)
    if not bool(is_apart.all()):
        by_axes = whitening_of(covariance, belief.amplitude)
        rank = by_axes.shape[-2] if not bool(is_apart.any()) else whitening.shape[-2]
        by_axes = torch.nn.functional.pad(by_axes, (0, 0, 0, rank - by_axes.shape[-2]))
        is_apart = is_apart.view(*is_apart.shape, *(1,) * (covariance.dim() - is_apart.dim()))
        whitening = torch.where(is_apart, whitening[..., :rank, :], by_axes)
    return WhitenedBelief(evaluate, whitening.contiguous(), points, here)


def _by_pivots(
    covariance: Float[Tensor, "*b j k k"], amplitude: Float[Tensor, "*b j"], is_own: Bool[Tensor, "*#b #j k"] | None
) -> tuple[Float[Tensor, "*b j k k"], Bool[Tensor, "*b j"]]:
    """The inverse of the Cholesky factor, in a fraction of the time of axes, and whether the points are far apart.

    If they are, every value has something that those before it do not tell, more than rounding errors.
    """
    unit = amplitude[..., None]
    if is_own is not None:
        covariance = covariance + torch.diag_embed(torch.where(is_own, 0.0, unit))
    root, failed = torch.linalg.cholesky_ex(covariance)
    is_apart = (failed == 0) & (root.diagonal(dim1=-2, dim2=-1).square() > SMALLEST * unit).all(-1)
    eye = torch.eye(root.shape[-1], dtype=root.dtype, device=root.device)
    whitening = torch.linalg.solve_triangular(root, eye.expand_as(root), upper=False)
    return whitening if is_own is None else torch.where(is_own[..., None], whitening, 0.0), is_apart


def whitening_of(covariance: Float[Tensor, "*b j k k"], amplitude: Float[Tensor, "*b j"]) -> Float[Tensor, "*b j r k"]:
    """What makes independent coordinates: the principal axes over their deviations, but those of rounding errors."""
    variance, vectors = torch.linalg.eigh(covariance)
    keep = variance > SMALLEST * amplitude[..., None]
    # Rows and batch elements have different ranks: those of lower rank are filled up with coordinates of no effect.
    rank = max(1, int(keep.sum(-1).max()))
    scale = torch.where(keep, variance, 1.0).rsqrt() * keep
    # Of an eigenvector and its opposite rounding would choose one.
    vectors = vectors * torch.gather(vectors, -2, vectors.abs().argmax(-2, keepdim=True)).sign()
    # The largest first: of several studies each has the same coordinates first as alone.
    return (vectors * scale[..., None, :]).mT.flip(-2)[..., :rank, :]
