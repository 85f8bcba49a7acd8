"""Rejection sampling on a dynamic grid: the cells are where the solution may be, in any number of dimensions."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pesky.acquire.base import Context, Rule
from pesky.acquire.grouped.gain import GroupedGain, sample_gain
from pesky.acquire.grouped.joint_samples import one_per_box
from pesky.model.belief import hyperparameter_samples

CANDIDATES = 512
POLISH_STEPS = 8


@dataclass(frozen=True)
class DynamicGrid(Rule):
    """RSDG (Hernandez-Lobato et al., 2016): as `RejectionSampling`, on a grid of samples of x*.

    It says how much a measurement tells about which of these samples is the best of them.
    """

    name: ClassVar[str] = "rsdg"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    optima: int = 100
    """Samples of x*, which make the grid, for each hyperparameter sample."""
    samples: int = 10_000
    """Joint samples on the grid; shared among hyperparameter samples, with at least a quarter for each."""
    min_group: int = 2
    """Cells that fewer samples share are left out, and with p points pending those with fewer than 2 p more."""

    def acquisition(self, context: Context) -> GroupedGain:
        belief = context.belief
        with context.timed("x*"):
            optima = context.sample_optima(self.optima, None, CANDIDATES, POLISH_STEPS)
        with context.timed("samples"):
            cells = context.space.snap(optima.chosen.x)
            samples = max(self.samples // hyperparameter_samples(belief), self.samples // 4)
            return sample_gain(
                context, cells, cells, one_per_box(belief, cells), samples, self.min_group, optima=optima
            )
