"""What BoTorch's optimizers are told, in BoTorch's words, and its default models of that."""

import contextlib
import warnings
from collections.abc import Callable, Iterator

import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.mlls import SumMarginalLogLikelihood
from jaxtyping import Float
from torch import Tensor

from benchmarks.peers.base import Measured, Params, Values, best_measured, named_outcomes, slack, what_is_not_real
from pesky.errors import ProblemError
from pesky.problem import Constraint, Problem
from pesky.space import Space

LEAST_NOISE = 1e-6
"""Variance of what has no noise, as a share of the values' own: the least that GPyTorch's fixed noise may be."""


class BotorchData:
    """All that was measured of a problem of real parameters, as tensors in the unit cube."""

    def __init__(self, problem: Problem, who: str) -> None:
        if other := what_is_not_real(problem):
            raise ProblemError(f"{who} is run with real parameters and numbers alone, and this problem has {other}.")
        if not problem.constraints:
            raise ProblemError(f"{who} needs a constraint, and this problem has none.")
        self.problem, self.space, self.names = problem, Space.of(problem), named_outcomes(problem)
        self.points: list[Measured] = []

    def add(self, params: Params, values: Values) -> None:
        """Takes in what was measured at a point."""
        self.points.append(Measured(dict(params), dict(values)))

    @property
    def X(self) -> Float[Tensor, "n d"]:
        """The points."""
        return torch.stack([self.space.encode(point.params) for point in self.points])

    @property
    def Y(self) -> Float[Tensor, "n m"]:
        """The value of every outcome, in its own units; the objective first."""
        rows = [[float(point.values[name]) for name in self.names] for point in self.points]
        return torch.tensor(rows, dtype=torch.float64)

    @property
    def is_exact(self) -> bool:
        """Whether every outcome is declared to have no noise."""
        return all(self.problem.noise[name] == 0 for name in self.names)

    @property
    def limits(self) -> dict[int, tuple[float | None, float | None]]:
        """For each outcome that is constrained, its least and its largest value that is feasible."""
        found: dict[int, tuple[float | None, float | None]] = {}
        for each in self.problem.constraints:
            column = self.names.index(each.outcome)
            low, high = found.get(column, (None, None))
            if each.direction > 0:
                found[column] = max(each.threshold, each.threshold if low is None else low), high
            else:
                found[column] = low, min(each.threshold, each.threshold if high is None else high)
        return found

    @property
    def slacks(self) -> list[Callable[[Tensor], Tensor]]:
        """Each constraint as a function of samples of outcomes, (.., m) -> (..): it holds where that is negative."""
        return [self._slack(each) for each in self.problem.constraints]

    def _slack(self, constraint: Constraint) -> Callable[[Tensor], Tensor]:
        column = self.names.index(constraint.outcome)
        return lambda Z: -constraint.direction * (Z[..., column] - constraint.threshold)

    @property
    def violations(self) -> Float[Tensor, "n K"]:
        """By how much each constraint was broken at each point: zero or less where it held."""
        rows = [[slack(each, point.values[each.outcome]) for each in self.problem.constraints] for point in self.points]
        return torch.tensor(rows, dtype=torch.float64)

    def noise_variance(self, column: int, y: Float[Tensor, "n 1"]) -> Float[Tensor, "n 1"] | None:
        """The variance of each value, where the problem declares it."""
        declared = self.problem.noise[self.names[column]]
        if declared is None:
            return None
        least = LEAST_NOISE * y.var().nan_to_num(0.0).clamp_min(1e-12)
        return torch.full_like(y, max(declared**2, float(least)))

    def fitted(self) -> ModelListGP:
        """A default `SingleTaskGP` of every outcome, standardized, with the noise that the problem declares."""
        X, Y = self.X, self.Y
        models = []
        for column in range(len(self.names)):
            y = Y[:, column : column + 1]
            variance = self.noise_variance(column, y)
            models.append(SingleTaskGP(X, y, train_Yvar=variance, outcome_transform=Standardize(m=1)))
        model = ModelListGP(*models)
        fit(SumMarginalLogLikelihood(model.likelihood, model))
        return model

    def best(self) -> Params | None:
        """The best measured point that held every constraint; None if there is none."""
        best = best_measured(self.problem, self.points)
        return None if best is None else best.params


def fit(mll: SumMarginalLogLikelihood) -> None:
    """Fits the hyperparameters; where that fails, all stay at what their priors expect, as Ax does."""
    with contextlib.suppress(ModelFittingError):
        fit_gpytorch_mll(mll)


@contextlib.contextmanager
def seeded_and_quiet(seed: int) -> Iterator[None]:
    """BoTorch draws from torch's own generator, and warns of line searches that end in rounding errors."""
    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")
        torch.manual_seed(seed)
        yield
