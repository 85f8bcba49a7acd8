"""What was predicted of measurements before they were made, and what came out."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.answer.prediction import LEVEL, expect, moments_at, numbers, quantiles_to_user
from pesky.inference.inferred import Inferred
from pesky.model.belief import over_hyper_samples
from pesky.show.findings import Findings
from pesky.store import Evaluation

STATES = 100
"""So many times at most what was known is looked at anew; of more measurements several are predicted at once."""


@dataclass(frozen=True)
class Forecast:
    """Of a number, with the noise of its measurement."""

    evaluation: int
    outcome: str
    value: float
    """What was measured."""
    median: float
    low: float
    high: float
    """Ends of the interval that was to hold it with a probability of 90 %."""
    share_below: float
    """The probability that was given to lower values: evenly spread from 0 to 1, if predictions are right."""


@dataclass(frozen=True)
class Chance:
    """Of a yes or no."""

    evaluation: int
    outcome: str
    is_yes: bool
    probability: float
    """Of a yes."""


def forecasts_of(findings: Findings) -> tuple[list[Forecast], list[Chance]]:
    """Predictions of every measurement from all that had been told before it.

    Hyperparameters are those of the last moment before it; see `Findings.moments`. What is known, and what was measured
    before anything was believed, is not among them.
    """
    forecasts, chances = [], []
    stride = -(-len(findings.ended) // STATES)
    for before, after in zip(findings.moments, findings.moments[1:], strict=False):
        new = [e for id_, e in after.known.items() if id_ not in before.known]
        inferred, since = before.inferred, 0
        for at, e in enumerate(new):
            if e.is_excluded or not e.outcomes or (u := inferred.space.place(e.params)) is None:
                continue
            if at - since >= stride:
                known = before.known | {each.id: each for each in new[:at]}
                inferred, since = findings.study.inferred(known, after=before.inferred), at
            forecasts += _numbers(inferred, e, u)
            chances += _chances(inferred, e, u)
    return forecasts, chances


def _numbers(inferred: Inferred, e: Evaluation, u: Float[Tensor, " d"]) -> Iterable[Forecast]:
    o, spread = inferred.observations, inferred.spread
    tails = torch.tensor([(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2], dtype=torch.float64)
    with torch.no_grad():
        mean, variance = (part[..., 0] for part in moments_at(spread, u[None]))
        noise = over_hyper_samples(spread, spread.noise)
        for name, row in numbers(inferred.problem, o).items():
            if name in e.outcomes and name not in inferred.problem.known:
                deviation = (variance[:, row] + noise[:, row]).sqrt()
                low, median, high = sorted(quantiles_to_user(o, row, mean[:, row], deviation, tails).tolist())
                scaled = o.from_user(row, torch.tensor([[e.outcomes[name]]], dtype=torch.float64))
                below = float(torch.special.ndtr((scaled - mean[:, row]) / deviation).mean())
                below = below if float(o.direction[row]) > 0 else 1 - below
                yield Forecast(e.id, name, e.outcomes[name], median, low, high, below)


def _chances(inferred: Inferred, e: Evaluation, u: Float[Tensor, " d"]) -> Iterable[Chance]:
    (expected,) = expect(inferred, u[None], [{}])
    for p, condition in zip(expected.probabilities.values(), inferred.problem.conditions, strict=True):
        if condition.is_yes_no and condition.outcome in e.outcomes:
            is_yes = bool(e.outcomes[condition.outcome])
            yield Chance(e.id, condition.outcome, is_yes, p if condition.threshold else 1 - p)
