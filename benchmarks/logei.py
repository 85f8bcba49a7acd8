"""The yardstick among the rules: BoTorch's own constrained LogEI, on the belief that all other rules see."""

import warnings
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.analytic import LogConstrainedExpectedImprovement, LogProbabilityOfFeasibility
from botorch.optim import optimize_acqf
from torch import Tensor

from benchmarks.as_botorch import as_botorch
from pesky.acquire.base import Context, PointPreference, Rule
from pesky.errors import ProblemError
from pesky.model import GaussianProcess
from pesky.optimum.recommend import recommend

RESTARTS, RAW_SAMPLES = 8, 512


@dataclass(frozen=True)
class BotorchLogEI(Rule):
    """The point where `LogConstrainedExpectedImprovement` is largest, as `optimize_acqf` finds it.

    The incumbent is the objective's mean at the study's recommendation; while nothing is recommended with
    confidence, the probability of feasibility alone is maximized (METHOD 16).
    """

    name: ClassVar[str] = "botorch-logei"
    measures: ClassVar[Literal["each", "together"]] = "together"
    in_nats: ClassVar[bool] = False

    def check(self, dim: int, constraints: int) -> None:
        if not constraints:
            raise ProblemError("BoTorch's constrained LogEI needs a constraint, and this problem has none.")

    def acquisition(self, context: Context) -> PointPreference:
        belief = context.belief
        assert isinstance(belief, GaussianProcess)
        advice = recommend(belief, context.space, context.confidence, context.seed)
        acquisition = build_logei(belief, advice.u if advice.is_confident else None)
        bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, context.space.dim)
        torch.manual_seed(context.draw_seed())  # optimize_acqf draws from it
        with warnings.catch_warnings():
            # Late in a noise-free run its line searches end in rounding errors; BoTorch says so and tries again.
            warnings.simplefilter("ignore", RuntimeWarning)
            u, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
        return PointPreference(belief, u[0], torch.ones(1, dtype=torch.float64))


def build_logei(belief: GaussianProcess, incumbent: Tensor | None) -> AcquisitionFunction:
    """Constrained LogEI over the mean at the incumbent, or the log probability of feasibility without one."""
    model = as_botorch(belief)
    limits: dict[int, tuple[float | None, float | None]] = dict.fromkeys(range(1, len(belief.mask)), (0.0, None))
    if incumbent is None:
        return LogProbabilityOfFeasibility(model, limits)
    lead = belief.amplitude.shape[:-1]
    best = belief.mean(incumbent.expand(*lead, 1, -1)).reshape(-1)[0]
    return LogConstrainedExpectedImprovement(model, best, 0, limits, maximize=False)
