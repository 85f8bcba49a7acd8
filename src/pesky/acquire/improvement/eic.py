"""Expected improvement with constraints: how much lower the objective may turn out to be, where it counts."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.incumbent import (
    THOROUGH,
    Incumbent,
    ProbabilityOfFeasibility,
    find_incumbent,
    find_search_centers,
    log_feasibility,
    log_improvement,
    log_share_within_limits,
)
from pesky.acquire.maximize import Effort
from pesky.model.belief import Belief, for_hyper_samples


class ConstrainedExpectedImprovement(AcquisitionFunction):
    """Log of expected improvement times probability of feasibility, in log units of the scaled objective.

    Of studies in lockstep, those that have no incumbent yet go by the probability alone.
    """

    is_log = True

    def __init__(
        self, belief: Belief, search_centers: Float[Tensor, "*w c d"], incumbent: Incumbent, noise_factor: bool
    ) -> None:
        super().__init__(belief, search_centers)
        self.eta, self.noise_factor = incumbent.eta, noise_factor
        self.exists = for_hyper_samples(belief, incumbent.exists[..., None, None])[..., 0]
        self.noise = belief.noise[..., 0, None].clamp(min=1e-10 * belief.amplitude[..., 0, None])
        self.memory_per_point = belief.amplitude.numel() * max(1, belief.points.shape[-2])

    @property
    def effort(self) -> Effort:
        return THOROUGH

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        mean, variance = self.belief.mean(X), self.belief.variance(X)
        value = log_improvement(mean[..., 0, :], variance[..., 0, :], self.eta)
        if self.noise_factor:
            value = value + log_noise_factor(variance[..., 0, :], self.noise)
        value = torch.where(self.exists, value, 0.0)
        likelihoods = self.belief.likelihoods
        feasibility = log_feasibility(likelihoods, mean, variance)
        if (own := log_share_within_limits(likelihoods, mean, variance, self.eta)) is not None:
            feasibility = torch.where(self.exists, log_feasibility(likelihoods, mean, variance, own), feasibility)
        return (value + feasibility)[..., None, :]


def log_noise_factor(variance: Float[Tensor, "*b x"], noise: Float[Tensor, "*b 1"]) -> Float[Tensor, "*b x"]:
    """Log of 1 - sqrt(noise / (variance + noise)): the share of the deviation that a measurement takes away.

    As (1 - q) / (1 + sqrt(q)), q = noise / (variance + noise), which does not cancel where q is nearly one.
    """
    total = variance + noise
    return variance.log() - total.log() - (noise / total).sqrt().log1p()


@dataclass(frozen=True)
class ExpectedImprovement(Rule):
    """EIC (Schonlau et al., 1998; Gelbart et al., 2014): the improvement on the incumbent times P(feasible).

    The incumbent is the lowest posterior mean where every constraint holds with confidence; while there is none, the
    probability of feasibility alone counts.
    """

    name: ClassVar[str] = "eic"
    measures: ClassVar[Literal["each", "together"]] = "together"
    in_nats: ClassVar[bool] = False

    noise_factor: bool = True
    """The factor of augmented expected improvement (Huang et al., 2006): without it, noise makes the rule measure near
    its incumbent for ever (METHOD 21, F4)."""

    def acquisition(self, context: Context) -> AcquisitionFunction:
        belief = with_pending(context.belief, context.pending)
        incumbent = find_incumbent(belief, context)
        search_centers = find_search_centers(belief, context, incumbent)
        if not bool(incumbent.exists.any()):
            return ProbabilityOfFeasibility(belief, search_centers)
        return ConstrainedExpectedImprovement(belief, search_centers, incumbent, self.noise_factor)
