"""Random numbers of one study, or of several in lockstep, each from a generator of its own.

A study that goes in lockstep with others draws the very numbers that it would draw alone, on the same kind of device.
Whether there is one study or several is seen in this file alone: who draws says how much, and the numbers of each study
come from its own generator.
"""

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, overload

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.quasirandom import SobolEngine

Seed = int | tuple[int, ...]
"""Of one study, or of each of several."""
Source = torch.Generator | tuple[torch.Generator, ...]
"""The generator of one study, or of each of several; the first dimension of what is drawn is then theirs."""

MANY = 100_000
"""Numbers from which on threads draw those of several studies side by side."""

A = TypeVar("A")
B = TypeVar("B")


def _each(function: Callable[[A], B], given: A | tuple[A, ...]) -> B | tuple[B, ...]:
    """What the function makes of the one that was given, or of each of several."""
    return tuple(map(function, given)) if isinstance(given, tuple) else function(given)


@overload
def source_of(seed: int) -> torch.Generator: ...
@overload
def source_of(seed: tuple[int, ...]) -> tuple[torch.Generator, ...]: ...
def source_of(seed: Seed) -> Source:
    """A generator for every seed."""
    return _each(lambda one: torch.Generator().manual_seed(one), seed)


@overload
def question_seed(seed: int, number: int) -> int: ...
@overload
def question_seed(seed: tuple[int, ...], number: int) -> tuple[int, ...]: ...
def question_seed(seed: Seed, number: int) -> Seed:
    """The seed of a study's question of this number: one stream for each, whatever was computed in between."""
    return _each(lambda one: (one * 1_000_003 + number) % 2**63, seed)


def draw_seed(source: Source) -> Seed:
    """A seed for what makes its own random numbers."""
    return _each(lambda one: int(torch.randint(2**31, (1,), generator=one)), source)


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


def draw_seeds(source: Source, *size: int) -> Int[Tensor, "*size"]:
    """Seeds for many streams of numbers."""
    drawn = _each(lambda one: torch.randint(2**31, size, generator=one), source)
    return torch.stack(drawn) if isinstance(drawn, tuple) else drawn


def normal_blocks(seeds: Int[Tensor, "*b"], *size: int, like: Tensor) -> Float[Tensor, "*size"]:
    """Blocks of standard normal numbers, each of its own seed: the first ones of a larger block are those of a smaller.

    In single precision, at a third of the time: seven digits of a random number are enough.
    """
    wanted = math.prod(size)
    # torch makes numbers of a processor in groups of 16, and the last ones of an incomplete group in another way
    out = torch.empty(*seeds.shape, -(-wanted // 16) * 16, dtype=torch.float32, device=like.device)

    def fill(block: Tensor, seed: int) -> None:
        block.normal_(generator=torch.Generator(like.device).manual_seed(seed))

    blocks, each = out.view(-1, out.shape[-1]), seeds.flatten().tolist()
    if torch.get_num_threads() == 1 or len(each) == 1 or out.numel() < MANY or like.is_cuda:
        for block, seed in zip(blocks, each, strict=True):
            fill(block, seed)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(fill, blocks, each))
    return out[..., :wanted].unflatten(-1, size)


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
    # Many numbers take longer to move than to draw: they are drawn where they are needed, by generators of that device.
    is_there = like.is_cuda and math.prod(size) >= MANY
    out = torch.empty(size, dtype=dtype, device=like.device if is_there else "cpu")
    parts, generators = (out, source) if isinstance(source, tuple) else ((out,), (source,))
    if is_there:
        generators = [torch.Generator(like.device).manual_seed(draw_seed(one)) for one in generators]  # pyright: ignore[reportArgumentType]
    widths = [size[-1] if size else 1] * len(generators) if widths is None else widths

    def fill_one(part: Tensor, generator: torch.Generator, width: int) -> None:
        if not size or width == size[-1]:
            fill(part, generator)
        else:
            part[..., :-width] = 0
            part[..., -width:] = fill(part.new_empty(*part.shape[:-1], width), generator)

    if len(generators) == 1 or out.numel() < MANY or is_there:
        for one in zip(parts, generators, widths, strict=True):
            fill_one(*one)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(fill_one, parts, generators, widths))
    return out.to(like.device).to(like.dtype)


def sobol(dim: int, count: int, seed: Seed) -> Float[Tensor, "*w count dim"]:
    """Scrambled Sobol points of the unit cube."""
    drawn = _each(lambda one: SobolEngine(dim, scramble=True, seed=one).draw(count, dtype=torch.float64), seed)
    return torch.stack(drawn) if isinstance(drawn, tuple) else drawn


def studies_of(source: Source) -> tuple[int, ...]:
    """The leading dimensions of what is drawn: none of one study."""
    return (len(source),) if isinstance(source, tuple) else ()


def split(source: Source, some: Bool[Tensor, " w"]) -> tuple[Source, Source]:
    """A source for all studies in which some draw numbers of no account, and one of the own numbers of those."""
    assert isinstance(source, tuple)  # some, and not all, are of several
    pairs = list(zip(some.tolist(), source, strict=True))
    others = tuple(torch.Generator() if is_one else generator for is_one, generator in pairs)
    return others, tuple(generator for is_one, generator in pairs if is_one)
