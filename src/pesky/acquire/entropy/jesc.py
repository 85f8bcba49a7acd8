"""Joint entropy search with constraints: the information about where the constrained minimum is and how low."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.fantasy import Fantasies
from pesky.acquire.pesc.conditioning import limits_of
from pesky.acquire.pesc.gain import gains, search_near
from pesky.infer.factors import no_better
from pesky.infer.gaussian import log_cdf
from pesky.infer.interval import log_interval, standardize
from pesky.infer.limits import NEARLY
from pesky.infer.predict import VARIANCE_FLOOR, Prediction
from pesky.model.belief import Belief
from pesky.optimum.sample import Solutions, sample_solutions

SURELY_BETTER = -40.0
"""Deviations by which every value is below a minimum that does not exist."""


@dataclass(frozen=True)
class JointEntropySearch(Rule):
    """JES (Hvarfner et al., 2022; Tu et al., 2022) with constraints: each draw's x* and its rows there are a datum.

    A draw without a feasible point says so: its constraints at the point of least violation are the datum, and no x is
    feasible.
    """

    name: ClassVar[str] = "jesc"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    samples: int = 64
    """Solutions: weighted medoids of the draws' minimizers, which have half the seed noise of plain draws."""
    draws: int = 512
    polish_steps: int = 8
    candidates: int = 512
    """Points at which each draw is evaluated before it is polished, besides the measured ones."""

    def acquisition(self, context: Context) -> "SolutionInformation":
        belief = context.belief
        points = torch.cat([context.spread(self.candidates), belief.points], -2)
        solutions = sample_solutions(
            belief, self.samples, self.draws, points, self.polish_steps, context.generator, "place"
        )
        fantasies = Fantasies(belief, context.pending, solutions.optima.paths, context.generator)
        return SolutionInformation(belief, fantasies, solutions)


class SolutionInformation(AcquisitionFunction):
    """Expected gains in nats, one per row (METHOD 20.8): each belief given (x*, f*, c(x*)), times the factor at x."""

    def __init__(self, belief: Belief, fantasies: Fantasies, solutions: Solutions) -> None:
        chosen = solutions.optima.chosen
        super().__init__(belief, *search_near(belief, solutions.optima), solutions.optima)
        self.solutions = solutions
        self.evaluate = fantasies.evaluator(chosen.x)
        self.floor = VARIANCE_FLOOR * belief.amplitude
        self.noise = torch.maximum(belief.noise, self.floor)
        there = self.evaluate(chosen.x)
        m = chosen.x.shape[-2]
        own = there.mean.expand(*there.mean.shape[:-2], m, m).diagonal(dim1=-2, dim2=-1)
        # What is known at x*, where x* was measured, is known up to the rounding: it must not be divided by less.
        precision = 1 / (there.variance + self.floor[..., None])
        # The objective where nothing is feasible is no part of the solution.
        is_given = torch.cat(
            [solutions.exists[..., None, :], torch.ones_like(solutions.values[..., 1:, :], dtype=torch.bool)], -2
        )
        self.precision = torch.where(is_given, precision, 0.0)
        self.shift = self.precision * (solutions.values - own)
        self.memory_per_point = self.precision.numel()

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        moments = self.evaluate(X)
        floor = self.floor[..., None, None]
        mean = moments.mean + self.shift[..., None] * moments.covariance
        explained = self.precision[..., None] * moments.covariance.square()
        variance = torch.maximum(moments.variance[..., None, :] - explained, floor)
        deviation = variance.sqrt()
        below = (mean[..., 0, :, :] - self.solutions.values[..., 0, :, None]) / deviation[..., 0, :, :]
        below = torch.where(self.solutions.exists[..., None], below, SURELY_BETTER)
        a = torch.cat([below[..., None, :, :], mean[..., 1:, :, :] / deviation[..., 1:, :, :]], -3)
        ends, reach = self._limits(mean, deviation)
        factor = no_better(a.flatten(-2), ends, reach)
        given = Prediction(
            mean + deviation * factor.shift.view_as(a),
            torch.maximum(variance * factor.remaining.view_as(a), floor),
        )
        return gains(moments, given, self.solutions.optima.chosen.weight, self.noise, self.belief.likelihoods)

    def _limits(
        self, mean: Float[Tensor, "*b j m x"], deviation: Float[Tensor, "*b j m x"]
    ) -> tuple[Float[Tensor, "*b k y"] | None, Float[Tensor, "*b y"] | None]:
        """Where the upper limits of constraints are, and how probably what is better is above the objective's own."""
        limits = limits_of(self.belief)
        if limits is None:
            return None, None
        ends = limits.ends(mean[..., 1:, :, :], deviation[..., 1:, :, :]).flatten(-2)
        if not bool(torch.isfinite(limits.low).any()):
            return ends, None
        exists = self.solutions.exists
        # Where nothing is feasible whatever is within the objective's limits would be better.
        minimum = torch.where(exists, self.solutions.values[..., 0, :], limits.high[..., None])[..., None]
        low, high = (
            standardize(end, mean[..., 0, :, :], deviation[..., 0, :, :])
            for end in (limits.low[..., None, None], minimum)
        )
        return ends, (log_interval(low, high) - log_cdf(high)).clamp(max=NEARLY).flatten(-2)
