"""Rejection sampling: joint samples of all rows, grouped by the cell where each has its feasible minimum (METHOD 15).

The samples are made in whitened coordinates w ~ N(0, I_r) of the values at a few landmarks, from which those at the
cells follow. A row at any x is b(x)^T w plus a residual that no group knows anything of, so its variance in a group is
that of the residual plus b^T Cov_g(w) b: no sampling at x, and smooth in x.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.belief import Belief, Seen, View

SMALLEST = 1e-10
"""Variances along the eigenvectors of the landmarks' values are kept above this share of the prior amplitude: what is
smaller are rounding errors, and what they would explain stays in the residual."""
HOPELESS = 0.02
"""The share of samples with a feasible cell below which the others count as well."""
BLOCK = 8_000_000
"""Numbers in the largest tensor while samples are drawn or summed."""


class Whitened(NamedTuple):
    """The belief at any x, and its covariance b with coordinates w ~ N(0, I_r) of the values at the landmarks."""

    view: View
    solve: Float[Tensor, "*b j r k"]
    """Applied to the covariance with the landmarks, it is b."""

    def __call__(self, X: Float[Tensor, "*b x d"]) -> tuple[Seen, Float[Tensor, "*b j r x"]]:
        seen = self.view(X)
        return seen, self.solve @ seen.covariance


def whiten(belief: Belief, landmarks: Float[Tensor, "*b k d"]) -> Whitened:
    """Coordinates for the values at the landmarks, which may lie as close together as they like."""
    variance, vectors = torch.linalg.eigh(belief.covariance(landmarks, landmarks))
    keep = variance > SMALLEST * belief.amplitude[..., None]
    # Rows and batch elements have different ranks: those of lower rank are filled up with coordinates of no effect.
    rank = max(1, int(keep.sum(-1).max()))
    scale = torch.where(keep, variance, 1.0).rsqrt() * keep
    solve = (vectors * scale[..., None, :]).mT[..., -rank:, :]
    return Whitened(belief.view(landmarks), solve.contiguous())


def pivots(belief: Belief, cells: Float[Tensor, "n d"], most: int, tolerance: float = 1e-8) -> Float[Tensor, "k d"]:
    """Those of the cells whose values fix the values at all others: pivots of a Cholesky factorization.

    They are the same for all rows and batch elements: each is where the values known so far leave most of some row's
    variance open, and they end where that is less than `tolerance` of the largest, everywhere.
    """
    batch = belief.amplitude.shape[:-1]
    here = cells.expand(*batch, *cells.shape)
    look = belief.view(here)
    left = belief.variance(here)
    unit = left.amax(-1, keepdim=True)
    columns = left.new_zeros(*left.shape, most)
    chosen: list[int] = []
    for i in range(min(most, cells.shape[0])):
        open_share = (left / unit).flatten(0, -2).amax(0)
        pivot = int(open_share.argmax())
        if float(open_share[pivot]) < tolerance:
            break
        chosen.append(pivot)
        covariance = look(here[..., pivot : pivot + 1, :]).covariance[..., 0]
        covariance = covariance - (columns[..., :i] @ columns[..., pivot, :i, None])[..., 0]
        at_pivot = left[..., pivot, None]
        # Another row asked for this pivot: where this row's variance there is spent, the rest is rounding errors.
        spent = at_pivot < SMALLEST * belief.amplitude[..., None]
        column = torch.where(spent, 0.0, covariance * at_pivot.clamp(min=1e-300).rsqrt())
        columns[..., i] = column
        left = (left - column.square()).clamp(min=0.0)
        left[..., pivot] = 0.0
    return cells[chosen] if chosen else cells[:1]


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
    generator: torch.Generator,
) -> Draws:
    """`samples` draws for every batch element; the minimum is sought among the usable cells."""
    seen, b = whitened(cells)
    batch, (rows, rank) = seen.mean.shape[:-2], b.shape[-3:-1]
    block = max(1, BLOCK // seen.mean.numel())
    w = b.new_empty(*batch, rows, samples, rank)
    cell = torch.empty(*batch, samples, dtype=torch.long, device=b.device)
    feasible = torch.empty_like(cell, dtype=torch.bool)
    for start in range(0, samples, block):
        stop = min(start + block, samples)
        # Drawn in single precision, at a third of the time: seven digits of a random number are enough.
        normal = torch.randn(*batch, rows, stop - start, rank, generator=generator, dtype=torch.float32).to(b)
        w[..., start:stop, :] = normal
        z = torch.baddbmm(seen.mean.flatten(0, -2)[:, None, :], normal.flatten(0, -3), b.flatten(0, -3)).view(
            *batch, rows, stop - start, -1
        )
        cell[..., start:stop], feasible[..., start:stop] = best_cells(z, usable, belief.amplitude)
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
