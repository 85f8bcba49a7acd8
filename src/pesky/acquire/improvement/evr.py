"""Expected volume reduction: how much smaller the region that may beat the incumbent would get."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.incumbent import (
    ProbabilityOfFeasibility,
    find_incumbent,
    find_search_centers,
    log_feasibility,
    log_within_limits,
)
from pesky.acquire.improvement.integral import ImportanceSample, importance_sample
from pesky.infer.bivariate import bivariate_cdf, cdf
from pesky.infer.gaussian import log_cdf
from pesky.model.belief import Belief

UNLIKELY = -7.0
"""Deviations from the incumbent beyond which a point does not count as a possible improvement: P < 2e-12."""


class ExpectedVolumeReduction(AcquisitionFunction):
    """Log of the integral of h(x') P[f(x) < f(x') <= eta], h = P(feasible): by how much f(x) reduces the volume.

    V now is the integral of h(x') P[f(x') <= eta], and V after x is measured, on average, that of
    h(x') P[f(x') <= min(eta, f(x))], if x is feasible; if not, V stays. The difference is what is computed, so that
    nothing cancels.
    """

    is_log = True

    def __init__(
        self,
        belief: Belief,
        search_centers: Float[Tensor, "c d"],
        sample: ImportanceSample,
        eta: Float[Tensor, "*b"],
        complete: bool,
    ) -> None:
        super().__init__(belief, search_centers)
        self.evaluate, self.sample, self.complete = belief.evaluator(sample.points), sample, complete
        self.floor = 1e-12 * belief.amplitude[..., 0, None, None]
        self.a = (eta[..., None] - sample.mean) / sample.variance.sqrt()
        self.memory_per_point = belief.amplitude.numel() * (sample.points.shape[-2] + belief.points.shape[-2])

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        moments = self.evaluate(X)
        sample = self.sample
        variance, covariance = sample.variance[..., None], moments.covariance[..., 0, :, :]
        # of f(x') - f(x); the floor is for x' = x, where its mean vanishes as well
        spread = torch.maximum(variance + moments.variance[..., 0, None, :] - 2 * covariance, self.floor).sqrt()
        b = (sample.mean[..., None] - moments.mean[..., 0, None, :]) / spread
        r = ((covariance - variance) / (variance.sqrt() * spread)).clamp(-1.0, 1.0)
        a = self.a[..., None].expand_as(b)
        value = sample.log_integral(bivariate_cdf(a, b, r) / cdf(a))
        if self.complete:
            value = value + log_feasibility(self.belief.likelihoods, moments.mean, moments.variance)
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
    """At which the integrand is evaluated, drawn where it is large; all hyperparameter samples share them."""
    complete: bool = True
    """Whether it is taken into account that x may be infeasible, and its value then of no use: a factor P(feasible) at
    x, which the paper's formula does not have."""

    def acquisition(self, context: Context) -> AcquisitionFunction:
        belief = with_pending(context.belief, context.pending)
        u, eta, exists = incumbent = find_incumbent(belief, context)
        search_centers = find_search_centers(belief, context, incumbent)
        if not bool(exists):
            return ProbabilityOfFeasibility(belief, search_centers)

        def log_density(mean: Tensor, variance: Tensor) -> Tensor:
            a = (eta[..., None] - mean[..., 0, :]) / variance[..., 0, :].sqrt()
            possible = torch.where(a < UNLIKELY, -torch.inf, log_cdf(a))
            own = log_within_limits(belief.likelihoods, mean, variance, eta)
            return possible + log_feasibility(belief.likelihoods, mean, variance, own)

        sample = importance_sample(belief, context, u, self.points, log_density)
        return ExpectedVolumeReduction(belief, search_centers, sample, eta, self.complete)
