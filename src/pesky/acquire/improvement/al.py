"""Augmented Lagrangian with expected improvement inside (Gramacy et al., Technometrics 2016; METHOD 16)."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.incumbent import Feasibility, log_improvement
from pesky.infer.gaussian import log_cdf, log_density
from pesky.model.belief import Belief, for_samples, over_samples
from pesky.numerics.rng import lanes, normal, sobol, uniform

CANDIDATES, NEAR = 256, 64
"""Points all over the space, and around the best measured one, that show whether anything is to be gained."""
FLOOR = 1e-10
"""Variances are kept above this share of the prior amplitude (METHOD 12.5)."""
SMALLEST_UNIT = 1e-3
"""Units taken from the first few data are at least this share of the prior deviation: they may nearly coincide."""
SMALLEST_PENALTY_PARAMETER = 1e-8
"""Beyond this the penalty is a wall, and further halving only loses digits."""


class Lagrangian(NamedTuple):
    """L = f + unit_f (sum_k -multiplier_k c_k/unit_k + min(0, c_k/unit_k)^2 / (2 rho)), in the units of f.

    The rows are scaled by the data, anew for every question, so multipliers and penalty are kept in units of the first
    data: the same history gives the same L, however it is scaled.
    """

    unit_f: Float[Tensor, "*b"]
    unit: Float[Tensor, "*b k"]
    multiplier: Float[Tensor, "*b k"]
    rho: Float[Tensor, "*b"]

    def penalty(self, c: Float[Tensor, "*b k x"]) -> Float[Tensor, "*b x"]:
        """L - f where the constraints have these values."""
        c = c / self.unit[..., None]
        squared, linear = c.clamp(max=0.0).square().sum(-2), (self.multiplier[..., None] * c).sum(-2)
        return self.unit_f[..., None] * (squared / (2 * self.rho[..., None]) - linear)

    def slope(self, c: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
        """The derivative of L by each constraint."""
        scaled = c / self.unit
        return self.unit_f[..., None] / self.unit * (scaled.clamp(max=0.0) / self.rho[..., None] - self.multiplier)

    def expected_penalty(
        self, mean: Float[Tensor, "*b k x"], deviation: Float[Tensor, "*b k x"]
    ) -> Float[Tensor, "*b x"]:
        """Its mean where they are normal: E min(0, c)^2 = s^2 [(1 + u^2) Phi(-u) - u phi(u)], u = mean / s."""
        u = mean / deviation
        # Non-negative; rounding far on the feasible side is not.
        share = ((1 + u * u) * log_cdf(-u).exp() - u * log_density(u).exp()).clamp(min=0.0)
        squared = ((deviation / self.unit[..., None]).square() * share).sum(-2)
        linear = (self.multiplier[..., None] * mean / self.unit[..., None]).sum(-2)
        return self.unit_f[..., None] * (squared / (2 * self.rho[..., None]) - linear)


@dataclass(frozen=True)
class AugmentedLagrangian(Rule):
    """Expected improvement of L(x) = f - sum_k lam_k c_k + sum_k min(0, c_k)^2 / (2 rho) (Gramacy et al., 2016).

    lam and rho follow from the history alone, which is gone through again for every question: a study that was
    interrupted goes on as if it had not been. For noise-free functions: under noise the means at the measured points
    stand for their values. A yes/no row has no magnitude of its own; its latent function, of about unit size, is its
    c_k.
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
            return Feasibility(with_pending(context.belief, context.pending), context.spread(1))  # no history, no L
        return self.improvement(context)

    def improvement(self, context: Context) -> "LagrangianImprovement":
        """What measuring is worth once something was measured."""
        belief = with_pending(context.belief, context.pending)
        # In the order in which they were told; those without an objective, as of failed runs, come last.
        measured = for_samples(belief, belief.points)
        with torch.no_grad():
            values = belief.mean(measured)
            # An evaluation that told of no new point is one without progress, and the same question must not follow.
            running = 0 if context.pending is None else len(context.pending.X)
            idle = max(0, context.asked - running - measured.shape[-2])
            lagrangian = self.replay(values, belief.amplitude.sqrt(), idle)
            level = values[..., 0, :] + lagrangian.penalty(values[..., 1:, :])
            best, lowest = level.argmin(-1), level.amin(-1)
            if context.pending is not None:
                # What is believed of them is as good as told: who comes next must improve on it.
                awaited = belief.mean(context.pending.X.expand(*lowest.shape, *context.pending.X.shape))
                believed = awaited[..., 0, :] + lagrangian.penalty(awaited[..., 1:, :])
                lowest = torch.minimum(lowest, believed.amin(-1))
            normals = self._normals(context, values.shape[-2] - 1).to(values)
            lowest_at = torch.gather(measured, -2, best[..., None, None].expand(*best.shape, 1, measured.shape[-1]))
            search_centers = over_samples(belief, lowest_at, 2).flatten(-3, -2)
            acquisition = LagrangianImprovement(belief, lagrangian, lowest, normals, search_centers)
            at_best = torch.gather(values, -1, best[..., None, None].expand(*values.shape[:-1], 1))[..., 0]
            # A measured noise-free point promises 0.4 deviations of L at the variances' floor, which is rounding.
            slope = torch.cat([torch.ones_like(at_best[..., :1]), lagrangian.slope(at_best[..., 1:])], -1)
            rounding = (FLOOR * belief.amplitude * slope.square()).sum(-1).sqrt()
            threshold = torch.maximum(self.negligible * lagrangian.unit_f, rounding)
            acquisition.settle(self._candidates(context, belief, lowest_at), threshold)
        return acquisition

    def replay(self, values: Float[Tensor, "*b j n"], deviation: Float[Tensor, "*b j"], idle: int = 0) -> Lagrangian:
        """Multipliers and penalty after the values were told one by one, and `idle` evaluations that told nothing.

        The start of Gramacy et al. makes the penalty of the least violation equal to the best |f|. Here f has no zero,
        so its range over the initial points takes that place: the most that a violation could gain there.
        """
        f, c = values[..., 0, :], values[..., 1:, :]
        first = slice(0, self.initial)
        unit_f = torch.maximum(f[..., first].amax(-1) - f[..., first].amin(-1), SMALLEST_UNIT * deviation[..., 0])
        unit = torch.maximum(c[..., first].square().mean(-1).sqrt(), SMALLEST_UNIT * deviation[..., 1:])
        scaled = c / unit[..., None]
        violation = scaled[..., first].clamp(max=0.0).square().sum(-2)
        least = torch.where(violation > 0, violation, torch.inf).amin(-1)
        # All feasible: a violation as large as the constraints are shall outweigh the range of f.
        rho = 0.5 * torch.where(least < torch.inf, least, 1.0).clamp(min=self.tolerance**2)
        lagrangian = Lagrangian(unit_f, unit, torch.full_like(unit, self.multiplier), rho)

        n = f.shape[-1]
        stalled = torch.zeros_like(rho, dtype=torch.int64)
        lowest = (f[..., first] + lagrangian.penalty(c[..., first])).amin(-1)
        for told in [*range(self.initial + 1, n + 1), *[n] * idle]:
            level = f[..., :told] + lagrangian.penalty(c[..., :told])
            at = level.argmin(-1, keepdim=True)
            stalled = torch.where(level.amin(-1) < lowest, 0, stalled + 1)
            here = torch.gather(scaled, -1, at[..., None, :].expand(*scaled.shape[:-1], 1))[..., 0]
            moved = (lagrangian.multiplier - here / lagrangian.rho[..., None]).clamp(min=0.0)
            kept = (here >= -self.tolerance).all(-1)
            smaller = (self.reduction * lagrangian.rho).clamp(min=SMALLEST_PENALTY_PARAMETER)
            due = stalled >= self.patience
            lagrangian = lagrangian._replace(
                multiplier=torch.where(due[..., None], moved, lagrangian.multiplier),
                rho=torch.where(due & ~kept, smaller, lagrangian.rho),
            )
            # After an update the lowest L is another one.
            lowest = torch.where(due, (f[..., :told] + lagrangian.penalty(c[..., :told])).amin(-1), level.amin(-1))
            stalled = torch.where(due, 0, stalled)
        return lagrangian

    def _normals(self, context: Context, constraints: int) -> Float[Tensor, "*w k s"]:
        if not constraints:
            return torch.zeros(0, 1, dtype=torch.float64)
        uniform = sobol(constraints, self.samples, context.draw_seed())
        return torch.special.ndtri(uniform.clamp(1e-10, 1 - 1e-10)).mT

    def _candidates(self, context: Context, belief: Belief, best: Float[Tensor, "*b 1 d"]) -> Float[Tensor, "*b x d"]:
        """Points all over the space, and around each batch element's own best one, at all distances."""
        spread, source = context.spread(CANDIDATES), context.generator
        w = lanes(source)
        reach = 10 ** (-3 * uniform(source, *w, NEAR, 1, like=spread))
        step = reach * normal(source, *w, NEAR, spread.shape[-1], like=spread)
        # The lengthscale of a known row is infinite.
        near = best + for_samples(belief, step) * belief.lengthscale.amin(-2).clamp(max=1.0)[..., None, :]
        return torch.cat([for_samples(belief, spread), context.space.snap(near.clamp(0.0, 1.0))], -2)


class LagrangianImprovement(AcquisitionFunction):
    """Log of the expected improvement of L; where that is negligible everywhere, minus the mean of L."""

    is_log = True

    def __init__(
        self,
        belief: Belief,
        lagrangian: Lagrangian,
        lowest: Float[Tensor, "*b"],
        normals: Float[Tensor, "*w k s"],
        search_centers: Float[Tensor, "*w c d"],
    ) -> None:
        super().__init__(belief, search_centers)
        self.lagrangian, self.lowest, self.normals = lagrangian, lowest, normals
        self.is_exhausted = torch.zeros_like(lowest, dtype=torch.bool)
        self.threshold, self.reference = torch.ones_like(lowest), torch.zeros_like(lowest)
        drawn = normals.shape[-2] * normals.shape[-1]
        self.memory_per_point = self.batch.numel() * max(drawn, belief.points.shape[-2] * belief.amplitude.shape[-1])

    def settle(self, X: Float[Tensor, "*b x d"], threshold: Float[Tensor, "*b"]) -> None:
        """Decide, by whether any of these points promises more, to go by the improvement or by the mean."""
        self.threshold = threshold
        mean, deviation = self._moments(X)
        improvement, expected = self._log_improvement(mean, deviation), self._mean(mean, deviation)
        self.is_exhausted = improvement.amax(-1) < self.threshold.log()
        self.reference = expected.amin(-1)
        at = torch.where(self.is_exhausted, expected.argmin(-1), improvement.argmax(-1))[..., None, None]
        best = torch.gather(X, -2, at.expand(*self.batch, 1, X.shape[-1]))
        self.search_centers = torch.cat([self.search_centers, over_samples(self.belief, best, 2).flatten(-3, -2)], -2)
        self.search_mask = torch.ones_like(self.search_centers[..., 0], dtype=torch.bool)

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b 1 x"]:
        mean, deviation = self._moments(X)
        value = self._log_improvement(mean, deviation)
        if bool(self.is_exhausted.any()):
            threshold = self.threshold[..., None]
            # At its best about what would have been negligible, so that hyperparameter samples can be averaged.
            excess = (self._mean(mean, deviation) - self.reference[..., None]) / threshold
            value = torch.where(self.is_exhausted[..., None], threshold.log() - excess, value)
        return value[..., None, :]

    def _moments(self, X: Float[Tensor, "*b x d"]) -> tuple[Float[Tensor, "*b j x"], Float[Tensor, "*b j x"]]:
        moments = self.belief.evaluator(X[..., :0, :])(X)
        return moments.mean, torch.maximum(moments.variance, FLOOR * self.belief.amplitude[..., None]).sqrt()

    def _log_improvement(
        self, mean: Float[Tensor, "*b j x"], deviation: Float[Tensor, "*b j x"]
    ) -> Float[Tensor, "*b x"]:
        """Log E max(0, lowest - L): given the constraints L is normal, and the samples are of the constraints alone."""
        c = mean[..., 1:, None, :] + deviation[..., 1:, None, :] * self.normals[..., None]
        penalty = self.lagrangian.penalty(c.flatten(-2)).view(*self.batch, *c.shape[-2:])
        level = mean[..., 0, None, :] + penalty
        variance = deviation[..., 0, None, :].square().expand_as(level)
        each = log_improvement(level.flatten(-2), variance.flatten(-2), self.lowest).view_as(level)
        return each.logsumexp(-2) - math.log(each.shape[-2])

    def _mean(self, mean: Float[Tensor, "*b j x"], deviation: Float[Tensor, "*b j x"]) -> Float[Tensor, "*b x"]:
        return mean[..., 0, :] + self.lagrangian.expected_penalty(mean[..., 1:, :], deviation[..., 1:, :])
