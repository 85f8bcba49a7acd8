"""Improvement decides where, information decides what: for outcomes that are measured separately (METHOD 16)."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import Context, PointPreference, Rule
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.acquire.improvement.minimizer_entropy import entropy_reductions
from pesky.acquire.maximize import maximize
from pesky.model.belief import Belief, for_hyper_samples, hyperparameter_samples, over_hyper_samples, repeats
from pesky.optimum.sample import sample_optima

CANDIDATES = 256
"""Points at which the improvement is evaluated before the ascent."""
CELL = 1e-3
"""Points of the set closer than this are the same minimizer: rounding would decide between them."""
FEWEST_DRAWS, FEWEST_OPTIMA = 100, 6
"""For each hyperparameter sample, however many there are."""
TIE_BREAK = 1e-7
"""Nats by which the more uncertain row is preferred where the minimizer does not depend on any: less than counts."""


@dataclass(frozen=True)
class TwoStageImprovement(Rule):
    """x of the largest expected improvement; there, what tells most of the minimizer (Gelbart, Snoek & Adams, 2014).

    The gain of a row is the expected drop of the entropy of the minimizer among finitely many points, as in
    Villemonteix et al. (2009). Both stages average over hyperparameter samples: the question is one.
    """

    name: ClassVar[str] = "eic-decoupled"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    noise_factor: bool = True
    """The factor of augmented expected improvement in the first stage: see `ExpectedImprovement`."""
    samples: int = 48
    """Samples of x* among the points."""
    spread: int = 200
    """Points all over the space besides."""
    draws: int = 600
    """Functions drawn, whose minimizers are counted."""
    nodes: int = 8
    """Values that a measurement may have."""

    def acquisition(self, context: Context) -> PointPreference:
        belief, space = with_pending(context.belief, context.pending), context.space
        improvement = ExpectedImprovement(self.noise_factor).acquisition(context)
        candidates = torch.cat([context.spread(CANDIDATES), improvement.search_centers, belief.points], -2)
        best = maximize(improvement, candidates, None if space.is_continuous else space.neighbors)
        u = space.snap(best.x[..., 0, :])
        optima = self._optima(context, belief, torch.cat([candidates, u[..., None, :]], -2))
        G = torch.cat([u[..., None, :], improvement.search_centers, optima, context.spread(self.spread)], -2)
        return PointPreference(belief, u, self._gains(context, belief, u, G))

    def _optima(self, context: Context, belief: Belief, candidates: Float[Tensor, "*w x d"]) -> Float[Tensor, "*w m d"]:
        """Samples of x*, of whichever hyperparameter sample."""
        each = max(FEWEST_OPTIMA, math.ceil(self.samples / hyperparameter_samples(belief)))
        optima = sample_optima(belief, each, None, candidates, 4, context.generator).chosen.x
        return context.space.snap(over_hyper_samples(belief, optima, 2).flatten(-3, -2))

    @torch.no_grad()
    def _gains(
        self, context: Context, belief: Belief, u: Float[Tensor, "*w d"], G: Float[Tensor, "*w g d"]
    ) -> Float[Tensor, "*w j"]:
        """What measuring each row at u tells of the minimizer among G; a little for its own uncertainty, at least."""
        draws = max(FEWEST_DRAWS, self.draws // hyperparameter_samples(belief))
        gain = entropy_reductions(belief, u, G, draws, self.nodes, context.generator, repeats(G, CELL))
        noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)
        uncertainty = (belief.variance(for_hyper_samples(belief, u[..., None, :]))[..., 0] / noise).log1p()
        gain, uncertainty = (over_hyper_samples(belief, t).mean(-2) for t in (gain, uncertainty))
        # Monte Carlo makes some of the gains negative; the preferred point must be the best for every row.
        return gain.clamp(min=0.0) + TIE_BREAK * uncertainty / uncertainty.amax(-1, keepdim=True)
