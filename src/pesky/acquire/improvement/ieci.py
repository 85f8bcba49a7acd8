"""Integrated expected conditional improvement: how much less improvement is expected anywhere, once x is measured."""

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
    log_improvement,
    log_within_limits,
)
from pesky.acquire.improvement.integral import ImportanceSample, importance_sample
from pesky.model.belief import Belief

LEAST_LEFT = 1e-12
"""Of a variance, at least this share is left by one measurement: less is a rounding error."""


class ExpectedImprovementReduction(AcquisitionFunction):
    """Log of the integral of h(x') [EI(x') - EI(x' | x)], h = P(feasible).

    EI(x' | x) has the variance after x is measured; the mean stays what it is, so that EI(x' | x) <= EI(x'). Of both,
    max(0, eta - mean) is left out, which no measurement changes: where the mean is far below eta, at points that are
    hardly feasible, it is nearly all of EI, and the difference would be lost in it (on the toy, from 10 points on).
    """

    is_log = True

    def __init__(
        self, belief: Belief, search_centers: Float[Tensor, "c d"], sample: ImportanceSample, eta: Float[Tensor, "*b"]
    ) -> None:
        super().__init__(belief, search_centers)
        self.evaluate, self.sample, self.eta = belief.evaluator(sample.points), sample, eta
        self.noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)[..., 0]
        with torch.no_grad():
            self.log_now = log_excess_improvement(sample.mean, sample.variance, eta)
        self.memory_per_point = belief.amplitude.numel() * (sample.points.shape[-2] + belief.points.shape[-2])

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        moments = self.evaluate(X)
        sample = self.sample
        measured_variance = (moments.variance[..., 0, :] + self.noise[..., None])[..., None, :]
        explained = moments.covariance[..., 0, :, :].square() / measured_variance
        now = sample.variance[..., None]
        after = torch.maximum(now - explained, LEAST_LEFT * now)
        mean = sample.mean[..., None].expand_as(after)
        log_after = log_excess_improvement(mean.flatten(-2), after.flatten(-2), self.eta).view_as(after)
        share = -torch.expm1((log_after - self.log_now[..., None]).clamp(max=0.0))
        return sample.log_integral(share)[..., None, :]


def log_excess_improvement(
    mean: Float[Tensor, "*b x"], variance: Float[Tensor, "*b x"], eta: Float[Tensor, "*b"]
) -> Float[Tensor, "*b x"]:
    """Log of E max(0, eta - f) - max(0, eta - E f): the part of the improvement that the variance makes.

    s h(u) - s max(0, u) = s h(-|u|), where h(u) = u Phi(u) + phi(u).
    """
    level = eta[..., None]
    return log_improvement(level + (mean - level).abs(), variance, eta)


@dataclass(frozen=True)
class IntegratedImprovement(Rule):
    """IECI (Gramacy and Lee, 2010): by how much a measurement lowers the expected improvement, summed over the space.

    While there is no incumbent, the probability of feasibility alone counts.
    """

    name: ClassVar[str] = "ieci"
    measures: ClassVar[Literal["each", "together"]] = "together"
    in_nats: ClassVar[bool] = False

    points: int = 256
    """At which the integrand is evaluated, drawn where it is large; all hyperparameter samples share them."""

    def acquisition(self, context: Context) -> AcquisitionFunction:
        belief = with_pending(context.belief, context.pending)
        u, eta, exists = incumbent = find_incumbent(belief, context)
        search_centers = find_search_centers(belief, context, incumbent)
        if not bool(exists):
            return ProbabilityOfFeasibility(belief, search_centers)

        def log_density(mean: Tensor, variance: Tensor) -> Tensor:
            improvement = log_excess_improvement(mean[..., 0, :], variance[..., 0, :], eta)
            own = log_within_limits(belief.likelihoods, mean, variance, eta)
            return improvement + log_feasibility(belief.likelihoods, mean, variance, own)

        sample = importance_sample(belief, context, u, self.points, log_density)
        return ExpectedImprovementReduction(belief, search_centers, sample, eta)
