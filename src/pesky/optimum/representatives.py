"""Few weighted points that stand for many draws of x* (METHOD 4.4)."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.numerics.rng import Source, uniform

LLOYD_STEPS = 6
SAME_DRAW = 1e-4
"""Draws closer than this, in lengthscales, are one point."""

TIE = 1e-6
"""Distances that differ by no more than this share are equal."""


class Representatives(NamedTuple):
    x: Float[Tensor, "*b m d"]
    weight: Float[Tensor, "*b m"]
    """Shares that sum to one; zero where there were fewer distinct draws than asked for."""
    draw: Int[Tensor, "*b m"]
    """Which draw each one is."""


def plain_draws(x: Float[Tensor, "*b n d"], usable: Bool[Tensor, "*b n"], count: int) -> Representatives:
    """`count` of the usable draws, equally weighted: Monte Carlo as in the paper, thinned evenly along one axis.

    Thinning leaves each draw a draw and lowers the noise of their mean. Where fewer are usable, the unusable ones
    (points of least violation) fill up.
    """
    order = torch.argsort(x[..., 0] + torch.where(usable, 0.0, 2.0), dim=-1)
    available = usable.sum(-1, keepdim=True).clamp(min=min(count, x.shape[-2]))
    middle = torch.arange(min(count, x.shape[-2]), device=x.device) + 0.5
    draw = torch.gather(order, -1, (middle * available / middle.shape[0]).long())
    return Representatives(_take(x, draw), torch.full_like(x[..., : draw.shape[-1], 0], 1 / draw.shape[-1]), draw)


def thin(x: Float[Tensor, "*b n d"], order_by: Float[Tensor, "*b n"], count: int) -> Representatives:
    """`count` of the n draws, equally weighted, evenly along their order."""
    middle = (torch.arange(count, device=x.device) + 0.5) * (x.shape[-2] / count)
    draw = torch.argsort(order_by, dim=-1, stable=True)[..., middle.long()]
    return Representatives(_take(x, draw), torch.full_like(x[..., :count, 0], 1 / count), draw)


def representatives(
    x: Float[Tensor, "*b n d"],
    usable: Bool[Tensor, "*b n"],
    lengthscale: Float[Tensor, "*b d"],
    count: int,
    source: Source,
) -> Representatives:
    """Medoids of the usable draws with their clusters' shares (k-means++ start, Lloyd steps, nearest draw).

    Distances are in lengthscales. At least one draw must be usable.
    """
    mass = usable.to(x.dtype)
    z = x / lengthscale[..., None, :]
    chosen, spare = _spread(z, mass, count, source)
    nowhere = torch.where(spare, torch.inf, 0.0)[..., None]
    centers = _take(z, chosen) + nowhere
    for _ in range(LLOYD_STEPS):
        belongs = _nearest(z, centers, mass)
        size = belongs.sum(-2)
        moved = (belongs.mT @ z) / size[..., None].clamp(min=1e-300)
        centers = torch.where(size[..., None] > 0, moved, centers)
    distance = _distance(z, centers) + torch.where(mass > 0, 0.0, torch.inf)[..., None]
    # Both draws of a pair are as near to their middle, and rounding must not choose: the first one does.
    nearest = distance <= distance.amin(-2, keepdim=True) * (1 + TIE) + TIE**2
    draw = torch.where(spare, chosen, nearest.to(torch.uint8).argmax(-2))
    # Two centers may share their nearest draw: the first one then takes the whole cluster.
    same = (draw[..., :, None] == draw[..., None, :]).tril(-1).any(-1) | spare
    medoids = _take(z, draw)
    belongs = _nearest(z, medoids + torch.where(same, torch.inf, 0.0)[..., None], mass)
    weight = belongs.sum(-2) / mass.sum(-1, keepdim=True)
    # Heaviest first, and no more than are needed: EP's cost is per point.
    order = torch.argsort(weight, dim=-1, descending=True, stable=True)[..., : int((weight > 0).sum(-1).max())]
    draw = torch.gather(draw, -1, order)
    return Representatives(_take(x, draw), torch.gather(weight, -1, order), draw)


def _take(x: Float[Tensor, "*b n d"], index: Int[Tensor, "*b m"]) -> Float[Tensor, "*b m d"]:
    return torch.gather(x, -2, index[..., None].expand(*index.shape, x.shape[-1]))


def _distance(z: Float[Tensor, "*b n d"], centers: Float[Tensor, "*b m d"]) -> Float[Tensor, "*b n m"]:
    return (z[..., :, None, :] - centers[..., None, :, :]).square().sum(-1)


def _nearest(
    z: Float[Tensor, "*b n d"], centers: Float[Tensor, "*b m d"], mass: Float[Tensor, "*b n"]
) -> Float[Tensor, "*b n m"]:
    """Mass of each draw, in the column of its nearest center."""
    nearest = torch.nan_to_num(_distance(z, centers), nan=torch.inf).argmin(-1, keepdim=True)
    return torch.zeros(*z.shape[:-1], centers.shape[-2], dtype=z.dtype, device=z.device).scatter(
        -1, nearest, mass[..., None]
    )


def _spread(
    z: Float[Tensor, "*b n d"], mass: Float[Tensor, "*b n"], count: int, source: Source
) -> tuple[Int[Tensor, "*b m"], Bool[Tensor, "*b m"]]:
    """Indices of starting centers, each drawn in proportion to its squared distance from those before (k-means++).

    Once those of a batch element cover all of its draws, what others still need is spare there: its first one again.
    """
    count = min(count, z.shape[-2])
    # Drawn at once: how many are needed depends on what else is in the batch, and the next number must not.
    level = uniform(source, *mass.shape[:-1], count, like=mass)
    chosen = [_at_level(mass, level[..., :1])]
    spare = [torch.zeros_like(chosen[0], dtype=torch.bool)]
    apart = _distance(z, _take(z, chosen[0]))[..., 0]
    while len(chosen) < count:
        chance = torch.where(apart > SAME_DRAW**2, apart * mass, 0.0)
        covered = chance.amax(-1, keepdim=True) == 0
        if bool(covered.all()):
            break
        spare.append(covered)
        chosen.append(torch.where(covered, chosen[0], _at_level(chance, level[..., len(chosen), None])))
        apart = torch.minimum(apart, _distance(z, _take(z, chosen[-1]))[..., 0])
    return torch.cat(chosen, -1), torch.cat(spare, -1)


def _at_level(chance: Float[Tensor, "*b n"], level: Float[Tensor, "*b 1"]) -> Int[Tensor, "*b 1"]:
    """The index, in proportion to `chance`, at which its running sum reaches this share of the total."""
    total = chance.cumsum(-1)
    return torch.searchsorted(total, level * total[..., -1:]).clamp(max=chance.shape[-1] - 1)
