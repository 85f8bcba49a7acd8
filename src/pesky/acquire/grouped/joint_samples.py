"""Rejection sampling: joint samples of all rows, grouped by the cell of each one's feasible minimum (METHOD 15)."""

import math
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.grouped.inducing import WhitenedBelief
from pesky.model.belief import Belief
from pesky.numerics.product import product
from pesky.numerics.rng import normal_blocks
from pesky.optimum.minimize import lowest_feasible

FEW_FEASIBLE = 0.02
"""The share of samples with a feasible cell below which the others count as well."""
BOX_SIDE = 0.02
"""Side of the boxes, in the smallest lengthscales, of which each holds one cell at most."""
PARTS = 4
"""Parts of the samples, the first of which leaves a few of many points (`first_part`)."""
BLOCK = {"cpu": 8_000_000, "cuda": 800_000_000}
"""Numbers in the largest tensor while samples are summed, on each kind of device."""
LOOKED_AT = {"cpu": 250_000, "cuda": 800_000_000}
"""The same while the best cell of each is sought: on a processor, what stays in the cache meanwhile."""
PROBABLE, MOST = 0.5, 0.5
"""A solution is known at cells that are feasible with this probability; and this share of the samples are most."""


class JointSamples(NamedTuple):
    """Joint samples of all rows, the second half of which mirrors the first, and the cell of each one's minimum."""

    vectors: Float[Tensor, "*b h r"]
    """Whitened coordinates, see `inducing`, which all rows share."""
    order: Int[Tensor, "*b j h"]
    """Which of these vectors a row has in each sample of the first half; in the second it has the other sign."""
    cell: Int[Tensor, "*b s"]
    """Of a sample that is feasible nowhere, the cell of the least violation."""
    is_feasible: Bool[Tensor, "*b s"]

    @property
    def coordinates(self) -> Float[Tensor, "*b j h r"]:
        """Those of every row, in the order of the samples."""
        return in_order(self.vectors, self.order)


def draw_joint_samples(
    belief: Belief,
    whitened: WhitenedBelief,
    cells: Float[Tensor, "*b n d"],
    cell_mask: Bool[Tensor, "*b n"],
    count: int,
    seeds: Int[Tensor, "*b j"],
    dtype: torch.dtype = torch.float64,
    indifference: float | None = None,
) -> JointSamples:
    """`count` samples, or one more, for every batch element; the minimum is sought among the cells of the mask.

    Every row has a seed of its own, so that its samples are the same whichever others there are. Single precision takes
    half of the time, and so does it to mirror samples: as far from the mean on its other side is as probable. Rows
    share a set of coordinates, each in an order of its own: a sample still has independent ones of every row. With an
    indifference, see `without_digits`.
    """
    moments, loadings = whitened(cells)
    batch, (rows, rank) = moments.mean.shape[:-2], loadings.shape[-3:-1]
    # An accelerator makes other numbers for another rank, which is one of the whole batch: there are all drawn.
    most = whitened.whitening.shape[-1] if loadings.is_cuda else rank
    shared = normal_blocks(seeds[..., 0], most, -(-count // 2), like=loadings)[..., :rank, :].to(dtype)
    shared = shared.mT.contiguous()
    order = own_orders(shared.shape[-2], seeds).to(shared.device)
    block = max(1, LOOKED_AT[loadings.device.type] // moments.mean.numel())
    likelihoods, mean, amplitude = belief.likelihoods, moments.mean, belief.amplitude.to(dtype)
    if not likelihoods.is_objective_limited:
        # Digits of what all cells share would be lost to their differences, which are what tells the best of them.
        lowest = torch.zeros_like(mean)
        lowest[..., 0, :] = mean[..., 0, :].amin(-1, keepdim=True)
        mean = mean - lowest
    objective = mean[..., 0, :].to(dtype)
    mean, loadings = mean.to(dtype).flatten(0, -2)[:, None, :], loadings.to(dtype).flatten(0, -3)
    halves: tuple[list[tuple[Tensor, ...]], ...] = ([], [])
    for which in order.split(block, -1):
        some = in_order(shared, which)
        apart = product(some.flatten(0, -3), loadings)
        for half, z in zip(halves, (mean + apart, mean - apart), strict=True):
            rows_of_each = likelihoods.inequalities(z.view(*batch, rows, some.shape[-2], -1), -3)
            which_cell, is_found = lowest_feasible(rows_of_each, likelihoods.units(amplitude.sqrt()), cell_mask)
            value = torch.gather(rows_of_each[..., 0, :, :], -1, which_cell[..., None])[..., 0]
            half.append((which_cell, is_found, value))
    cell, is_feasible, value = (torch.cat(each, -1) for each in zip(*halves[0], *halves[1], strict=True))
    if indifference is not None:
        # Not by a product: accelerators compile that anew on every machine, for seconds.
        probability = likelihoods.holds(moments.mean, moments.variance).log().sum(-2).exp()
        probable = (probability >= PROBABLE) & cell_mask
        cell = without_digits(cell, is_feasible, value, torch.where(probable, objective, torch.inf), indifference)
    return JointSamples(shared, order, cell, is_feasible)


def without_digits(
    cell: Int[Tensor, "*b s"],
    is_feasible: Bool[Tensor, "*b s"],
    value: Float[Tensor, "*b s"],
    known: Float[Tensor, "*b n"],
    indifference: float,
) -> Int[Tensor, "*b s"]:
    """The cells, where samples that gain next to nothing are all in that of what is known, if most of them are such.

    `value` is that of each sample's minimum, `known` what is expected at each cell, infinite where it is not to be had.
    A sample gains next to nothing if its minimum differs from the best of these by no more than a share `indifference`
    of what is gained on average. With one solution, whose digits are open, few samples do. If most do, the others gain
    nearly all, elsewhere: the digits of what is known do not matter beside that (METHOD 9.1).
    """
    least, best = known.min(-1, keepdim=True)
    is_known = is_feasible & torch.isfinite(least)
    gained = torch.where(is_known, (least - value).clamp(min=0.0), 0.0).mean(-1, keepdim=True)
    is_close = is_known & ((value - least).abs() <= indifference * gained)
    are_most = is_close.to(value).mean(-1, keepdim=True) >= MOST
    return torch.where(is_close & are_most, best, cell)


def first_part(samples: JointSamples) -> JointSamples:
    """One in `PARTS` of the samples, and their mirror images."""
    pairs = samples.order.shape[-1]
    count = pairs // PARTS
    cell, is_feasible = (t.unflatten(-1, (2, pairs))[..., :count].flatten(-2) for t in samples[2:])
    return JointSamples(samples.vectors[..., :count, :], samples.order[..., :count], cell, is_feasible)


def own_orders(count: int, seeds: Int[Tensor, "*b j"]) -> Int[Tensor, "*b j h"]:
    """An order of so many vectors for every row, by its seed: of each part by itself, so that parts are kept."""
    part = count // PARTS
    sizes = [part] * (PARTS - 1) + [count - (PARTS - 1) * part]
    orders = []
    for seed in seeds.flatten().tolist():
        generator = torch.Generator().manual_seed(seed)
        parts = [torch.randperm(size, generator=generator) + i * part for i, size in enumerate(sizes)]
        orders.append(torch.cat(parts))
    return torch.stack(orders).view(*seeds.shape, count)


def in_order(vectors: Float[Tensor, "*b h r"], order: Int[Tensor, "*b j n"]) -> Float[Tensor, "*b j n r"]:
    """The vectors of each row, in its order."""
    *batch, h, r = vectors.shape
    first = h * torch.arange(math.prod(batch), device=order.device)
    index = order + first.view(*batch, *(1,) * (order.dim() - len(batch)))  # each batch element has its own vectors
    return vectors.reshape(-1, r).index_select(0, index.flatten()).view(*order.shape, r)


def values_at(coordinates: Float[Tensor, "*b j h r"], loadings: Float[Tensor, "*b j r x"]) -> Float[Tensor, "*b j h x"]:
    """What each sample of these coordinates adds to the mean at x, in their precision; mirrored ones take it off."""
    return Product.apply(coordinates, loadings.to(coordinates))


class Product(torch.autograd.Function):
    """Of many coordinates with loadings, which alone are differentiated.

    The coordinates are what takes time, to be read once each way: the gradient is computed as the product of rows that
    it is in memory, in half of the time of its transpose.
    """

    @staticmethod
    def forward(ctx: Any, coordinates: Tensor, loadings: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.coordinates = coordinates
        return product(coordinates, loadings)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return None, product(gradient.mT.contiguous(), ctx.coordinates).mT


class Groups(NamedTuple):
    """The samples by the cell of their minimum, without those of cells that few samples share."""

    member: Int[Tensor, "*b s"]
    """The group of each sample; the number of groups where it has none."""
    cell: Int[Tensor, "*b g"]
    size: Float[Tensor, "*b g"]
    """Samples in each group; zero where a batch element has fewer groups than others."""


def group_by_cell(samples: JointSamples, cells: int, smallest: int) -> Groups:
    """Groups of at least `smallest` samples, the largest first, of the samples that are feasible somewhere.

    Where hardly any are, all samples count, by the cell of their least violation: what is sought is feasibility.
    """
    few_feasible = samples.is_feasible.double().mean(-1, keepdim=True) < FEW_FEASIBLE
    counts = samples.is_feasible | few_feasible
    count = torch.zeros(*samples.cell.shape[:-1], cells, dtype=torch.float64, device=samples.cell.device)
    count = count.scatter_add(-1, samples.cell, counts.to(count.dtype))
    # So few samples that no cell has enough: its largest groups are all there is.
    enough = count.amax(-1, keepdim=True).clamp(max=smallest)
    count = torch.where(count >= enough, count, 0.0)
    groups = int((count > 0).sum(-1).max())
    size, cell = (t[..., :groups] for t in count.sort(dim=-1, descending=True, stable=True))
    # From the cell of a sample to its group.
    number = torch.arange(groups, device=cell.device).expand_as(cell)
    group_of_cell = torch.full_like(count, groups, dtype=torch.long)
    group_of_cell = group_of_cell.scatter(-1, cell, torch.where(size > 0, number, groups))
    member = torch.gather(group_of_cell, -1, samples.cell)
    return Groups(torch.where(counts, member, groups), cell, size)


class PairMembers(NamedTuple):
    """Of a table with a line for every row and group, which line each row of each sample counts in."""

    own: Int[Tensor, " q"]
    """Of the samples of the first half .."""
    mirrored: Int[Tensor, " q"]
    """.. and of their mirror images."""
    groups: int


def pair_members(
    member: Int[Tensor, "*b s"], rows: int, groups: int, order: Int[Tensor, "*b j h"] | None = None
) -> PairMembers:
    """The lines of samples that are members of these groups, with so many rows each.

    With an order, of each row in the order of its vectors instead of that of the samples.
    """
    *batch, samples = member.shape
    offset = groups * torch.arange(math.prod(batch) * rows, device=member.device).view(*batch, rows, 1, 1)
    lines = member.view(*batch, 1, 2, samples // 2) + offset
    if order is not None:
        sample_of = torch.argsort(order, -1)[..., None, :]
        lines = torch.gather(lines, -1, sample_of.expand(lines.shape))
    return PairMembers(lines[..., 0, :].flatten(), lines[..., 1, :].flatten(), groups)


def sum_by_group(
    values: Float[Tensor, "*b j h x"], members: PairMembers, mirrored: Literal[1, -1]
) -> Float[Tensor, "*b j g x"]:
    """Sums over the members of each group, as double precision: what follows are differences of them.

    The values are those of the first half of the samples; a mirror image has the same with the sign `mirrored`.
    """
    *rows, _, columns = values.shape
    sums, values = values.new_zeros(math.prod(rows) * members.groups, columns), values.flatten(0, -2)
    sums = sums.index_add(0, members.own, values).index_add(0, members.mirrored, values, alpha=mirrored)
    return sums.view(*rows, members.groups, columns).double()


def one_per_box(belief: Belief, cells: Float[Tensor, "*b n d"]) -> Bool[Tensor, "*b n"]:
    """Which of the cells are the first in their box: what is closer together is one cell."""
    return ~repeated_boxes(cells / (BOX_SIDE * belief.lengthscale.amin(-2)[..., None, :]))


def firsts_alone(
    cells: Float[Tensor, "*w n d"], is_first: Bool[Tensor, "*w n"]
) -> tuple[Float[Tensor, "*w m d"], Bool[Tensor, "*w m"], list[int]]:
    """The first cells of their boxes without the others, whether each is one, and how many each study has.

    Of several studies some have fewer: their last ones are others again.
    """
    count = is_first.sum(-1)
    order = torch.argsort((~is_first).to(torch.uint8), dim=-1, stable=True)[..., : int(count.max())]
    own = torch.gather(cells, -2, order[..., None].expand(*order.shape, cells.shape[-1]))
    return own, torch.gather(is_first, -1, order), count.flatten().tolist()


def repeated_boxes(x: Float[Tensor, "*b n d"]) -> Bool[Tensor, "*b n"]:
    """Whether an earlier point is in the same unit box."""
    box = x.floor()
    return (torch.cdist(box, box, p=torch.inf) == 0).tril(-1).any(-1)
