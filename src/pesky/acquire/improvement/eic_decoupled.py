"""Improvement decides where, information decides what: for outcomes that are measured separately (METHOD 16)."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import Context, PointPreference, Rule
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.acquire.maximize import maximize
from pesky.infer.gaussian import cholesky, log_density
from pesky.model.belief import Belief, for_samples, hyperparameter_samples, over_samples, repeats
from pesky.numerics.rng import Source, normal
from pesky.optimum.sample import sample_optima

CANDIDATES = 256
"""Points at which the improvement is looked at before the ascent."""
CELL = 1e-3
"""Points of the set closer than this are the same minimizer: rounding would decide between them."""
FEWEST_DRAWS, FEWEST_OPTIMA = 100, 6
"""For each hyperparameter sample, however many there are."""
NEVER = 1e9
"""The violation of a point that does not count."""
UNDECIDED = 1e-7
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
        first = ExpectedImprovement(self.noise_factor).acquisition(context)
        candidates = torch.cat([context.spread(CANDIDATES), first.search_centers, belief.points], -2)
        best = maximize(first, candidates, None if space.is_continuous else space.neighbors)
        u = space.snap(best.x[..., 0, :])

        count = hyperparameter_samples(belief)
        optima_each = max(FEWEST_OPTIMA, math.ceil(self.samples / count))
        looked = torch.cat([candidates, u[..., None, :]], -2)
        optima = sample_optima(belief, optima_each, None, looked, 4, context.generator).chosen.x
        optima = space.snap(over_samples(belief, optima, 2).flatten(-3, -2))
        G = torch.cat([u[..., None, :], first.search_centers, optima, context.spread(self.spread)], -2)
        with torch.no_grad():
            draws = max(FEWEST_DRAWS, self.draws // count)
            gain = entropy_reductions(belief, u, G, draws, self.nodes, context.generator, repeats(G, CELL))
            here = for_samples(belief, u[..., None, :])
            noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)
            unknown = (belief.variance(here)[..., 0] / noise).log1p()
        gain, unknown = (over_samples(belief, t).mean(-2) for t in (gain, unknown))
        # Monte Carlo makes some of the gains negative; the Named point must be the best for every row.
        return PointPreference(belief, u, gain.clamp(min=0.0) + UNDECIDED * unknown / unknown.amax(-1, keepdim=True))


def entropy_reductions(
    belief: Belief,
    u: Float[Tensor, "*w d"],
    G: Float[Tensor, "*w g d"],
    draws: int,
    nodes: int,
    source: Source,
    unused: Bool[Tensor, "*w g"] | None = None,
) -> Float[Tensor, "*b j"]:
    """Nats by which measuring each row at u is expected to lower the entropy of the minimizer among the points G.

    `unused` are points of G that are not among them after all, such as repeats of others.

    The same draws serve before and after: given a value y of row j, each becomes z + kappa(., u) / (kappa(u, u) +
    noise) (y - z(u) - e), a draw from the belief that knows y. Given a yes or a no, it counts with the probability of
    that answer. A draw without a feasible point has the one of least violation for its minimizer (METHOD 4.3).
    """
    *batch, rows = belief.amplitude.shape
    cells = G.shape[-2]
    P = for_samples(belief, torch.cat([G, u[..., None, :]], -2))
    never = torch.zeros_like(P[..., :-1, 0])
    if unused is not None:
        never = torch.where(for_samples(belief, unused[..., None])[..., 0], NEVER, 0.0).to(never)
    mean, covariance = belief.mean(P), belief.covariance(P, P)
    noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)

    root = cholesky(covariance, belief.amplitude)
    z = mean[..., None, :] + normal(source, *batch, rows, draws, cells + 1, like=mean) @ root.mT
    noisy = z[..., -1] + noise.sqrt()[..., None] * normal(source, *batch, rows, draws, like=mean)
    variance = covariance[..., -1, -1].clamp(min=0.0) + noise
    leverage = covariance[..., :-1, -1] / variance[..., None]
    told = mean[..., -1, None] + variance.sqrt()[..., None] * equally_likely(nodes).to(mean)

    deviation = belief.amplitude.sqrt()[..., 1:, None, None]
    f, violation = z[..., 0, :, :-1], (z[..., 1:, :, :-1] / deviation).clamp(max=0.0).square()
    unusable = never[..., None, :]
    before = minimizers(f, violation.sum(-3) + unusable)
    entropy_before = entropy(before, cells)
    gains = []
    for j in range(rows):
        if bool(belief.binary[j]):
            yes = torch.special.ndtr(z[..., j, :, -1])
            answers = torch.stack([yes, 1 - yes], -2)
            chance = answers.mean(-1)
            left = entropy(before[..., None, :].expand_as(answers), cells, answers)
        else:
            surprise = told[..., j, :, None] - noisy[..., j, None, :]
            after = z[..., j, None, :, :-1] + leverage[..., j, None, None, :] * surprise[..., None]
            if j == 0:
                violated = (violation.sum(-3) + unusable)[..., None, :, :].expand_as(after)
            else:
                others = torch.cat([violation[..., : j - 1, :, :], violation[..., j:, :, :]], -3).sum(-3)
                own = (after / deviation[..., j - 1, None, :, :]).clamp(max=0.0).square()
                others = others + unusable
                after, violated = f[..., None, :, :].expand_as(after), others[..., None, :, :] + own
            chance = torch.full_like(told[..., j, :], 1 / nodes)
            left = entropy(minimizers(after, violated), cells)
        gains.append(entropy_before - (chance * left).sum(-1))
    return torch.stack(gains, -1)


def equally_likely(count: int) -> Float[Tensor, " count"]:
    """The means of as many equally probable parts of a standard normal.

    The entropy bends sharply where a value changes the minimizer, and Gauss-Hermite quadrature, for smooth functions,
    errs up to twice as much with as many values.
    """
    edges = torch.special.ndtri(torch.linspace(0, 1, count + 1, dtype=torch.float64))
    return -count * log_density(edges).exp().diff()


def minimizers(f: Float[Tensor, "*b g"], violation: Float[Tensor, "*b g"]) -> Int[Tensor, "*b"]:
    """The lowest of the points without violation, or the one of least violation where there is none."""
    return torch.where(violation > 0, f.amax(-1, keepdim=True) + 1 + violation, f).argmin(-1)


def entropy(which: Int[Tensor, "*b s"], cells: int, weight: Float[Tensor, "*b s"] | None = None) -> Float[Tensor, "*b"]:
    """Entropy in nats of the distribution that the samples are of, weighted or not.

    With the correction of Miller and Madow, half the number of other occupied cells per sample: knowing more leaves
    fewer of them, so without it the gains come out too small.
    """
    weight = torch.ones_like(which, dtype=torch.float64) if weight is None else weight
    weight = weight / weight.sum(-1, keepdim=True).clamp(min=1e-300)
    share = weight.new_zeros(*which.shape[:-1], cells).scatter_add(-1, which, weight)
    occupied = (share > 0).sum(-1)
    return -torch.xlogy(share, share).sum(-1) + 0.5 * (occupied - 1) * weight.square().sum(-1)
