"""What improvement rules share: the incumbent, the expected improvement on it, the probability of feasibility.

Everything is in logarithms: late in a run what is worth most may be worth 1e-50, and far from it there is nothing left
to climb along in plain units.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context
from pesky.acquire.maximize import Effort
from pesky.infer.gaussian import log_cdf, log_expected_improvement
from pesky.infer.interval import log_interval, standardize
from pesky.likelihood import Likelihoods
from pesky.model.belief import Belief, for_hyper_samples, over_hyper_samples, repeats
from pesky.optimum.assessment import assess
from pesky.optimum.recommend import recommend

MEASURED_CENTERS = 4
"""Measured points near which the search looks, besides the incumbent."""
THOROUGH = Effort(starts=8, steps=30)
"""Logarithms are climbed to the top: an improvement soon falls by a tenth, and one more look costs little."""


class Incumbent(NamedTuple):
    """Of each of the studies in lockstep, w."""

    u: Float[Tensor, "*w d"]
    """Where it is; the point most probably feasible if there is none."""
    eta: Float[Tensor, "*b"]
    """Expected objective there, for each batch element."""
    exists: Bool[Tensor, "*w"]
    """Whether there is one: a point that is feasible with confidence."""


def find_incumbent(belief: Belief, context: Context) -> Incumbent:
    """The lowest expected objective anywhere that every constraint holds with its confidence.

    The point is one for all hyperparameter samples; `belief` is the context's, or what it will be: `with_pending`.
    """
    advice = recommend(belief, context.space, context.confidence, context.draw_seed(), context.facts)
    u = advice.u
    with torch.no_grad():
        eta = belief.mean(for_hyper_samples(belief, u[..., None, :]))[..., 0, 0]
    return Incumbent(u, eta, advice.is_confident)


def log_improvement(
    mean: Float[Tensor, "*b x"], variance: Float[Tensor, "*b x"], eta: Float[Tensor, "*b"]
) -> Float[Tensor, "*b x"]:
    """Log of E max(0, eta - f), f normal with these moments (METHOD 16)."""
    deviation = variance.sqrt()
    return deviation.log() + log_expected_improvement((eta[..., None] - mean) / deviation)


def log_feasibility(
    likelihoods: Likelihoods,
    mean: Float[Tensor, "*b j x"],
    variance: Float[Tensor, "*b j x"],
    own: Float[Tensor, "*b x"] | None = None,
) -> Float[Tensor, "*b x"]:
    """Log of the probability that all constraints hold; the moments are those of all rows, the objective first.

    `own` stands for those of the objective itself, if it has any: where that is to be an improvement, whether it holds
    them is no independent event.
    """
    conditions = likelihoods.conditions
    if own is None or conditions is None:
        return likelihoods.log_all_hold(mean, variance)
    others = likelihoods.log_feasibility(mean, variance)[..., 1:, :]
    return own + others[..., conditions.is_limited[1:], :].sum(-2)


def log_within_limits(
    likelihoods: Likelihoods, mean: Float[Tensor, "*b j x"], variance: Float[Tensor, "*b j x"], eta: Float[Tensor, "*b"]
) -> Float[Tensor, "*b x"] | None:
    """Log of the probability that an objective below eta is within limits of its own; None if it has none.

    What is below an incumbent is below the upper limit, as the incumbent is.
    """
    conditions = likelihoods.conditions
    if conditions is None or not bool(conditions.is_limited[0]):
        return None
    f, deviation = mean[..., 0, :], variance[..., 0, :].sqrt()
    low, high = (standardize(end, f, deviation) for end in (conditions.low[..., :1], eta[..., None]))
    return (log_interval(torch.minimum(low, high), high) - log_cdf(high)).clamp(max=0.0)


def log_share_within_limits(
    likelihoods: Likelihoods, mean: Float[Tensor, "*b j x"], variance: Float[Tensor, "*b j x"], eta: Float[Tensor, "*b"]
) -> Float[Tensor, "*b x"] | None:
    """The same of the expected improvement: log of E max(0, eta - f) [f >= low] over E max(0, eta - f).

    Below the limit the improvement is that on the limit, and eta less the limit besides.
    """
    conditions = likelihoods.conditions
    if conditions is None or not bool(conditions.is_limited[0]):
        return None
    f, v, low = mean[..., 0, :], variance[..., 0, :], conditions.low[..., 0]
    exists = torch.isfinite(low)
    low = torch.where(exists, torch.minimum(low, eta), eta)
    below = (low - eta).neg().clamp(min=1e-300).log()[..., None] + log_cdf((low[..., None] - f) / v.sqrt())
    lost = torch.logaddexp(log_improvement(f, v, low), below) - log_improvement(f, v, eta)
    share = torch.log(-torch.expm1(lost.clamp(max=-1e-15)))
    return torch.where(exists[..., None], share, 0.0)


def find_search_centers(belief: Belief, context: Context, incumbent: Incumbent) -> Float[Tensor, "*w c d"]:
    """The incumbent, and the measured points that may well be feasible and low."""
    with torch.no_grad():
        now = assess(belief, belief.points, context.confidence)
    scale = over_hyper_samples(belief, belief.amplitude[..., :1].sqrt()).mean(-2)
    low = torch.where(incumbent.exists[..., None], now.mean / scale, 0.0)
    score = now.log_feasible - low
    score = torch.where(repeats(belief.points), -torch.inf, score)
    best = score.topk(min(MEASURED_CENTERS, score.shape[-1])).indices
    measured = torch.gather(belief.points, -2, best[..., None].expand(*best.shape, belief.points.shape[-1]))
    return torch.cat([incumbent.u[..., None, :], measured], -2)


class ProbabilityOfFeasibility(AcquisitionFunction):
    """Log probability of feasibility: what counts while there is no incumbent."""

    is_log = True

    def __init__(self, belief: Belief, search_centers: Float[Tensor, "*w c d"]) -> None:
        super().__init__(belief, search_centers)
        self.memory_per_point = belief.amplitude.numel() * max(1, belief.points.shape[-2])

    @property
    def effort(self) -> Effort:
        return THOROUGH

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        return log_feasibility(self.belief.likelihoods, self.belief.mean(X), self.belief.variance(X))[..., None, :]
