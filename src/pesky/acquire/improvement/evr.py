"""Expected volume reduction: how much smaller the region that may beat the incumbent would get."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.incumbent import Feasibility, find_centers, find_incumbent, log_feasibility
from pesky.acquire.improvement.integral import Place, find_mass
from pesky.infer.bivariate import bivariate_cdf, cdf
from pesky.infer.gaussian import log_cdf
from pesky.model.belief import Belief

UNLIKELY = -7.0
"""Deviations from the incumbent beyond which a point does not count as a possible improvement: P < 2e-12."""


class SettledVolume(AcquisitionFunction):
    """Log of the integral of h(x') P[f(x) < f(x') <= eta], h = P(feasible): the volume that f(x) takes off.

    V now is the integral of h(x') P[f(x') <= eta], and V after a look at x, on average, that of
    h(x') P[f(x') <= min(eta, f(x))], if x is feasible; if not, V stays. The difference is what is computed, so that
    nothing cancels.
    """

    is_log = True

    def __init__(
        self,
        belief: Belief,
        search_centers: Float[Tensor, "c d"],
        place: Place,
        eta: Float[Tensor, "*b"],
        complete: bool,
    ) -> None:
        super().__init__(belief, search_centers)
        self.evaluate, self.place, self.complete, self.binary = (
            belief.evaluator(place.points),
            place,
            complete,
            belief.binary,
        )
        self.floor = 1e-12 * belief.amplitude[..., 0, None, None]
        self.a = (eta[..., None] - place.mean) / place.variance.sqrt()
        self.memory_per_point = belief.amplitude.numel() * (place.points.shape[-2] + belief.points.shape[-2])

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        moments = self.evaluate(X)
        place = self.place
        variance, covariance = place.variance[..., None], moments.covariance[..., 0, :, :]
        # of f(x') - f(x); the floor is for x' = x, where its mean vanishes as well
        spread = torch.maximum(variance + moments.variance[..., 0, None, :] - 2 * covariance, self.floor).sqrt()
        b = (place.mean[..., None] - moments.mean[..., 0, None, :]) / spread
        r = ((covariance - variance) / (variance.sqrt() * spread)).clamp(-1.0, 1.0)
        a = self.a[..., None].expand_as(b)
        value = place.log_integral(bivariate_cdf(a, b, r) / cdf(a))
        if self.complete:
            value = value + log_feasibility(moments.mean, moments.variance, self.binary)
        return value[..., None, :]


@dataclass(frozen=True)
class VolumeReduction(Rule):
    """EVR (Picheny, 2014): by how much a measurement shrinks what may be feasible and better than the incumbent.

    While there is no incumbent, the probability of feasibility alone counts.
    """

    name: ClassVar[str] = "evr"
    measures: ClassVar[Literal["each", "together"]] = "together"
    in_nats: ClassVar[bool] = False

    points: int = 256
    """At which the integrand is looked at, drawn where it is large; all hyperparameter samples share them."""
    complete: bool = True
    """Whether it is taken into account that x may be infeasible, and its value then of no use: a factor P(feasible) at
    x, which the paper's formula does not have."""

    def acquisition(self, context: Context) -> AcquisitionFunction:
        belief = with_pending(context.belief, context.pending)
        u, eta, exists = incumbent = find_incumbent(belief, context)
        search_centers = find_centers(belief, context, incumbent)
        if not bool(exists):
            return Feasibility(belief, search_centers)

        def log_mass(mean: Tensor, variance: Tensor) -> Tensor:
            a = (eta[..., None] - mean[..., 0, :]) / variance[..., 0, :].sqrt()
            possible = torch.where(a < UNLIKELY, -torch.inf, log_cdf(a))
            return possible + log_feasibility(mean, variance, belief.binary)

        place = find_mass(belief, context, u, self.points, log_mass)
        return SettledVolume(belief, search_centers, place, eta, self.complete)
