"""One ask of BoTorch's constrained rules with the defaults of its tutorials: fit, build, `optimize_acqf`."""

from collections.abc import Callable

import torch
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.analytic import LogConstrainedExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import GenericMCObjective
from botorch.fit import fit_gpytorch_mll
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import SumMarginalLogLikelihood
from torch import Tensor

from benchmarks.case import Measured


def prepare_logei(measured: Measured, seed: int) -> Callable[[], None]:
    """An ask by analytic constrained LogEI."""
    return lambda: ask(measured, seed, logei)


def prepare_qlognei(measured: Measured, seed: int) -> Callable[[], None]:
    """An ask by constrained qLogNEI with 128 quasi-random samples, q = 1."""
    return lambda: ask(measured, seed, qlognei)


def ask(measured: Measured, seed: int, build: Callable[[ModelListGP, Measured, int], AcquisitionFunction]) -> None:
    """Fits a GP per row and maximizes the rule that `build` makes of them."""
    torch.manual_seed(seed)
    model = fitted(measured)
    acquisition = build(model, measured, seed)
    d = measured.X.shape[-1]
    bounds = torch.tensor([[0.0] * d, [1.0] * d], dtype=measured.X.dtype)
    optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)


def fitted(measured: Measured) -> ModelListGP:
    """One default `SingleTaskGP` per row, fitted together."""
    model = ModelListGP(
        *(SingleTaskGP(measured.X, y.unsqueeze(-1), outcome_transform=Standardize(m=1)) for y in measured.Y.unbind(-1))
    )
    fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
    return model


def logei(model: ModelListGP, measured: Measured, seed: int) -> AcquisitionFunction:
    """Analytic constrained LogEI over the best feasible observation."""
    is_feasible = (measured.Y[:, 1:] >= 0).all(-1)
    return LogConstrainedExpectedImprovement(
        model,
        best_f=measured.Y[is_feasible, 0].min(),
        objective_index=0,
        constraints=dict.fromkeys(range(1, measured.Y.shape[-1]), (0.0, None)),
        maximize=False,
    )


def qlognei(model: ModelListGP, measured: Measured, seed: int) -> AcquisitionFunction:
    """Constrained qLogNEI; BoTorch maximizes and holds a constraint feasible when negative."""

    def objective(Z: Tensor, X: Tensor | None = None) -> Tensor:
        return -Z[..., 0]

    def slack(row: int) -> Callable[[Tensor], Tensor]:
        return lambda Z: -Z[..., row]

    return qLogNoisyExpectedImprovement(
        model,
        X_baseline=measured.X,
        sampler=SobolQMCNormalSampler(torch.Size([128]), seed=seed),
        objective=GenericMCObjective(objective),
        constraints=[slack(row) for row in range(1, measured.Y.shape[-1])],
    )
