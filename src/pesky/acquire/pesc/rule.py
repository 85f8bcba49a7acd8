"""Predictive entropy search with constraints: the information about where the constrained minimum is."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.grouped.gain import SMALLEST_GROUP, GroupedGain, sample_gain
from pesky.acquire.grouped.joint_samples import firsts_alone, one_per_box
from pesky.acquire.pesc.common import at_least, optional, resolution
from pesky.errors import ProblemError
from pesky.model.belief import hyperparameter_samples, studies
from pesky.optimum.sample import Optima

SINGLE = torch.float32
"""Of the samples, at half of the time."""
FEW, OF_FEW = 3, 2 / 3
"""Up to so many queries for each parameter this part of the draws and cells is enough."""
SHARED = 3
"""Several hyperparameter samples share the cells, down to this part of them each."""


@dataclass(frozen=True)
class PredictiveEntropySearch(Rule):
    """PESC: what a measurement tells about x*, the constrained minimizer, by joint samples of all rows (METHOD 9).

    The cells are minimizers of draws. Joint samples of all rows there are grouped by the cell of their feasible
    minimum, and a group is what is believed if x* is in its cell. Expectation propagation says the same of few samples
    of x*, in the words of Gaussians.

    Nothing is approximated but by the number of samples, also where outcomes are measured apart and in four dimensions,
    where expectation propagation mistakes what constraints tell (METHOD 18).
    """

    name: ClassVar[str] = "pesc"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    cells: int = at_least(2, 300)
    """Where x* may be: minimizers of draws. Fewer in fewer than five dimensions, and at first."""
    samples_per_cell: int = at_least(2, 20)
    """Joint samples, for each of the cells."""
    draws: int = 384
    """Functions drawn, whose minimizers the cells are chosen of."""
    candidates: int = 512
    """Points at which each draw is evaluated before it is polished, besides the measured ones."""
    polish_steps: int = at_least(0, 5)
    indifference: float | None = optional(0.3, float)
    """Where x* is does not matter to samples that gain less than this share of what is gained on average, once they are
    most: these count as one. None: it always matters."""
    coarse: float | None = optional(1e-3, float)
    """Some queries are valued as if measurements had a noise of at least this share of the prior variance .."""
    coarse_every: int | None = optional(None, int)
    """.. each so-many-th. None: the 4th, the 9th, the 16th and so on, ever fewer but always another."""

    def at(self, asked: int, parameters: int) -> "PredictiveEntropySearch":
        """The rule of the query after so many others: fewer cells while x* may be nearly anywhere."""
        if asked >= FEW * parameters:
            return self
        return replace(self, cells=max(2, round(OF_FEW * self.cells)), draws=max(1, round(OF_FEW * self.draws)))

    def resolution(self, asked: int) -> float:
        """See `common.resolution`."""
        return resolution(asked, self.coarse, self.coarse_every)

    def cells_in(self, parameters: int, hyperparameter_samples: int) -> int:
        """Cells for each hyperparameter sample: what covers x* grows with the dimensions, to all of them in five."""
        enough = self.cells * min(1.0, (parameters + 1) / 6)
        return math.ceil(enough if hyperparameter_samples == 1 else enough / min(hyperparameter_samples, SHARED))

    def steps_in(self, parameters: int) -> int:
        """Steps that the minimizer of a draw takes: half of them in two dimensions, where candidates are close."""
        return math.ceil(self.polish_steps / 2) if parameters <= 2 else self.polish_steps

    def acquisition(self, context: Context) -> AcquisitionFunction:
        parameters, hyper_samples = len(context.space.parameters), hyperparameter_samples(context.belief)
        now = self.at(context.asked, parameters)
        cells = now.cells_in(parameters, hyper_samples)
        with context.timed("x*"):
            draws, steps = now.draws // hyper_samples, now.steps_in(parameters)
            optima = context.sample_cells(cells, draws, now.candidates, steps)
        return self._on_cells(context, optima)

    def once_more(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        """Of the samples that there are: once more is pending."""
        if not isinstance(before, GroupedGain):
            return self.acquisition(context)
        with context.timed("samples"):
            return before.beside(context, self.resolution(context.asked), SMALLEST_GROUP)

    def independent(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        return before if before.optima is None else self._on_cells(context, before.optima)

    def update(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        """Keep the cells, and follow the new data (METHOD 20.2)."""
        if before.optima is None:
            return self.acquisition(context)
        return self._on_cells(context, before.optima)

    def _on_cells(self, context: Context, optima: Optima) -> GroupedGain:
        """The gain where the cells are known, by samples of its own."""
        belief, cells = context.belief, context.space.snap(optima.chosen.x)
        samples = self.samples_per_cell * cells.shape[-2]
        with context.timed("samples"):
            is_first, counts = one_per_box(belief, cells), None
            if cells.dim() - 2 == len(studies(belief)):  # hyperparameter samples have boxes of their own
                cells, is_first, counts = firsts_alone(cells, is_first)
            return sample_gain(
                context,
                cells,
                cells,
                is_first,
                samples,
                SMALLEST_GROUP,
                counts,
                optima=optima,
                resolution=self.resolution(context.asked),
                dtype=SINGLE,
                indifference=self.indifference,
            )


@dataclass(frozen=True)
class UnconstrainedEntropySearch(PredictiveEntropySearch):
    """PES (Hernandez-Lobato et al., 2014): the same where nothing is constrained."""

    name: ClassVar[str] = "pes"

    def check(self, dim: int, constraints: int) -> None:
        if constraints:
            raise ProblemError(
                f"the rule 'pes' is for problems without constraints, and this one has {constraints}: use 'pesc'."
            )
