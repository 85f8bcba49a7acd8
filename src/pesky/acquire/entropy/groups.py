"""Rejection sampling: joint samples of all rows, grouped by the cell where each has its feasible minimum (METHOD 15).

The samples are made in whitened coordinates w ~ N(0, I_r) of the values at a few landmarks, from which those at the
cells follow. A row at any x is b(x)^T w plus a residual that no group knows anything of, so its variance in a group is
that of the residual plus b^T Cov_g(w) b: no sampling at x, and smooth in x.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.belief import Belief, Evaluator, PosteriorMoments, for_samples, over_samples, studies
from pesky.numerics.rng import Source, normal

SMALLEST = 1e-10
"""Variances along the eigenvectors of the landmarks' values are kept above this share of the prior amplitude: what is
smaller are rounding errors, and what they would explain stays in the residual."""
TIE = 1e-6
"""Shares that differ by no more than this part are equal."""
HOPELESS = 0.02
"""The share of samples with a feasible cell below which the others count as well."""
BLOCK = {"cpu": 8_000_000, "cuda": 800_000_000}
"""Numbers in the largest tensor while samples are drawn or summed, on each kind of device."""


class Whitened(NamedTuple):
    """The belief at any x, and its covariance b with coordinates w ~ N(0, I_r) of the values at the landmarks."""

    view: Evaluator
    solve: Float[Tensor, "*b j r k"]
    """Applied to the covariance with the landmarks, it is b."""

    def __call__(self, X: Float[Tensor, "*b x d"]) -> tuple[PosteriorMoments, Float[Tensor, "*b j r x"]]:
        moments = self.view(X)
        return moments, self.solve @ moments.covariance


def whiten(belief: Belief, landmarks: Float[Tensor, "*b k d"], count: Sequence[int] | None = None) -> Whitened:
    """Coordinates for the values at the landmarks, which may lie as close together as they like.

    `count` is how many each of the studies in lockstep has, the first ones, if not all.
    """
    covariance = belief.covariance(landmarks, landmarks)
    if count is not None and studies(belief):
        own = torch.tensor(count, device=landmarks.device).view(-1, *(1,) * (covariance.dim() - 2))
        there = torch.arange(landmarks.shape[-2], device=landmarks.device) < own
        covariance = torch.where(there[..., :, None] & there[..., None, :], covariance, 0.0)
    variance, vectors = torch.linalg.eigh(covariance)
    keep = variance > SMALLEST * belief.amplitude[..., None]
    # Rows and batch elements have different ranks: those of lower rank are filled up with coordinates of no effect.
    rank = max(1, int(keep.sum(-1).max()))
    scale = torch.where(keep, variance, 1.0).rsqrt() * keep
    # Of an eigenvector and its opposite rounding would choose one.
    vectors = vectors * torch.gather(vectors, -2, vectors.abs().argmax(-2, keepdim=True)).sign()
    solve = (vectors * scale[..., None, :]).mT[..., -rank:, :]
    return Whitened(belief.evaluator(landmarks), solve.contiguous())


class Landmarks(NamedTuple):
    points: Float[Tensor, "*w k d"]
    counts: list[int]
    """How many each of the studies in lockstep has: after its last one comes its first one again."""


def pivots(belief: Belief, cells: Float[Tensor, "n d"], most: int, tolerance: float = 1e-8) -> Landmarks:
    """Those of the cells whose values fix the values at all others: pivots of a Cholesky factorization.

    They are the same for all rows and hyperparameter samples: each is where the values known so far leave most of some
    row's variance open, and they end where that is less than `tolerance` of the largest, everywhere.
    """
    w = studies(belief)
    here = for_samples(belief, cells.expand(*w, *cells.shape))
    evaluate = belief.evaluator(here)
    left = belief.variance(here)
    unit = left.amax(-1, keepdim=True)
    columns = left.new_zeros(*left.shape, most)
    chosen: list[Tensor] = []
    count = torch.zeros(w, dtype=torch.long, device=cells.device)

    def at(pivot: Tensor, of: Tensor) -> Tensor:
        """Each study's own entry along the last dimension."""
        index = pivot.view(*w, *(1,) * (of.dim() - len(w)))
        return torch.gather(of, -1, index.expand(*of.shape[:-1], 1))[..., 0]

    for i in range(min(most, cells.shape[0])):
        open_share = over_samples(belief, left / unit, 2).flatten(-3, -2).amax(-2)
        most_open = open_share.amax(-1, keepdim=True)
        # Far from all data every cell is as open, and rounding must not choose: the first of them does.
        pivot = (open_share >= most_open * (1 - TIE)).to(torch.uint8).argmax(-1)
        is_open = most_open[..., 0] >= tolerance
        if not bool(is_open.any()):
            break
        pivot = torch.where(is_open, pivot, chosen[0] if chosen else 0)
        chosen.append(pivot)
        count = count + is_open
        covariance = evaluate(for_samples(belief, cells[pivot][..., None, :])).covariance[..., 0]
        covariance = covariance - (columns[..., :i] @ at(pivot, columns[..., :i].mT)[..., None])[..., 0]
        at_pivot = at(pivot, left)[..., None]
        # Another row asked for this pivot: where this row's variance there is spent, the rest is rounding errors.
        spent = at_pivot < SMALLEST * belief.amplitude[..., None]
        column = torch.where(spent, 0.0, covariance * at_pivot.clamp(min=1e-300).rsqrt())
        columns[..., i] = column
        left = (left - column.square()).clamp(min=0.0)
        left = left.scatter(-1, for_samples(belief, pivot[..., None, None]).expand(*left.shape[:-1], 1), 0.0)
    if not chosen:
        return Landmarks(cells[:1].expand(*w, 1, cells.shape[-1]), [1] * w.numel())
    return Landmarks(cells[torch.stack(chosen, -1)], count.clamp(min=1).flatten().tolist())


class Draws(NamedTuple):
    """Joint samples of all rows, and the cell of each one's feasible minimum."""

    w: Float[Tensor, "*b j s r"]
    cell: Int[Tensor, "*b s"]
    """Of a sample that is feasible nowhere, the cell of the least violation."""
    feasible: Bool[Tensor, "*b s"]


def draw(
    belief: Belief,
    whitened: Whitened,
    cells: Float[Tensor, "*b n d"],
    usable: Bool[Tensor, "*b n"],
    samples: int,
    source: Source,
    landmarks: Sequence[int] | None = None,
) -> Draws:
    """`samples` draws for every batch element; the minimum is sought among the usable cells.

    `landmarks` is how many each of the studies in lockstep has, if not all.
    """
    moments, b = whitened(cells)
    batch, (rows, rank) = moments.mean.shape[:-2], b.shape[-3:-1]
    # As many as there are landmarks, whatever their rank: that is one of the whole batch, and the numbers are not.
    # Drawn in single precision, at a third of the time: seven digits of a random number are enough.
    size = (*batch, rows, samples, whitened.solve.shape[-1])
    w = normal(source, *size, like=b, dtype=torch.float32, widths=landmarks)[..., -rank:].contiguous()
    block = max(1, BLOCK[b.device.type] // moments.mean.numel())
    found = []
    for some in w.split(block, -2):
        z = torch.baddbmm(moments.mean.flatten(0, -2)[:, None, :], some.flatten(0, -3), b.flatten(0, -3)).view(
            *batch, rows, some.shape[-2], -1
        )
        found.append(best_cells(z, usable, belief.amplitude))
    cell, feasible = (torch.cat(each, -1) for each in zip(*found, strict=True))
    return Draws(w, cell, feasible)


def best_cells(
    z: Float[Tensor, "*b j s n"], usable: Bool[Tensor, "*b n"], amplitude: Float[Tensor, "*b j"]
) -> tuple[Int[Tensor, "*b s"], Bool[Tensor, "*b s"]]:
    """The cell of each sample's feasible minimum and True, or that of its least violation and False (METHOD 4.3)."""
    objective = torch.where(usable[..., None, :], z[..., 0, :, :], torch.inf)
    if z.shape[-3] == 1:
        return objective.argmin(-1), torch.ones_like(objective[..., 0], dtype=torch.bool)
    allowed = z[..., 1:, :, :].amin(-3) >= 0
    lowest = torch.where(allowed, objective, torch.inf).min(-1)
    cell, feasible = lowest.indices, lowest.values < torch.inf
    nowhere = (~feasible).nonzero(as_tuple=True)
    if len(nowhere[0]):
        which = nowhere[:-1]
        constraints = z[..., 1:, :, :].movedim(-3, -2)[nowhere] / amplitude[which][..., 1:, None].sqrt()
        violation = constraints.clamp(max=0.0).square().sum(-2)
        cell[nowhere] = torch.where(usable[which], violation, torch.inf).argmin(-1)
    return cell, feasible


class Groups(NamedTuple):
    """The samples by the cell of their minimum, without those of cells that few samples share."""

    member: Int[Tensor, "*b s"]
    """The group of each sample; the number of groups where it has none."""
    cell: Int[Tensor, "*b g"]
    size: Float[Tensor, "*b g"]
    """Samples in each group; zero where a batch element has fewer groups than others."""


def group(draws: Draws, cells: int, smallest: int) -> Groups:
    """Groups of at least `smallest` samples, the largest first, of the samples that are feasible somewhere.

    Where hardly any are, all samples count, by the cell of their least violation: what is sought is feasibility.
    """
    hopeless = draws.feasible.double().mean(-1, keepdim=True) < HOPELESS
    counts = draws.feasible | hopeless
    count = torch.zeros(*draws.cell.shape[:-1], cells, dtype=torch.float64, device=draws.cell.device)
    count = count.scatter_add(-1, draws.cell, counts.to(count.dtype))
    # So few samples that no cell has enough: its largest groups are all there is.
    enough = count.amax(-1, keepdim=True).clamp(max=smallest)
    count = torch.where(count >= enough, count, 0.0)
    most = int((count > 0).sum(-1).max())
    size, cell = (t[..., :most] for t in count.sort(dim=-1, descending=True, stable=True))
    number = torch.full_like(count, most, dtype=torch.long)
    place = torch.arange(most, device=cell.device).expand_as(cell)
    number = number.scatter(-1, cell, torch.where(size > 0, place, most))
    member = torch.gather(number, -1, draws.cell)
    return Groups(torch.where(counts, member, most), cell, size)


def sum_by(
    values: Float[Tensor, "*b j s x"], member: Int[Tensor, "*b s"], groups: int
) -> Float[Tensor, "*b j {groups} x"]:
    """Sums over the members of each group."""
    *batch, rows, _, x = values.shape
    offset = groups * torch.arange(values.shape[:-2].numel(), device=values.device)
    index = member[..., None, :] + offset.view(*batch, rows, 1)
    empty = values.new_zeros(offset.numel() * groups, x)
    return empty.index_add(0, index.flatten(), values.flatten(0, -2)).view(*batch, rows, groups, x)
