"""Constrained max-value entropy search: the information about how low the objective can be and stay feasible."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import log_ndtr, ndtr
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.fantasy import Fantasies
from pesky.acquire.pesc.gain import search_near
from pesky.infer.factors import log_any
from pesky.infer.gaussian import log_cdf
from pesky.model.belief import Belief, for_samples
from pesky.optimum.sample import Solutions, sample_solutions

CERTAIN = 40.0
"""Deviations at which an event is certain: its probability is 1, and the logarithm of the opposite still finite."""
HOPELESS = -1e4
"""Deviations beyond which one event is no more improbable than another."""
HOPE = 1e-12
"""Nats for a probability of A that is nearly one, and fewer with its logarithm: where every information underflows, the
search must still know where A is least improbable."""
FLOOR = 1e-10
"""Share of the amplitude below which a variance is rounding, and so tells nothing."""
EXACT = 1e-8
"""Share of the amplitude below which the variance of a measured value makes it a fact."""
CONTRADICTED = 1e-6
"""A sample to which the belief at x gives less than this says nothing: no consistent draw comes near it."""
KERNEL, SPACING = 0.35, 0.25
"""Width and distance of the normal densities that stand for powers of Phi: sums of them are right to 1e-6."""
LEGENDRE = 24


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
    """Points at which each draw is looked at before it is polished, besides the measured ones."""

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
        # Only means and variances at x are looked at; a view needs a point to look from.
        self.evaluate = fantasies.evaluator(chosen.x[..., :1, :])
        minimum = torch.where(solutions.exists, solutions.values[..., 0, :], torch.inf)
        self.minimum = torch.minimum(minimum, known_bound(belief)[..., None])
        self.weight = chosen.weight
        self.floor = FLOOR * belief.amplitude
        self.noise = torch.maximum(belief.noise, self.floor)
        self.yes_no = belief.binary.nonzero()[:, 0]
        self.table = table().to(belief.points)
        self.memory_per_point = chosen.weight.numel() * (
            len(self.table.centers) if noise_aware else belief.amplitude.shape[-1]
        )

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        moments = self.evaluate(X)
        variance = torch.maximum(moments.variance, self.floor[..., None])
        deviation = variance.sqrt()[..., None, :]
        mean, spread = moments.mean[..., 0, :, :], deviation[..., 0, :, :]
        minimum = self.minimum[..., None]
        exists = torch.isfinite(minimum)
        gap = torch.where(exists, torch.where(exists, minimum, 0.0) - mean, CERTAIN * spread) / spread
        better = gap.clamp(HOPELESS, CERTAIN)[..., None, :, :]
        feasible = (moments.mean[..., 1:, :, :] / deviation[..., 1:, :, :]).clamp(HOPELESS, CERTAIN)
        log_a, log_z = log_event(better, feasible)
        if self.noise_aware:
            known = (variance - self.floor[..., None]) / self.noise[..., None]
            unknown = 1 / (1 + known)[..., None, :]
            powers = self.table.moments(better, unknown[..., :1, :, :])[..., 0, :, :, :]
            powers = powers * self._constraints(moments.mean, variance, feasible, unknown).prod(-4)
            convexity = ((powers - self.table.powers_of(log_a)) * self.table.weight).sum(-1)
            value = convexity / log_z.exp().clamp(min=CONTRADICTED)
        else:
            value = -log_z
        return (self.weight[..., None] * (value + HOPE / (1 - log_a))).sum(-2, keepdim=True)

    def _constraints(
        self,
        mean: Float[Tensor, "*b j #m x"],
        variance: Float[Tensor, "*b j x"],
        feasible: Float[Tensor, "*b k #m x"],
        unknown: Float[Tensor, "*b j 1 x"],
    ) -> Float[Tensor, "*b k #m x s"]:
        """E P(c_k >= 0 | y_k)^s of every constraint, for every power s of the table."""
        moments = self.table.moments(feasible, unknown[..., 1:, :, :])
        if len(self.yes_no):
            answers = self.table.answer_moments(
                mean.index_select(-3, self.yes_no), variance.index_select(-2, self.yes_no)[..., None, :]
            )
            moments = moments.index_copy(-4, self.yes_no - 1, answers)
        return moments


def log_event(
    better: Float[Tensor, "*b 1 m x"], feasible: Float[Tensor, "*b k #m x"]
) -> tuple[Float[Tensor, "*b m x"], Float[Tensor, "*b m x"]]:
    """Log P(A) and log P(not A), neither a difference; the arguments are in deviations."""
    log_better, log_worse = log_cdf(better)[..., 0, :, :], log_cdf(-better)[..., 0, :, :]
    if feasible.shape[-3] == 0:
        return log_better, log_worse
    log_c = log_cdf(feasible)
    log_feasible = log_c.sum(-3)
    log_infeasible = log_any(log_cdf(-feasible).flatten(-2), log_c.flatten(-2)).view_as(log_feasible)
    return log_feasible + log_better, torch.logaddexp(log_feasible + log_worse, log_infeasible)


def known_bound(belief: Belief) -> Float[Tensor, "*b"]:
    """What the feasible minimum cannot exceed: the lowest noise-free value measured where all constraints surely hold.

    Draws pass through such data up to rounding, which would make a measured point worth measuring for ever. Three
    deviations of the rounding below it, it is worth nothing.
    """
    points = for_samples(belief, belief.points)
    mean, variance = belief.mean(points), belief.variance(points)
    low = mean - 3 * variance.sqrt()
    is_exact = variance[..., 0, :] <= EXACT * belief.amplitude[..., :1]
    is_fact = is_exact & (low[..., 1:, :] >= 0).all(-2)
    facts = torch.where(is_fact, low[..., 0, :], torch.inf)
    return torch.cat([facts, torch.full_like(belief.amplitude[..., :1], torch.inf)], -1).amin(-1)


class Table(NamedTuple):
    """What E h(u) is computed with, u a product over rows.

    h(u) is a sum of powers u^s, whose expectations are products over rows, and Phi(t)^s a sum of normal densities,
    whose expectations are known: no quadrature depends on x, and the cost is linear in the number of rows.
    """

    power: Float[Tensor, " s"]
    weight: Float[Tensor, " s"]
    """h(u) = sum of weight u^power, to 4e-4 (1 - u) down to 1 - u = 1e-4, and to 2e-4 of itself at small u."""
    centers: Float[Tensor, " q"]
    density: Float[Tensor, "q s"]
    """Phi(t)^power - Phi(t) = sum of these times the densities N(t; center, KERNEL^2)."""
    node: Float[Tensor, " n"]
    node_weight: Float[Tensor, " n"]
    """Gauss-Legendre on 0 .. 1."""

    def to(self, like: Tensor) -> "Table":
        return Table(*(part.to(like) for part in self))

    def powers_of(self, log_u: Float[Tensor, "*b"]) -> Float[Tensor, "*b s"]:
        return (log_u[..., None] * self.power).exp()

    def moments(
        self, a: Float[Tensor, "*b j #m x"], unknown: Float[Tensor, "*b j 1 x"]
    ) -> Float[Tensor, "*b j #m x s"]:
        """E P(z >= 0 | y)^s, where z has mean a and deviation 1, and y leaves the share `unknown` of its variance.

        P(z >= 0 | y) = Phi(t) with t normal of mean a / sqrt(unknown) and variance (1 - unknown) / unknown.
        """
        width = ((1 - unknown) + KERNEL**2 * unknown).rsqrt()[..., None]
        root = unknown.sqrt()[..., None]
        away = (a[..., None] - root * self.centers) * width
        density = (-0.5 * away.square()).exp() * (root * width / math.sqrt(2 * math.pi))
        return torch.special.ndtr(a)[..., None] + density @ self.density

    def answer_moments(
        self, mean: Float[Tensor, "*b r #m x"], variance: Float[Tensor, "*b r 1 x"]
    ) -> Float[Tensor, "*b r #m x s"]:
        """E P(z >= 0 | answer)^s, where the answer is yes with probability Phi(z).

        P(z >= 0, yes) = (Phi(m / sqrt v) + Phi(k)) / 2 - T(k, 1 / sqrt v), k = m / sqrt(1 + v), with Owen's T.
        """
        k = (mean / (1 + variance).sqrt()).clamp(-CERTAIN, CERTAIN)
        above = torch.special.ndtr((mean / variance.sqrt()).clamp(-CERTAIN, CERTAIN))
        yes = torch.special.ndtr(k)
        angle = torch.atan(variance.rsqrt())
        steep = -0.5 * (k[..., None] / (angle[..., None] * self.node).cos()).square()
        owen = angle / (2 * math.pi) * (steep.exp() @ self.node_weight)
        joint = 0.5 * (above + yes) - owen
        total = torch.zeros_like(joint)[..., None]
        for probability, both in ((yes, joint), (1 - yes, above - joint)):
            share = (both / probability.clamp(min=1e-300)).clamp(1e-30, 1.0)
            total = total + probability[..., None] * self.powers_of(share.log())
        return total


@lru_cache(maxsize=1)
def table() -> Table:
    """The powers and densities, by least squares; they depend on nothing."""
    power = np.concatenate([[2.0, 3.0, 4.0], 6.0 * 2.3 ** np.arange(14)])
    rest = np.concatenate([np.logspace(-8, np.log10(0.5), 600), 1 - np.logspace(-5, np.log10(0.5), 400)])
    u = 1 - rest
    # Errors count relative to h itself where u is small, and to 1 - u, by which they are divided, where it is not.
    scale = np.where(u < 0.5, np.maximum(u**2 / 2, 1e-4), np.maximum(rest, 1e-4))
    powers = np.exp(np.log1p(-rest)[:, None] * power)
    weight = np.linalg.lstsq(powers / scale[:, None], (u + rest * np.log(rest)) / scale, rcond=None)[0]
    centers, t = np.arange(-7.0, 7.5 + SPACING / 2, SPACING), np.linspace(-9.0, 10.0, 2000)
    target = np.exp(log_ndtr(t)[:, None] * power) - ndtr(t)[:, None]
    basis = np.exp(-0.5 * ((t[:, None] - centers) / KERNEL) ** 2) / (KERNEL * math.sqrt(2 * math.pi))
    density = np.linalg.lstsq(basis, target, rcond=1e-10)[0]
    node, node_weight = np.polynomial.legendre.leggauss(LEGENDRE)
    parts = (power, weight, centers, density, (node + 1) / 2, node_weight / 2)
    return Table(*(torch.as_tensor(part) for part in parts))
