"""True gains where a grid over the space has too many cells: on a grid of cells that x* may be in, and a check of it.

The grid is that of `rsdg` with many more cells and samples than any rule takes. Its cells are minimizers of draws, and
x* is the best of them; as they get more, the gains settle (docs/pesc_options.md). The check shares nothing with that
but the belief: every draw is minimized by itself, wherever that is, and draws whose minima are close are one group.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from benchmarks.agreement import Agreement, compare
from benchmarks.gain_curves import belief_of
from benchmarks.oracle import Dataset, KnownRow, Oracle
from benchmarks.truth import draw_rows
from pesky.acquire import Context
from pesky.acquire.entropy.rsdg import DynamicGrid
from pesky.model import GaussianProcess
from pesky.problem import Real
from pesky.space import Space

KINDS = ((1, False), (2, False), (3, False), (1, True))
"""Constraints, and whether each row is measured at points of its own; the data sets take turns."""


@dataclass(frozen=True)
class GridSize:
    """What is drawn in so many dimensions, and how finely the truth is computed."""

    lengthscale: float
    measurements: int
    """Of each row."""
    cells: int = 800
    samples: int = 40_000


GRID_SIZES = {
    1: GridSize(0.1, 10),
    2: GridSize(0.3, 12),
    4: GridSize(0.5, 20),
    6: GridSize(0.7, 30),
    8: GridSize(0.9, 40),
}
"""In six and eight dimensions 800 cells do not settle the gains: what is compared there is which of them is best."""
PLACES = (300, 200, 200)
"""Points at which gains are compared: all over the space, where x* may be, and around there."""
CHECK_DRAWS, CHECK_GROUPS, CHECK_BLOCK = 12_000, 150, 500
"""Draws of the check and the groups they are in; minimized so many at a time."""


def draw_grid_truth(dim: int, datasets: int, seed: int, report: Callable[[], None] = lambda: None) -> Oracle:
    """Data sets drawn from known Gaussian processes, and their gains where those are compared."""
    found = []
    for i in range(datasets):
        found.append(draw_grid_dataset(dim, i, seed, GRID_SIZES[dim]))
        report()
    return Oracle(torch.zeros(0, dim, dtype=torch.float64), tuple(found))


def draw_grid_dataset(dim: int, i: int, seed: int, size: GridSize) -> Dataset:
    """Data set `i`, with its gains and their standard errors."""
    generator = torch.Generator().manual_seed(1_000_000 * dim + 1000 * seed + i)
    constraints, decoupled = KINDS[i % len(KINDS)]
    rows = draw_rows(dim, size.measurements, constraints, decoupled, size.lengthscale, generator)
    acquisition = DynamicGrid(optima=size.cells, samples=size.samples).acquisition(_context(belief_of(rows), generator))
    assert acquisition.optima is not None
    points = _places(acquisition.optima.chosen.x, size.lengthscale, generator)
    value, error = acquisition.with_standard_errors(points)
    name = f"{i} (N={size.measurements}, K={constraints}{', decoupled' if decoupled else ''})"
    return Dataset(name, rows, value.mT, error.mT, points)


def check(dataset: Dataset, seed: int = 0) -> Agreement:
    """How the gains by nearness of the minima of draws agree with those of the data set."""
    assert dataset.points is not None
    return compare(nearness_gains(dataset.rows, dataset.points, seed), dataset.gains)


@torch.no_grad()
def nearness_gains(rows: tuple[KnownRow, ...], points: Float[Tensor, "n d"], seed: int) -> Float[Tensor, "J n"]:
    """By how much the place of a draw's minimum lowers the entropy of measurements, over groups of close minima."""
    belief, generator = belief_of(rows), torch.Generator().manual_seed(seed)
    context, x, values = _context(belief, generator), [], []
    for _ in range(CHECK_DRAWS // CHECK_BLOCK):
        optima = context.sample_cells(CHECK_BLOCK, CHECK_BLOCK, 512, 20)
        x.append(optima.chosen.x)
        values.append(optima.paths.values(points))
    place, value = torch.cat(x), torch.cat(values, -2)
    unit = belief.lengthscale.amin(-2)
    center = place[torch.randperm(len(place), generator=generator)[:CHECK_GROUPS]]
    group = torch.cdist(place / unit, center / unit).argmin(-1)
    noise = belief.noise[:, None]
    before, after = (value.var(-2) + noise).log() / 2, torch.zeros(len(rows), len(points), dtype=torch.float64)
    for own in (group == g for g in range(CHECK_GROUPS)):
        count = int(own.sum())
        if count < 2:
            continue
        variance = value[:, own].var(-2)
        half = torch.tensor((count - 1) / 2, dtype=torch.float64)
        bias = (variance / (variance + noise)).square() * (half.digamma() - half.log()) / 2
        after += count / len(place) * ((variance + noise).log() / 2 - bias)
    return before - after


def _places(x: Float[Tensor, "m d"], lengthscale: float, generator: torch.Generator) -> Float[Tensor, "n d"]:
    anywhere, there, around = PLACES
    d = x.shape[-1]

    def pick(count: int) -> Tensor:
        return x[torch.randint(len(x), (count,), generator=generator)]

    reach = lengthscale * (0.05 + 0.6 * torch.rand(around, 1, generator=generator, dtype=torch.float64))
    near = pick(around) + reach * torch.randn(around, d, generator=generator, dtype=torch.float64)
    everywhere = torch.rand(anywhere, d, generator=generator, dtype=torch.float64)
    return torch.cat([everywhere, pick(there), near.clamp(0.0, 1.0)])


def _context(belief: GaussianProcess, generator: torch.Generator) -> Context:
    space = Space({f"x{i}": Real(0.0, 1.0) for i in range(belief.points.shape[-1])})
    confidence = torch.full((belief.amplitude.shape[-1] - 1,), 0.95, dtype=torch.float64)
    return Context(belief, space, confidence, generator, asked=10**6)
