"""Data of many rows, computed one part after another: what is at work at a time stays in the cache."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model.hyper import Hyperparameters

AT_ONCE = {"cpu": 100_000, "cuda": 100_000_000}
"""Entries of covariance matrices that are computed in one go, on each kind of device: on a processor more leave its
cache, and take two to three times as long."""


def in_parts(
    X: Float[Tensor, "*#b j n d"],
    y: Float[Tensor, "*#b j n"],
    mask: Bool[Tensor, "*#b j n"],
    h: Hyperparameters,
    noise: Float[Tensor, "*#b j #n"],
    *more: Float[Tensor, "*#b j n k"],
    one: bool = False,
) -> Iterator[tuple]:
    """The same, as it is or one part of the rows after another, each with no more columns than it has data.

    The parts are as large as the cache holds, or of `one` row each.
    """
    b, n = h.amplitude.shape, X.shape[-2]
    some = 1 if one else max(1, AT_ONCE[X.device.type] // max(1, n * n))
    if b.numel() <= some and not one:
        yield X, y, mask, h, noise, *more
        return

    def flat(part: Tensor, own: int) -> Tensor:
        return part.expand(*b, *part.shape[part.dim() - own :]).flatten(0, len(b) - 1)

    h = Hyperparameters(flat(h.lengthscale, 1), *(flat(part, 0) for part in h[1:]))
    X, y, mask, noise = flat(X, 2), flat(y, 1), flat(mask, 1), flat(noise, 1)
    more = tuple(flat(each, 2) for each in more)
    counts = ((mask * torch.arange(1, n + 1, device=mask.device)).amax(-1)).tolist()
    for at in range(0, b.numel(), some):
        own, m = slice(at, at + some), max(1, *counts[at : at + some])
        here = Hyperparameters(*(part[own] for part in h))
        yield X[own, :m], y[own, :m], mask[own, :m], here, noise[own, :m], *(each[own, :m] for each in more)


def joined(parts: Sequence[Tensor], b: torch.Size, width: int | None) -> Tensor:
    """What was computed in parts, in one; zeros up to the width where a part has fewer data."""
    if width is None:
        return torch.cat([*parts]).view(b)
    whole = torch.cat([torch.nn.functional.pad(part, (0, width - part.shape[-1])) for part in parts])
    return whole.view(*b, *whole.shape[1:])
