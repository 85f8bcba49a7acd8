"""BoTorch's constrained improvement rules, by its tutorials: default models and `optimize_acqf`."""

from collections.abc import Callable

import torch
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.analytic import LogConstrainedExpectedImprovement, LogProbabilityOfFeasibility
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import GenericMCObjective
from botorch.models import ModelListGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from torch import Tensor

from benchmarks.peers.base import Params, Question, Values
from benchmarks.peers.botorch_data import BotorchData, seeded_and_quiet
from pesky.errors import ProblemError
from pesky.problem import Problem

RESTARTS, RAW_SAMPLES, MC_SAMPLES = 10, 512, 128

Build = Callable[[BotorchData, ModelListGP, int], AcquisitionFunction]


class BotorchPeer:
    """The point where an acquisition function is largest, given the models of all that was measured."""

    def __init__(self, problem: Problem, seed: int, evaluations: int, name: str, build: Build) -> None:
        self.data, self.seed, self.build = BotorchData(problem, name), seed, build
        if build is logei and problem.objective in {each.outcome for each in problem.constraints}:
            raise ProblemError(
                f"{name} holds objective and constraints independent, and this objective is constrained."
            )
        self.model: ModelListGP | None = None
        """That of all data; None where it is not fitted yet."""

    def ask(self) -> Question:
        space, count = self.data.space, len(self.data.points)
        with seeded_and_quiet(1000 * self.seed + count):
            model = self._fitted()
            if bool((self.data.violations <= 0).all(-1).any()):
                acquisition = self.build(self.data, model, self.seed)
            else:  # BoTorch itself advises this where every point is infeasible
                acquisition = LogProbabilityOfFeasibility(model, self.data.limits)
            bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, space.dim)
            u, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
        return Question(space.decode(u[0].detach()))

    def tell(self, params: Params, values: Values) -> None:
        self.data.add(params, values)
        self.model = None

    def answer(self) -> Params | None:
        """The best that was measured; with noise, by the models' means where they hold the constraints likely."""
        return self.data.best() if self.data.is_exact else most_probable(self.data, self._fitted())

    def _fitted(self) -> ModelListGP:
        if self.model is None:
            with seeded_and_quiet(self.seed):
                self.model = self.data.fitted()
        return self.model


def logei(data: BotorchData, model: ModelListGP, seed: int) -> AcquisitionFunction:
    """Analytic constrained LogEI over the best feasible measurement."""
    is_feasible = (data.violations <= 0).all(-1)
    best = (data.problem.sign * data.Y[is_feasible, 0]).min() * data.problem.sign
    return LogConstrainedExpectedImprovement(model, best, 0, data.limits, maximize=data.problem.sign < 0)


def qlognei(data: BotorchData, model: ModelListGP, seed: int) -> AcquisitionFunction:
    """Constrained qLogNEI: the improvement over what the measured points truly are."""

    def objective(Z: Tensor, X: Tensor | None = None) -> Tensor:
        return -data.problem.sign * Z[..., 0]

    return qLogNoisyExpectedImprovement(
        model,
        X_baseline=data.X,
        sampler=SobolQMCNormalSampler(torch.Size([MC_SAMPLES]), seed=seed),
        objective=GenericMCObjective(objective),
        constraints=data.slacks,
        prune_baseline=True,
    )


def most_probable(data: BotorchData, model: ModelListGP) -> Params:
    """The measured point of the best mean among those that hold each constraint with its confidence.

    Where none does, that which most probably holds them all.
    """
    with torch.no_grad():
        posterior = model.posterior(data.X)
        mean, deviation = posterior.mean, posterior.variance.clamp_min(1e-18).sqrt()
    probabilities = []
    for each in data.problem.constraints:
        column = data.names.index(each.outcome)
        z = each.direction * (mean[:, column] - each.threshold) / deviation[:, column]
        probabilities.append(torch.special.ndtr(z))
    likely = torch.stack(probabilities, -1)
    is_sure = (likely >= torch.tensor([each.confidence for each in data.problem.constraints])).all(-1)
    if bool(is_sure.any()):
        chosen = (data.problem.sign * mean[:, 0]).masked_fill(~is_sure, torch.inf).argmin()
    else:
        chosen = likely.prod(-1).argmax()
    return data.points[int(chosen)].params
