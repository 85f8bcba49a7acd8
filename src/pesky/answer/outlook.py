"""What is believed at many points, in the user's units: lines and maps of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pesky.answer.prediction import LEVEL, constraint_texts, expect, intervals, moments_at, numbers
from pesky.inference.inferred import Inferred

CHUNK = 512
"""Points at once: with a thousand data their covariances are 4 MB for each row and sample of hyperparameters."""


@dataclass(frozen=True)
class Outlook:
    """What `Study.predict` says at each of many points, one array for each outcome or constraint."""

    mean: Mapping[str, np.ndarray]
    """Of every outcome that is a number."""
    low: Mapping[str, np.ndarray]
    high: Mapping[str, np.ndarray]
    """The ends of the interval that holds its value with a probability of 90 %."""
    probabilities: Mapping[str, np.ndarray]
    """That each constraint holds, by its text."""
    feasible: np.ndarray
    """Probability that all of them hold at once."""


def outlook_at(inferred: Inferred, U: Float[Tensor, "x d"], *, with_intervals: bool = True) -> Outlook:
    """What is believed at each point of U; without intervals, which take longest, `low` and `high` are empty."""
    parts = [_outlook(inferred, chunk, with_intervals) for chunk in U.split(CHUNK)]

    def joined(name: str) -> dict[str, np.ndarray]:
        each = [getattr(part, name) for part in parts]
        return {key: np.concatenate([one[key] for one in each]) for key in each[0]}

    mean, low, high, probabilities = (joined(name) for name in ("mean", "low", "high", "probabilities"))
    return Outlook(mean, low, high, probabilities, np.concatenate([part.feasible for part in parts]))


def _outlook(inferred: Inferred, U: Float[Tensor, "x d"], with_intervals: bool) -> Outlook:
    problem, belief = inferred.problem, inferred.belief
    each = expect(inferred, U, [{}] * len(U))
    mean = {name: np.array([e.outcomes[name] for e in each]) for name in numbers(problem, inferred.observations)}
    low, high = _intervals(inferred, U, mean) if with_intervals else ({}, {})
    probabilities = {text: np.array([e.probabilities[text] for e in each]) for text in constraint_texts(problem)}
    if not probabilities:
        return Outlook(mean, low, high, probabilities, np.ones(len(U)))
    with torch.no_grad():
        chance = belief.likelihoods.log_all_hold(*moments_at(belief, U)).exp().mean(0)
    return Outlook(mean, low, high, probabilities, chance.numpy())


def _intervals(
    inferred: Inferred, U: Float[Tensor, "x d"], expected: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Low and high ends for each outcome; of a known one, its value."""
    o = inferred.observations
    tails = torch.tensor([(1 - LEVEL) / 2, (1 + LEVEL) / 2], dtype=torch.float64)
    low, high = dict(expected), dict(expected)
    with torch.no_grad():
        mean, variance = moments_at(inferred.spread, U)
        for name, row in numbers(inferred.problem, o).items():
            if name not in inferred.problem.known:
                (ends,) = intervals(o, [row], mean, variance.sqrt(), tails)
                low[name], high[name] = (np.array(each) for each in zip(*ends, strict=True))
                low[name], high[name] = np.minimum(low[name], expected[name]), np.maximum(high[name], expected[name])
    return low, high
