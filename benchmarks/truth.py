"""Data sets of our own, and their gains by rejection sampling: what `benchmarks.accuracy` needs no file for."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from benchmarks.gain_curves import belief_of, move
from benchmarks.oracle import Dataset, KnownRow, Oracle
from pesky.acquire import Context
from pesky.acquire.entropy.rs import RejectionSampling
from pesky.problem import Real
from pesky.space import Space
from pesky.test_functions.gp_samples import draw_functions

NOISE = 0.01  # variance, against functions of amplitude 1


@dataclass(frozen=True)
class Size:
    """How finely the truth is computed in so many dimensions."""

    lengthscale: float
    cells: int
    """Grid points per axis, among which x* is."""
    points: int
    """Points per axis at which gains are compared."""
    samples: int


SIZES = {1: Size(0.1, 401, 401, 200_000), 2: Size(0.3, 61, 25, 200_000)}
"""In two dimensions the grid is half as fine, in lengthscales, as in one: from 31 to 45 cells an axis the largest gain
rises by 0.5 to 6 %, from 45 to 61 by another 2 to 3.5 %, so the truth itself is a few percent low there."""
KINDS = ((1, False), (2, False), (1, True))
"""Constraints, and whether each row is measured at points of its own; the data sets take turns."""


def draw_truth(
    dim: int, datasets: int, seed: int, samples: int | None, report: Callable[[], None] = lambda: None
) -> Oracle:
    """Data sets drawn from known Gaussian processes, of 5 to 15 noisy measurements a row, and their gains."""
    grid = grid_of(dim)
    found = []
    for i in range(datasets):
        found.append(draw_dataset(grid, i, datasets, seed, samples))
        report()
    return Oracle(grid, tuple(found))


def grid_of(dim: int) -> Float[Tensor, "n d"]:
    """The points at which gains are compared in so many dimensions."""
    axis = torch.linspace(0.0, 1.0, SIZES[dim].points, dtype=torch.float64)
    return torch.cartesian_prod(*[axis] * dim).view(-1, dim)


def draw_dataset(grid: Float[Tensor, "n d"], i: int, datasets: int, seed: int, samples: int | None) -> Dataset:
    """Data set `i` of so many and its gains on the grid, which are computed where the grid is."""
    dim = grid.shape[-1]
    size = SIZES[dim]
    generator = torch.Generator().manual_seed(1000 * seed + i)
    constraints, decoupled = KINDS[i % len(KINDS)]
    N = 5 + round(10 * i / max(1, datasets - 1))
    rows = draw_rows(dim, N, constraints, decoupled, size.lengthscale, generator)
    rule = RejectionSampling(cells=size.cells, samples=samples or size.samples)
    name = f"{i} (N={N}, K={constraints}{', decoupled' if decoupled else ''})"
    return Dataset(name, rows, *true_gains(rows, grid, rule, generator))


def draw_rows(
    dim: int, N: int, constraints: int, decoupled: bool, lengthscale: float, generator: torch.Generator
) -> tuple[KnownRow, ...]:
    """Noisy values of functions drawn from their prior, at uniform points that the rows share unless decoupled."""
    functions = draw_functions(dim, constraints + 1, generator, lengthscale, amplitude=1.0, points=500)
    shared = torch.rand(N, dim, generator=generator, dtype=torch.float64)
    rows = []
    for j in range(constraints + 1):
        X = torch.rand(N, dim, generator=generator, dtype=torch.float64) if decoupled else shared
        y = functions(X)[:, j] + NOISE**0.5 * torch.randn(N, generator=generator, dtype=torch.float64)
        rows.append(KnownRow(X, y, lengthscale, 1.0, NOISE))
    return tuple(rows)


def true_gains(
    rows: tuple[KnownRow, ...], grid: Float[Tensor, "n d"], rule: RejectionSampling, generator: torch.Generator
) -> tuple[Float[Tensor, "J n"], Float[Tensor, "J n"]]:
    """The gains on the grid and their standard errors."""
    space = Space({f"x{i}": Real(0.0, 1.0) for i in range(grid.shape[-1])})
    confidence = torch.full((len(rows) - 1,), 0.95).to(grid)
    acquisition = rule.acquisition(Context(move(belief_of(rows), grid.device), space, confidence, generator))
    value, error = acquisition.with_standard_errors(grid)
    return value.mT, error.mT
