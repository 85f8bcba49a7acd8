"""The gain of rows that are numbers, and its gradient, by their formulas: half of the time of the automatic one.

It is what `moments` and `entropy` make of a group while nothing is pending. With the sums S1 of the values of its n
members and S2 of their squares, and f = n - 1,

    u = (S2 - S1^2 / n) / f,    V = unsampled + u + noise,    s = u / V,
    H = 1/2 log V - c s^2,      c = [digamma(f / 2) - log(f / 2)] / 2,

and the gain is H of all samples less the mean of those of the groups. The derivatives are

    dH/du = [1/2 - 2 c s (1 - s)] / V,    dH/d unsampled = (1/2 + 2 c s^2) / V.
"""

import math
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from pesky.acquire.grouped.awaited import SampledAt
from pesky.acquire.grouped.joint_samples import PairMembers, sum_by_group
from pesky.acquire.grouped.moments import GroupSums, last_of_all
from pesky.infer.predict import VARIANCE_FLOOR
from pesky.numerics.product import product


class NumberGroups(NamedTuple):
    """What the gains at all x share, of g - 1 groups and last of all samples."""

    vectors: Float[Tensor, "*b h r"]
    """Coordinates that all rows share: what they are multiplied with is read once for all of them."""
    members: PairMembers
    """In the order of the vectors."""
    together: Float[Tensor, "*b j g r"]
    """The sums of the members' coordinates: a sum of values is one of these, at x."""
    size: Float[Tensor, "*b 1 g 1"]
    freedom: Float[Tensor, "*b 1 g 1"]
    bias: Float[Tensor, "*b 1 g 1"]
    """c, above."""
    weight: Float[Tensor, "*b 1 g 1"]
    """Of each entropy in the gain."""
    noise: Float[Tensor, "*b j 1 1"]
    floor: Float[Tensor, "*b j 1 1"]
    """Of the variances."""


def number_groups(
    vectors: Float[Tensor, "*b h r"],
    members: PairMembers,
    sums: GroupSums,
    noise: Float[Tensor, "*b j"],
    amplitude: Float[Tensor, "*b j"],
) -> NumberGroups:
    """Of samples in groups, of which `sums` has the sizes."""
    freedom = sums.degrees_of_freedom
    bias = 0.5 * (torch.digamma(freedom / 2) - torch.log(freedom / 2))
    weight = torch.nn.functional.pad(-sums.share, (0, 1), value=1.0)[..., None, :, None]
    floor = VARIANCE_FLOOR * amplitude[..., None, None]
    together = last_of_all(_sum_vectors(vectors, members, amplitude.shape[-1]))
    size = sums.size.clamp(min=1.0)
    return NumberGroups(vectors, members, together, size, freedom, bias, weight, noise[..., None, None], floor)


def _sum_vectors(vectors: Float[Tensor, "*b h r"], members: PairMembers, rows: int) -> Float[Tensor, "*b j g r"]:
    """The sums of vectors over the members of each group, mirror images with the other sign, row by row."""
    *batch, h, r = vectors.shape
    sums = vectors.new_zeros(math.prod(batch) * rows * members.groups, r)
    of_rows = zip(members.own.view(-1, h), members.mirrored.view(-1, h), strict=True)
    for i, (own, mirrored) in enumerate(of_rows):
        shared = vectors.view(-1, h, r)[i // rows]
        sums.index_add_(0, own, shared).index_add_(0, mirrored, shared, alpha=-1)
    return sums.view(*batch, rows, members.groups, r).double()


def number_gain(at: SampledAt, groups: NumberGroups) -> Float[Tensor, "*b j x"]:
    """The gain of every row at x."""
    return NumberGain.apply(at.loadings, at.unsampled, groups)


class NumberGain(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, loadings: Tensor, unsampled: Tensor, groups: NumberGroups) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        (rows, _, columns), vectors = loadings.shape[-3:], groups.vectors
        value = product(vectors, loadings.to(vectors).movedim(-3, -2).flatten(-2))
        value = value.unflatten(-1, (rows, columns)).movedim(-2, -3).contiguous()
        first = groups.together @ loadings
        second = last_of_all(sum_by_group(value.square(), groups.members, 1))
        sampled = torch.addcdiv(second, first.square(), groups.size, value=-1).div_(groups.freedom).clamp_(min=0.0)
        variance = torch.maximum(unsampled[..., None, :] + sampled, groups.floor)
        noisy = variance + groups.noise
        share = sampled / noisy
        entropy = noisy.log().mul_(0.5).sub_(groups.bias * share.square())
        ctx.groups = groups
        ctx.save_for_backward(value, first, sampled, variance > groups.floor, noisy, share)
        return (groups.weight * entropy).sum(-2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        groups: NumberGroups = ctx.groups
        value, first, sampled, is_above, noisy, share = ctx.saved_tensors
        each = gradient[..., None, :] * groups.weight / noisy
        slope = 2 * groups.bias * share
        by_unsampled = each * is_above * (0.5 + slope * share)
        by_second = (by_unsampled - each * slope) * (sampled > 0) / groups.freedom
        by_first = by_second * first * (-2 / groups.size)
        # a sample is in its group, and in all
        of_member = torch.cat([by_second[..., :-1, :] + by_second[..., -1:, :], by_second[..., -1:, :]], -2)
        lines = of_member.to(value).flatten(0, -2)
        by_square = (lines[groups.members.own] + lines[groups.members.mirrored]).view(value.shape)
        by_value = by_square.mul_(value).mul_(2).mT
        by_loadings = product(by_value.flatten(-3, -2), groups.vectors).unflatten(-2, by_value.shape[-3:-1]).mT
        by_loadings = by_loadings + groups.together.mT @ by_first
        return by_loadings, by_unsampled.sum(-2), None
