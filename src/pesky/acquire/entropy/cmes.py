"""Constrained max-value entropy search: the information about how low the objective can be and stay feasible."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.entropy.power_expansion import CERTAIN, power_expansion
from pesky.acquire.fantasy import Fantasies, FantasyMoments
from pesky.acquire.pesc.conditioning import limits_of
from pesky.acquire.pesc.gain import search_near
from pesky.infer.factors import log_any
from pesky.infer.gaussian import log_cdf
from pesky.infer.interval import log_interval, standardize
from pesky.infer.limits import Limits
from pesky.likelihood.rows import PROBIT
from pesky.model.belief import Belief, for_hyper_samples
from pesky.optimum.sample import Solutions, sample_solutions

IMPOSSIBLE = -1e4
"""Deviations beyond which one event is no more improbable than another."""
TIE_BREAK = 1e-12
"""Nats for a probability of A that is nearly one, and fewer with its logarithm: where every information underflows, the
search must still know where A is least improbable."""
FLOOR = 1e-10
"""Share of the amplitude below which a variance is rounding, and so tells nothing."""
EXACT = 1e-8
"""Share of the amplitude below which the variance of a measured value makes it a fact."""
CONTRADICTED = 1e-6
"""A sample to which the belief at x gives less than this says nothing: no consistent draw comes near it."""


@dataclass(frozen=True)
class MaxValueEntropySearch(Rule):
    """CMES with the information lower bound (Takeno et al., 2022): samples of the feasible minimum f*, no EP.

    A sample says that x is not both feasible and better than f*, which is right for any number of constraints.
    """

    name: ClassVar[str] = "cmes"
    measures: ClassVar[Literal["each", "together"]] = "together"
    in_nats: ClassVar[bool] = True

    noise_aware: bool = True
    """Whether to value what a noisy measurement tells, not the value behind it: without, noisy points are repeated."""
    samples: int = 48
    """Values of f*: quantiles of the draws' minima, which have a third less seed noise than medoids of their places."""
    draws: int = 512
    polish_steps: int = 8
    candidates: int = 512
    """Points at which each draw is evaluated before it is polished, besides the measured ones."""

    def acquisition(self, context: Context) -> "MinimumInformation":
        belief = context.belief
        points = torch.cat([context.spread(self.candidates), belief.points], -2)
        solutions = sample_solutions(
            belief, self.samples, self.draws, points, self.polish_steps, context.generator, "value"
        )
        fantasies = Fantasies(belief, context.pending, solutions.optima.paths, context.generator)
        return MinimumInformation(belief, fantasies, solutions, self.noise_aware)


class MinimumInformation(AcquisitionFunction):
    """Expected nats about the feasible minimum f* from measuring all rows at x (METHOD 20.5).

    With A = {x is feasible and f(x) < f*}, P = P(A) and u(y) = P(A | y), a sample of f* tells "not A", and y is worth
    KL(p(y | not A) || p(y)) = (E h(u) - h(P)) / (1 - P), h(u) = u + (1 - u) log(1 - u): the gap in Jensen's inequality,
    zero where y tells nothing of A, and -log(1 - P) where it tells all, as without noise. With noise it estimates the
    information and is no bound: p(y | f*) is taken to be p(y | not A).
    """

    def __init__(self, belief: Belief, fantasies: Fantasies, solutions: Solutions, noise_aware: bool) -> None:
        chosen = solutions.optima.chosen
        super().__init__(belief, *search_near(belief, solutions.optima), solutions.optima)
        self.noise_aware = noise_aware
        # Only means and variances at x are needed; an evaluator takes at least one point besides.
        self.evaluate = fantasies.evaluator(chosen.x[..., :1, :])
        self.limits = limits_of(belief)
        # Where no point is feasible, whatever is within the objective's own limits would be better.
        worst = torch.inf if self.limits is None else self.limits.high[..., None]
        minimum = torch.where(solutions.exists, solutions.values[..., 0, :], worst)
        self.minimum = torch.minimum(minimum, known_bound(belief)[..., None])
        self.weight = chosen.weight
        self.floor = FLOOR * belief.amplitude
        self.noise = torch.maximum(belief.noise, self.floor)
        self.answered = belief.likelihoods.rows_of(PROBIT, belief.amplitude.device)
        """Rows whose measurement is a yes or a no."""
        self.two_sided = two_sided(self.limits, belief.amplitude)
        """Rows that A leaves an interval of."""
        self.expansion = power_expansion().to(belief.points)
        self.memory_per_point = chosen.weight.numel() * (
            len(self.expansion.center) if noise_aware else belief.amplitude.shape[-1]
        )

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        moments = self.evaluate(X)
        moments = moments._replace(variance=torch.maximum(moments.variance, self.floor[..., None]))
        better, feasible = self._margins(moments)
        event = None if self.limits is None else self._event(moments, better, feasible)
        log_event, log_complement = log_probabilities(better, feasible) if event is None else log_within(*event)
        if self.noise_aware:
            powers = self._expected_powers(moments, better, feasible, event)
            gap = self.expansion.jensen_gap(powers, log_event)
            information = gap / log_complement.exp().clamp(min=CONTRADICTED)
        else:
            information = -log_complement
        return (self.weight[..., None] * (information + TIE_BREAK / (1 - log_event))).sum(-2, keepdim=True)

    def _margins(self, moments: FantasyMoments) -> tuple[Float[Tensor, "*b 1 m x"], Float[Tensor, "*b k #m x"]]:
        """By how many deviations the means are on the side of A: f below each f*, and every constraint above zero."""
        deviation = moments.variance.sqrt()[..., None, :]
        mean, spread = moments.mean[..., 0, :, :], deviation[..., 0, :, :]
        minimum = self.minimum[..., None]
        exists = torch.isfinite(minimum)
        # Where no point is feasible any value would be better. (Infinity would make the gradient NaN.)
        below = torch.where(exists, torch.where(exists, minimum, 0.0) - mean, CERTAIN * spread) / spread
        better = below.clamp(IMPOSSIBLE, CERTAIN)[..., None, :, :]
        feasible = (moments.mean[..., 1:, :, :] / deviation[..., 1:, :, :]).clamp(IMPOSSIBLE, CERTAIN)
        return better, feasible

    def _event(
        self, moments: FantasyMoments, better: Float[Tensor, "*b 1 m x"], feasible: Float[Tensor, "*b k #m x"]
    ) -> tuple[Float[Tensor, "*b j m x"], Float[Tensor, "*b j m x"]]:
        """A as an interval of each row, in deviations from its mean: where rows have limits."""
        assert self.limits is not None
        deviation = moments.variance.sqrt()[..., None, :]
        shape = (*better.shape[:-3], feasible.shape[-3], *better.shape[-2:])
        ends = self.limits.ends(moments.mean[..., 1:, :, :].expand(shape), deviation[..., 1:, :, :].expand(shape))
        low = standardize(self.limits.low[..., None, None, None], moments.mean[..., :1, :, :], deviation[..., :1, :, :])
        low = torch.minimum(low.expand_as(better), better)
        return torch.cat([low, -feasible.expand(shape)], -3), torch.cat([better, ends], -3)

    def _expected_powers(
        self,
        moments: FantasyMoments,
        better: Float[Tensor, "*b 1 m x"],
        feasible: Float[Tensor, "*b k #m x"],
        event: tuple[Float[Tensor, "*b j m x"], Float[Tensor, "*b j m x"]] | None,
    ) -> Float[Tensor, "*b m x s"]:
        """E u^s over the measurement, u = P(A | y): products over rows, of the objective and of the constraints."""
        signal_to_noise = (moments.variance - self.floor[..., None]) / self.noise[..., None]
        unexplained = 1 / (1 + signal_to_noise)[..., None, :]
        objective = self.expansion.given_number(better, unexplained[..., :1, :, :])[..., 0, :, :, :]
        constraints = self.expansion.given_number(feasible, unexplained[..., 1:, :, :])
        if len(self.answered):
            mean = moments.mean.index_select(-3, self.answered)
            variance = moments.variance.index_select(-2, self.answered)[..., None, :]
            answers = self.expansion.given_answer(mean, variance)
            constraints = constraints.index_copy(-4, self.answered - 1, answers)
        if event is not None:
            rows = torch.cat(
                [objective[..., None, :, :, :], constraints.expand(*event[0][..., 1:, :, :].shape, -1)], -4
            )
            low, high, share = (each.index_select(-3, self.two_sided) for each in (*event, unexplained))
            return rows.index_copy(-4, self.two_sided, self.expansion.given_interval(low, high, share)).prod(-4)
        return objective * constraints.prod(-4)


def two_sided(limits: Limits | None, amplitude: Float[Tensor, "*b j"]) -> Int[Tensor, " r"]:
    """The constraints with an upper limit, and the objective if it has a lower one."""
    if limits is None:
        return torch.zeros(0, dtype=torch.long, device=amplitude.device)
    limited = torch.isfinite(torch.cat([limits.low[..., None], limits.upper], -1))
    return limited.reshape(-1, limited.shape[-1]).any(0).nonzero()[:, 0]


def log_within(
    low: Float[Tensor, "*b j m x"], high: Float[Tensor, "*b j m x"]
) -> tuple[Float[Tensor, "*b m x"], Float[Tensor, "*b m x"]]:
    """Log P(A) and log P(not A) where A is an interval of each row: its ends in deviations from the mean."""
    log_each = log_interval(low, high)
    log_out = torch.logaddexp(log_cdf(low), log_cdf(-high))
    log_event = log_each.sum(-3)
    return log_event, log_any(log_out.flatten(-2), log_each.flatten(-2)).view_as(log_event)


def log_probabilities(
    better: Float[Tensor, "*b 1 m x"], feasible: Float[Tensor, "*b k #m x"]
) -> tuple[Float[Tensor, "*b m x"], Float[Tensor, "*b m x"]]:
    """Log P(A) and log P(not A), neither a difference; the arguments are margins in deviations."""
    log_better, log_worse = log_cdf(better)[..., 0, :, :], log_cdf(-better)[..., 0, :, :]
    if feasible.shape[-3] == 0:
        return log_better, log_worse
    log_each = log_cdf(feasible)
    log_feasible = log_each.sum(-3)
    log_infeasible = log_any(log_cdf(-feasible).flatten(-2), log_each.flatten(-2)).view_as(log_feasible)
    return log_feasible + log_better, torch.logaddexp(log_feasible + log_worse, log_infeasible)


def known_bound(belief: Belief) -> Float[Tensor, "*b"]:
    """What the feasible minimum cannot exceed: the lowest noise-free value measured where all constraints surely hold.

    Draws pass through such data up to rounding, which would make a measured point worth measuring for ever. Three
    deviations of the rounding below it, it is worth nothing.
    """
    points = for_hyper_samples(belief, belief.points)
    mean, variance = belief.mean(points), belief.variance(points)
    low = mean - 3 * variance.sqrt()
    is_exact = variance[..., 0, :] <= EXACT * belief.amplitude[..., :1]
    conditions = belief.likelihoods.conditions
    if conditions is None:
        is_fact = is_exact & (low[..., 1:, :] >= 0).all(-2)
    else:
        sure = (conditions.margins(mean) - 3 * conditions.rows_of(variance, -2).sqrt() >= 0).all(-2)
        is_fact = is_exact & sure
    facts = torch.where(is_fact, low[..., 0, :], torch.inf)
    return torch.cat([facts, torch.full_like(belief.amplitude[..., :1], torch.inf)], -1).amin(-1)
