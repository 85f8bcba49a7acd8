"""SCBO (Eriksson & Poloczek, 2021): Thompson sampling under constraints in a trust region.

With the constants of BoTorch's tutorial "Scalable Constrained Bayesian Optimization", at a batch size of 1; where the
tutorial ends because the trust region has become too small, a new one begins with points of its own, as in the paper.
"""

import math
from dataclasses import dataclass, field

import gpytorch
import torch
from botorch.generation.sampling import ConstrainedMaxPosteriorSampling
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.constraints import Interval
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import SumMarginalLogLikelihood
from jaxtyping import Float
from torch import Tensor
from torch.quasirandom import SobolEngine

from benchmarks.peers.base import Params, Question, Values
from benchmarks.peers.botorch_data import BotorchData, fit, seeded_and_quiet
from benchmarks.peers.botorch_peer import most_probable
from pesky.problem import Problem

CANDIDATES = 2000
LENGTH, LEAST_LENGTH, MOST_LENGTH = 0.8, 0.5**7, 1.6
SUCCESSES = 10
"""In a row, after which the region grows; the paper has 3."""


@dataclass
class TrustRegion:
    """A cube around the best point of its own; it grows with successes in a row and shrinks with failures."""

    dim: int
    length: float = LENGTH
    successes: int = 0
    failures: int = 0
    best: float = -math.inf
    violation: Float[Tensor, " K"] = field(default_factory=lambda: torch.full((1,), torch.inf, dtype=torch.float64))

    @property
    def is_spent(self) -> bool:
        """Whether it has become too small."""
        return self.length < LEAST_LENGTH

    def update(self, value: float, violation: Float[Tensor, " K"]) -> None:
        """Takes in one point: its objective, maximized, and its violations, none positive where it is feasible."""
        if self._is_better(value, violation):
            self.successes, self.failures = self.successes + 1, 0
            self.best, self.violation = value, violation
        else:
            self.successes, self.failures = 0, self.failures + 1
        if self.successes == SUCCESSES:
            self.length, self.successes = min(2 * self.length, MOST_LENGTH), 0
        elif self.failures == max(4, self.dim):
            self.length, self.failures = self.length / 2, 0

    def _is_better(self, value: float, violation: Float[Tensor, " K"]) -> bool:
        if bool((violation <= 0).all()):
            return value > self.best + 1e-3 * abs(self.best) or bool((self.violation > 0).any())
        return bool(violation.clamp_min(0).sum() < self.violation.clamp_min(0).sum())


class Scbo:
    """SCBO at work; its answer is the best measured, or with noise that of the best mean among the likely ones."""

    def __init__(self, problem: Problem, seed: int, evaluations: int) -> None:
        self.problem, self.seed = problem, seed
        self.all, self.own = BotorchData(problem, "scbo"), BotorchData(problem, "scbo")
        self.region: TrustRegion | None = None
        """None until the first question: what was told before it is the initial design."""
        self.initial = 0
        self.waiting: list[Float[Tensor, " d"]] = []
        """Points that a new region begins with."""
        self.sobol = SobolEngine(self.all.space.dim, scramble=True, seed=seed)

    def ask(self) -> Question:
        if self.region is None:
            self.region, self.initial = TrustRegion(self.all.space.dim), len(self.own.points)
        if self.region.is_spent:
            self.region, self.own = TrustRegion(self.all.space.dim), BotorchData(self.problem, "scbo")
            self.waiting = list(self.sobol.draw(self.initial, dtype=torch.float64))
        if self.waiting:
            return Question(self.all.space.decode(self.waiting[0]))
        with seeded_and_quiet(1000 * self.seed + len(self.all.points)):
            return Question(self.all.space.decode(self._sample(self.region.length)))

    def tell(self, params: Params, values: Values) -> None:
        self.all.add(params, values)
        self.own.add(params, values)
        if self.waiting:
            self.waiting.pop(0)
        elif self.region is not None:
            value = -self.problem.sign * values[self.problem.objective]
            self.region.update(value, self.own.violations[-1])

    def answer(self) -> Params | None:
        if self.all.is_exact:
            return self.all.best()
        with seeded_and_quiet(self.seed):
            return most_probable(self.all, self.all.fitted())

    def _sample(self, length: float) -> Float[Tensor, " d"]:
        """The best feasible candidate of one draw of all functions, or the least infeasible one."""
        X, violations = self.own.X, self.own.violations
        values = -self.problem.sign * self.own.Y[:, 0]
        center = X[best_of(values, violations)]
        low, high = (center - length / 2).clamp(0, 1), (center + length / 2).clamp(0, 1)
        moved = low + (high - low) * self.sobol.draw(CANDIDATES, dtype=torch.float64)
        candidates = torch.where(perturbed(CANDIDATES, len(center)), moved, center)
        objective, *constraints = self._fitted()
        sample = ConstrainedMaxPosteriorSampling(objective, ModelListGP(*constraints), replacement=False)
        # Always by Cholesky, as in the tutorial.
        with torch.no_grad(), gpytorch.settings.max_cholesky_size(float("inf")):
            return sample(candidates, num_samples=1)[0]

    def _fitted(self) -> list[SingleTaskGP]:
        """The tutorial's models: the objective, maximized, and each constraint's violation."""
        data = self.own
        X, rows = data.X, torch.cat([-self.problem.sign * data.Y[:, :1], data.violations], -1)
        columns = [0, *(data.names.index(each.outcome) for each in self.problem.constraints)]
        models = []
        for column, y in zip(columns, rows.split(1, -1), strict=True):
            # Where nothing has noise, the tutorial's own bounds on it.
            variance = None if data.is_exact else data.noise_variance(column, y)
            likelihood = GaussianLikelihood(noise_constraint=Interval(1e-8, 1e-3)) if variance is None else None
            matern = MaternKernel(nu=2.5, ard_num_dims=X.shape[-1], lengthscale_constraint=Interval(0.005, 4.0))
            transform = Standardize(m=1)
            models.append(
                SingleTaskGP(X, y, variance, likelihood, covar_module=ScaleKernel(matern), outcome_transform=transform)
            )
        model = ModelListGP(*models)
        fit(SumMarginalLogLikelihood(model.likelihood, model))
        return models


def best_of(values: Float[Tensor, " n"], violations: Float[Tensor, "n K"]) -> int:
    """The point of the largest value among the feasible ones, or of the least violation in all if there are none."""
    is_feasible = (violations <= 0).all(-1)
    if bool(is_feasible.any()):
        return int(values.masked_fill(~is_feasible, -torch.inf).argmax())
    return int(violations.clamp_min(0).sum(-1).argmin())


def perturbed(count: int, dim: int) -> Tensor:
    """Which coordinates of each candidate differ from the center's, (count, dim): 20 on average, at least one."""
    mask = torch.rand(count, dim) <= min(20 / dim, 1.0)
    none = (~mask.any(-1)).nonzero()[:, 0]
    mask[none, torch.randint(0, dim, (len(none),))] = True
    return mask
