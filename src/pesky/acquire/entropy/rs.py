"""Rejection sampling on a fixed grid: the ground truth that other rules are measured by, where d is small."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from pesky.acquire.base import Context, Rule
from pesky.acquire.entropy.grouped_gain import GroupedGain
from pesky.acquire.entropy.groups import draw, group, pivots, whiten
from pesky.errors import ProblemError
from pesky.model.belief import for_samples, studies

CELLS = {1: 401, 2: 31}
"""Cells per axis. Half as many in one dimension lower the largest gains by 2 to 4 % at a lengthscale of 0.1; in two, at
a lengthscale of 0.3, 61 cells find gains up to 10 % larger than 31, at three times the time."""
LANDMARKS = 400
"""Points whose values stand for those at all cells: of a squared exponential kernel some 30 or 100 are enough."""


@dataclass(frozen=True)
class RejectionSampling(Rule):
    """RS (METHOD 15): joint samples of all rows on a grid, grouped by the cell of each one's feasible minimum.

    Nothing is approximated but by the grid and the number of samples; `GroupedGain.measured` says how well the samples
    do.
    """

    name: ClassVar[str] = "rs"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    cells: int | None = None
    """Grid points per axis; None: 401 in one dimension, 31 in two."""
    samples: int = 20_000
    """Joint samples, for each hyperparameter sample."""
    min_group: int = 2
    """Cells that fewer samples share are left out, and with p points pending those with fewer than 2 p more."""

    def check(self, dim: int, constraints: int) -> None:
        if dim not in CELLS:
            raise ProblemError(
                f"the rule 'rs' puts a grid over the space, so that may have 2 dimensions at most; this one has {dim}. "
                "Use 'rsdg', whose grid is where the solution may be, or 'pesc'."
            )

    @torch.no_grad()
    def acquisition(self, context: Context) -> GroupedGain:
        belief, pending = context.belief, context.pending
        d = belief.points.shape[-1]
        axis = torch.linspace(0.0, 1.0, self.cells or CELLS[d], dtype=torch.float64)
        # On a lattice many cells are one point; of the same point there must be one cell.
        lattice = context.space.snap(torch.cartesian_prod(*[axis] * d).view(-1, d)).unique(dim=0).to(belief.points)
        landmarks, count = pivots(belief, lattice, LANDMARKS)
        landmarks = landmarks if pending is None else torch.cat([landmarks, pending.X])
        whitened = whiten(belief, for_samples(belief, landmarks), count)
        cells = for_samples(belief, lattice.expand(*studies(belief), *lattice.shape))
        usable = torch.ones_like(cells[..., 0], dtype=torch.bool)
        draws = draw(belief, whitened, cells, usable, self.samples, context.generator, count)
        smallest = self.min_group + (0 if pending is None else 2 * len(pending.X))
        groups = group(draws, len(lattice), smallest)
        return GroupedGain(belief, whitened, cells, draws, groups, pending)
