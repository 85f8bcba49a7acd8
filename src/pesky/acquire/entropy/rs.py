"""Rejection sampling on a fixed grid: the ground truth that other rules are measured by, where d is small."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import Context, Rule
from pesky.acquire.grouped.gain import GroupedGain, sample_gain
from pesky.acquire.grouped.inducing import select_inducing_points
from pesky.errors import ProblemError
from pesky.model.belief import for_hyper_samples, studies

CELLS = {1: 401, 2: 31}
"""Cells per axis. Half as many in one dimension lower the largest gains by 2 to 4 % at a lengthscale of 0.1; in two, at
a lengthscale of 0.3, 61 cells find gains up to 10 % larger than 31, at three times the time."""
INDUCING_POINTS = 400
"""At most: of a squared exponential kernel some 30 or 100 are enough."""


@dataclass(frozen=True)
class RejectionSampling(Rule):
    """RS (METHOD 15): joint samples of all rows on a grid, grouped by the cell of each one's feasible minimum.

    Nothing is approximated but by the grid and the number of samples; `GroupedGain.with_standard_errors`
    says how well the samples do.
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
        belief = context.belief
        grid = self._grid(context).to(belief.points)
        inducing = select_inducing_points(belief, grid, INDUCING_POINTS)
        cells = for_hyper_samples(belief, grid.expand(*studies(belief), *grid.shape))
        everywhere = torch.ones_like(cells[..., 0], dtype=torch.bool)
        inducing_points = for_hyper_samples(belief, inducing.points)
        return sample_gain(
            context, inducing_points, cells, everywhere, self.samples, self.min_group, inducing.counts
        )  # fmt: skip

    def _grid(self, context: Context) -> Float[Tensor, "n d"]:
        d = context.belief.points.shape[-1]
        axis = torch.linspace(0.0, 1.0, self.cells or CELLS[d], dtype=torch.float64)
        # On a lattice many cells are one point; of the same point there must be one cell.
        return context.space.snap(torch.cartesian_prod(*[axis] * d).view(-1, d)).unique(dim=0)
