"""The rules that `benchmarks.optimize` compares, each as: which outcomes to measure next, and where.

All see the same study: its data, its fitted belief and its last recommendation. Only PESC chooses single
outcomes; the others measure all of them at their point.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.analytic import LogConstrainedExpectedImprovement, LogProbabilityOfFeasibility
from botorch.optim import optimize_acqf
from torch import Tensor

import pesky
from benchmarks.as_botorch import as_botorch
from pesky.model import GaussianProcess
from pesky.problem import Option
from pesky.space import Space

RESTARTS, RAW_SAMPLES = 8, 512


class Question(NamedTuple):
    """What to measure, where, and how to tell the study the answer."""

    params: Mapping[str, Option]
    outcomes: Sequence[str]
    answer: Callable[[dict[str, float]], None]


def ask_pesc(study: pesky.Study, recommendation: pesky.Recommendation, generator: torch.Generator) -> Question:
    """The study's own question."""
    evaluation = study.ask()
    outcomes = study.problem.tasks[evaluation.task].outcomes

    def answer(values: dict[str, float]) -> None:
        study.tell(evaluation, values)

    return Question(evaluation.params, outcomes, answer)


def ask_logei(study: pesky.Study, recommendation: pesky.Recommendation, generator: torch.Generator) -> Question:
    """Where BoTorch's analytic constrained LogEI is largest, given the study's belief.

    The incumbent is the objective's mean at the study's recommendation; while nothing is recommended with
    confidence, the probability of feasibility alone is maximized (METHOD 16).
    """
    space = Space.of(study.problem)
    belief = study.belief()
    assert isinstance(belief, GaussianProcess)
    incumbent = space.encode(recommendation.params) if recommendation.is_confident else None
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, space.dim)
    torch.manual_seed(torch.randint(2**31, (), generator=generator).item())  # optimize_acqf draws from it
    rule = build_logei(belief, incumbent)
    with warnings.catch_warnings():
        # Late in a noise-free run its line searches end in rounding errors; BoTorch says so and tries again.
        warnings.simplefilter("ignore", RuntimeWarning)
        u, _ = optimize_acqf(rule, bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
    return joint_question(study, u[0])


def build_logei(belief: GaussianProcess, incumbent: Tensor | None) -> AcquisitionFunction:
    """Constrained LogEI over the mean at the incumbent, or the log probability of feasibility without one."""
    model = as_botorch(belief)
    limits: dict[int, tuple[float | None, float | None]] = dict.fromkeys(range(1, len(belief.mask)), (0.0, None))
    if incumbent is None:
        return LogProbabilityOfFeasibility(model, limits)
    lead = belief.amplitude.shape[:-1]
    best = belief.mean(incumbent.expand(*lead, 1, -1)).reshape(-1)[0]
    return LogConstrainedExpectedImprovement(model, best, 0, limits, maximize=False)


def ask_random(study: pesky.Study, recommendation: pesky.Recommendation, generator: torch.Generator) -> Question:
    """A point drawn uniformly."""
    dim = Space.of(study.problem).dim
    return joint_question(study, torch.rand(dim, generator=generator, dtype=torch.float64))


def joint_question(study: pesky.Study, u: Tensor) -> Question:
    """All outcomes at a point of the unit cube."""
    params = Space.of(study.problem).decode(u)

    def answer(values: dict[str, float]) -> None:
        study.add(params, values)

    return Question(params, study.problem.outcomes, answer)


RULES = {"pesc": ask_pesc, "paper": ask_pesc, "logei": ask_logei, "random": ask_random}
"""`paper` is PESC in the setting of the paper."""
