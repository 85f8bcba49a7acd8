"""Augmented Lagrangian with expected improvement inside (Gramacy et al., Technometrics 2016; METHOD 16)."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.incumbent import ProbabilityOfFeasibility, log_improvement
from pesky.acquire.improvement.lagrangian import Lagrangian, replay
from pesky.model.belief import Belief, for_hyper_samples, over_hyper_samples
from pesky.numerics.rng import normal, sobol, studies_of, uniform

CANDIDATES, NEAR = 256, 64
"""Points all over the space, and around the best measured one, that show whether anything is to be gained."""
UNSAMPLED = 0.04
"""Share of the variance of an objective with constraints of its own that is not sampled: L is smooth in x with it."""
FLOOR = 1e-10
"""Variances are kept above this share of the prior amplitude (METHOD 12.5)."""


@dataclass(frozen=True)
class AugmentedLagrangian(Rule):
    """Expected improvement of L(x) = f - sum_k lam_k c_k + sum_k min(0, c_k)^2 / (2 rho) (Gramacy et al., 2016).

    lam and rho follow from the history alone, which is gone through again for every question: a study that was
    interrupted goes on as if it had not been. For noise-free functions: under noise the means at the measured points
    stand for their values. A yes/no row has no magnitude of its own; its latent function, of about unit size, is its
    c_k. Constraints on one outcome are c_k of their own, of the same values.
    """

    name: ClassVar[str] = "al"
    measures: ClassVar[Literal["each", "together"]] = "together"
    in_nats: ClassVar[bool] = False

    samples: int = 256
    """Quasi-random values of the constraints behind the expectation; the objective's is in closed form."""
    initial: int = 3
    """Points from which units and the first rho are taken; after every further one lam and rho may be updated."""
    multiplier: float = 0.0
    """lam at the start, in the range of f over the initial points per root mean square of c_k there."""
    reduction: float = 0.5
    """What rho is multiplied with where the best point is not feasible."""
    tolerance: float = 1e-2
    """A violation that counts as none for rho, in root mean squares of c_k: a constraint that is active at the solution
    is never met exactly, and rho would shrink for ever. The multipliers take care of it."""
    patience: int = field(default=1, metadata={"least": 0})
    """Evaluations in a row without a lower L after which lam and rho are updated; 0 updates after every evaluation."""
    negligible: float = 1e-5
    """Where no expected improvement exceeds this share of the range of f, the mean of L is minimized instead."""

    def acquisition(self, context: Context) -> AcquisitionFunction:
        if not context.belief.points.shape[-2]:
            belief = with_pending(context.belief, context.pending)
            return ProbabilityOfFeasibility(belief, context.spread(1))  # no history, no L
        return self.improvement(context)

    @torch.no_grad()
    def improvement(self, context: Context) -> "LagrangianImprovement":
        """What measuring is worth once something was measured."""
        belief = with_pending(context.belief, context.pending)
        # In the order in which they were told; those without an objective, as of failed runs, come last.
        measured = for_hyper_samples(belief, belief.points)
        values = belief.likelihoods.inequalities(belief.mean(measured))
        lagrangian = self.replay(
            values, belief.likelihoods.units(belief.amplitude.sqrt()), self._idle(context, measured.shape[-2])
        )
        level = lagrangian.value(values)
        best, lowest = level.argmin(-1), level.amin(-1)
        if context.pending is not None:
            # What is expected of them is as good as told: who comes next must improve on it.
            awaited = belief.mean(context.pending.X.expand(*lowest.shape, *context.pending.X.shape))
            lowest = torch.minimum(lowest, lagrangian.value(belief.likelihoods.inequalities(awaited)).amin(-1))
        sampled = belief.amplitude.shape[-1] - 1 + belief.likelihoods.is_objective_limited
        posterior = LagrangianPosterior(belief, lagrangian, self._normals(context, sampled).to(values))
        best_point = torch.gather(measured, -2, best[..., None, None].expand(*best.shape, 1, measured.shape[-1]))
        at_best = torch.gather(values, -1, best[..., None, None].expand(*values.shape[:-1], 1))[..., 0]
        threshold = torch.maximum(self.negligible * lagrangian.unit_f, rounding(belief, lagrangian, at_best))
        candidates = self._candidates(context, belief, best_point)
        criterion, best_candidate = choose_criterion(posterior, lowest, threshold, candidates)
        near = [over_hyper_samples(belief, x, 2).flatten(-3, -2) for x in (best_point, best_candidate)]
        return LagrangianImprovement(posterior, lowest, criterion, torch.cat(near, -2))

    def replay(self, values: Float[Tensor, "*b j n"], deviation: Float[Tensor, "*b j"], idle: int = 0) -> Lagrangian:
        """Multipliers and penalty after the values were told one by one, and `idle` evaluations that told nothing."""
        return replay(
            values,
            deviation,
            idle,
            initial=self.initial,
            multiplier=self.multiplier,
            reduction=self.reduction,
            tolerance=self.tolerance,
            patience=self.patience,
        )

    def _idle(self, context: Context, measured: int) -> int:
        """Evaluations that told of no new point: ones without progress, or the same question would follow."""
        running = 0 if context.pending is None else len(context.pending.X)
        return max(0, context.asked - running - measured)

    def _normals(self, context: Context, constraints: int) -> Float[Tensor, "*w k s"]:
        if not constraints:
            return torch.zeros(0, 1, dtype=torch.float64)
        uniform = sobol(constraints, self.samples, context.draw_seed())
        return torch.special.ndtri(uniform.clamp(1e-10, 1 - 1e-10)).mT

    def _candidates(self, context: Context, belief: Belief, best: Float[Tensor, "*b 1 d"]) -> Float[Tensor, "*b x d"]:
        """Points all over the space, and around each batch element's own best one, at all distances."""
        spread, source = context.spread(CANDIDATES), context.generator
        w = studies_of(source)
        reach = 10 ** (-3 * uniform(source, *w, NEAR, 1, like=spread))
        step = reach * normal(source, *w, NEAR, spread.shape[-1], like=spread)
        # The lengthscale of a known row is infinite.
        near = best + for_hyper_samples(belief, step) * belief.lengthscale.amin(-2).clamp(max=1.0)[..., None, :]
        return torch.cat([for_hyper_samples(belief, spread), context.space.snap(near.clamp(0.0, 1.0))], -2)


class LagrangianPosterior(NamedTuple):
    """L at any x, as the belief has it: given the constraints it is normal, and of them alone there are samples.

    Of an objective that has constraints itself there are samples, too, which leave a part of its variance: L is then
    normal given these.
    """

    belief: Belief
    lagrangian: Lagrangian
    normals: Float[Tensor, "*w k s"]
    """Of the rows that are constraints, and last of an objective with constraints of its own."""

    def moments(self, X: Float[Tensor, "*b x d"]) -> tuple[Float[Tensor, "*b j x"], Float[Tensor, "*b j x"]]:
        """Means and deviations of the rows."""
        moments = self.belief.evaluator(X[..., :0, :])(X)
        return moments.mean, torch.maximum(moments.variance, FLOOR * self.belief.amplitude[..., None]).sqrt()

    def log_improvement(
        self, mean: Float[Tensor, "*b j x"], deviation: Float[Tensor, "*b j x"], lowest: Float[Tensor, "*b"]
    ) -> Float[Tensor, "*b x"]:
        """Log E max(0, lowest - L)."""
        f, left = mean[..., :1, None, :], 1.0
        normals = self.normals[..., None]
        if self.belief.likelihoods.is_objective_limited:
            f, left = f + deviation[..., :1, None, :] * math.sqrt(1 - UNSAMPLED) * normals[..., -1:, :, :], UNSAMPLED
            normals = normals[..., :-1, :, :]
        c = mean[..., 1:, None, :] + deviation[..., 1:, None, :] * normals
        conditions = self.belief.likelihoods.conditions
        if conditions is not None:
            c = conditions.margins(torch.cat([f.expand_as(c[..., :1, :, :]) if c.shape[-3] else f, c], -3), -3)
        penalty = self.lagrangian.penalty(c.flatten(-2)).view(*lowest.shape, *c.shape[-2:])
        level = f[..., 0, :, :] + penalty
        variance = (left * deviation[..., 0, None, :].square()).expand_as(level)
        each = log_improvement(level.flatten(-2), variance.flatten(-2), lowest).view_as(level)
        return each.logsumexp(-2) - math.log(each.shape[-2])

    def mean(self, mean: Float[Tensor, "*b j x"], deviation: Float[Tensor, "*b j x"]) -> Float[Tensor, "*b x"]:
        """E L, in closed form."""
        conditions = self.belief.likelihoods.conditions
        c, of_c = mean[..., 1:, :], deviation[..., 1:, :]
        if conditions is not None:
            c, of_c = conditions.margins(mean), conditions.rows_of(deviation, -2)
        return mean[..., 0, :] + self.lagrangian.expected_penalty(c, of_c)


class Criterion(NamedTuple):
    """Whether to go by the expected improvement, or by the mean of L."""

    is_exhausted: Bool[Tensor, "*b"]
    """Whether the improvement is negligible everywhere, so that the mean decides."""
    threshold: Float[Tensor, "*b"]
    """The improvement that is negligible."""
    lowest_mean: Float[Tensor, "*b"]
    """Of L, at the candidates."""


def choose_criterion(
    posterior: LagrangianPosterior,
    lowest: Float[Tensor, "*b"],
    threshold: Float[Tensor, "*b"],
    candidates: Float[Tensor, "*b x d"],
) -> tuple[Criterion, Float[Tensor, "*b 1 d"]]:
    """The criterion, by whether any of the candidates promises more than the threshold, and the best of them by it."""
    mean, deviation = posterior.moments(candidates)
    improvement, expected = posterior.log_improvement(mean, deviation, lowest), posterior.mean(mean, deviation)
    is_exhausted = improvement.amax(-1) < threshold.log()
    at = torch.where(is_exhausted, expected.argmin(-1), improvement.argmax(-1))[..., None, None]
    best = torch.gather(candidates, -2, at.expand(*lowest.shape, 1, candidates.shape[-1]))
    return Criterion(is_exhausted, threshold, expected.amin(-1)), best


def rounding(belief: Belief, lagrangian: Lagrangian, values: Float[Tensor, "*b i"]) -> Float[Tensor, "*b"]:
    """The deviation of L where the rows have these values and their variances are at the floor.

    A measured noise-free point promises an improvement of 0.4 times this.
    """
    slope = torch.cat([torch.ones_like(values[..., :1]), lagrangian.slope(values[..., 1:])], -1)
    return (FLOOR * belief.likelihoods.units(belief.amplitude) * slope.square()).sum(-1).sqrt()


class LagrangianImprovement(AcquisitionFunction):
    """Log of the expected improvement of L; where that is negligible everywhere, minus the mean of L."""

    is_log = True

    def __init__(
        self,
        posterior: LagrangianPosterior,
        lowest: Float[Tensor, "*b"],
        criterion: Criterion,
        search_centers: Float[Tensor, "*w c d"],
    ) -> None:
        belief, normals = posterior.belief, posterior.normals
        super().__init__(belief, search_centers)
        self.posterior, self.lowest, self.criterion = posterior, lowest, criterion
        drawn = normals.shape[-2] * normals.shape[-1]
        self.memory_per_point = self.batch.numel() * max(drawn, belief.points.shape[-2] * belief.amplitude.shape[-1])

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        mean, deviation = self.posterior.moments(X)
        value = self.posterior.log_improvement(mean, deviation, self.lowest)
        is_exhausted, threshold, lowest_mean = (t[..., None] for t in self.criterion)
        if bool(is_exhausted.any()):
            # At its best about what would have been negligible, so that hyperparameter samples can be averaged.
            excess = (self.posterior.mean(mean, deviation) - lowest_mean) / threshold
            value = torch.where(is_exhausted, threshold.log() - excess, value)
        return value[..., None, :]
