"""Integrated expected conditional improvement: how much of the improvement hoped for anywhere a look would settle."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.incumbent import (
    Feasibility,
    find_centers,
    find_incumbent,
    log_feasibility,
    log_improvement,
)
from pesky.acquire.improvement.integral import Place, find_mass
from pesky.model.belief import Belief

SETTLED = 1e-12
"""Of a variance, at least this share is left by one look: less is a rounding error."""


class SettledImprovement(AcquisitionFunction):
    """Log of the integral of h(x') [EI(x') - EI(x' | x)], h = P(feasible).

    EI(x' | x) has the variance after a look at x; the mean stays what it is, so that EI(x' | x) <= EI(x'). Of both,
    max(0, eta - mean) is left out, which no look changes: where the mean is far below eta, at points that are hardly
    feasible, it is nearly all of EI, and the difference would be lost in it (on the toy, from 10 points on).
    """

    is_log = True

    def __init__(
        self, belief: Belief, search_centers: Float[Tensor, "c d"], place: Place, eta: Float[Tensor, "*b"]
    ) -> None:
        super().__init__(belief, search_centers)
        self.evaluate, self.place, self.eta = belief.evaluator(place.points), place, eta
        self.noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)[..., 0]
        with torch.no_grad():
            self.log_now = log_doubtful_improvement(place.mean, place.variance, eta)
        self.memory_per_point = belief.amplitude.numel() * (place.points.shape[-2] + belief.points.shape[-2])

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        moments = self.evaluate(X)
        place, x = self.place, X.shape[-2]
        learnt = (
            moments.covariance[..., 0, :, :].square()
            / (moments.variance[..., 0, :] + self.noise[..., None])[..., None, :]
        )
        now = place.variance[..., None]
        after = torch.maximum(now - learnt, SETTLED * now)
        mean = place.mean[..., None].expand(*after.shape)
        log_after = log_doubtful_improvement(mean.flatten(-2), after.flatten(-2), self.eta).unflatten(-1, (-1, x))
        share = -torch.expm1((log_after - self.log_now[..., None]).clamp(max=0.0))
        return place.log_integral(share)[..., None, :]


def log_doubtful_improvement(
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
    """At which the integrand is looked at, drawn where it is large; all hyperparameter samples share them."""

    def acquisition(self, context: Context) -> AcquisitionFunction:
        belief = with_pending(context.belief, context.pending)
        u, eta, exists = incumbent = find_incumbent(belief, context)
        search_centers = find_centers(belief, context, incumbent)
        if not bool(exists):
            return Feasibility(belief, search_centers)

        def log_mass(mean: Tensor, variance: Tensor) -> Tensor:
            improvement = log_doubtful_improvement(mean[..., 0, :], variance[..., 0, :], eta)
            return improvement + log_feasibility(mean, variance, belief.binary)

        return SettledImprovement(belief, search_centers, find_mass(belief, context, u, self.points, log_mass), eta)
