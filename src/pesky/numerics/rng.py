"""Random numbers of one study, or of several in lockstep, each from a generator of its own.

A study that goes in lockstep with others draws the very numbers that it would draw alone.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import overload

import torch
from jaxtyping import Float
from torch import Tensor
from torch.quasirandom import SobolEngine

Seed = int | tuple[int, ...]
"""Of one study, or of each of several."""
Source = torch.Generator | tuple[torch.Generator, ...]
"""The generator of one study, or of each of several; the first dimension of what is drawn is then theirs."""

MANY = 100_000
"""Numbers from which on threads draw those of several studies side by side."""


@overload
def source_of(seed: int) -> torch.Generator: ...
@overload
def source_of(seed: tuple[int, ...]) -> tuple[torch.Generator, ...]: ...
def source_of(seed: Seed) -> Source:
    """A generator for every seed."""
    if isinstance(seed, tuple):
        return tuple(torch.Generator().manual_seed(each) for each in seed)
    return torch.Generator().manual_seed(seed)


@overload
def question_seed(seed: int, number: int) -> int: ...
@overload
def question_seed(seed: tuple[int, ...], number: int) -> tuple[int, ...]: ...
def question_seed(seed: Seed, number: int) -> Seed:
    """The seed of a study's question of this number: one stream for each, whatever was computed in between."""
    if isinstance(seed, tuple):
        return tuple((each * 1_000_003 + number) % 2**63 for each in seed)
    return (seed * 1_000_003 + number) % 2**63


def draw_seed(source: Source) -> Seed:
    """A seed for what makes its own random numbers."""
    if isinstance(source, tuple):
        return tuple(int(torch.randint(2**31, (1,), generator=each)) for each in source)
    return int(torch.randint(2**31, (1,), generator=source))


def normal(
    source: Source,
    *size: int,
    like: Tensor,
    dtype: torch.dtype = torch.float64,
    widths: Sequence[int] | None = None,
) -> Float[Tensor, "*size"]:
    """Standard normal numbers of this size, drawn as `dtype` and then like the given tensor.

    `widths` is how many columns each study has, where that is not the same for all: its last ones, after zeros.
    """
    return _fill(source, size, like, dtype, lambda out, generator: out.normal_(generator=generator), widths)


def uniform(source: Source, *size: int, like: Tensor) -> Float[Tensor, "*size"]:
    """Numbers between 0 and 1."""
    return _fill(source, size, like, torch.float64, lambda out, generator: out.uniform_(generator=generator))


def _fill(
    source: Source,
    size: tuple[int, ...],
    like: Tensor,
    dtype: torch.dtype,
    fill: Callable[[Tensor, torch.Generator], Tensor],
    widths: Sequence[int] | None = None,
) -> Tensor:
    out = torch.empty(size, dtype=dtype, pin_memory=like.is_cuda)
    if not isinstance(source, tuple):
        return fill(out, source).to(like.device).to(like.dtype)

    def fill_one(part: Tensor, generator: torch.Generator, width: int) -> None:
        if width == size[-1]:
            fill(part, generator)
        else:
            part[..., :-width] = 0
            part[..., -width:] = fill(torch.empty(*part.shape[:-1], width, dtype=dtype), generator)

    each = (out, source, [size[-1]] * len(source) if widths is None else widths)
    if out.numel() < MANY:
        for part in zip(*each, strict=True):
            fill_one(*part)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(fill_one, *each))
    # moved before it is converted: half the way for single precision
    return out.to(like.device).to(like.dtype)


def sobol(dim: int, count: int, seed: Seed) -> Float[Tensor, "*w count dim"]:
    """Scrambled Sobol points of the unit cube."""
    if isinstance(seed, tuple):
        return torch.stack([sobol(dim, count, each) for each in seed])
    return SobolEngine(dim, scramble=True, seed=seed).draw(count, dtype=torch.float64)


def lanes(source: Source) -> tuple[int, ...]:
    """The leading dimensions of what is drawn: none of one study."""
    return (len(source),) if isinstance(source, tuple) else ()
