"""What is believed of one point, in the user's units."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.infer.gaussian import log_density
from pesky.inference.inferred import Inferred
from pesky.model.belief import Belief, for_hyper_samples, over_hyper_samples
from pesky.model.moments import moments_of
from pesky.numerics.runtime import threads_for
from pesky.observations import Observations
from pesky.problem import Constraint, Option, Problem
from pesky.store.evaluation import short

LEVEL = 0.9
"""The probability of the intervals."""
LOPSIDED = 1 / 3
"""How far what is expected may be from the middle of its interval, as a share of the way to its end, for a deviation
on either side to be true."""


@dataclass(frozen=True)
class OutcomePrediction:
    """What is believed of an outcome: of the function, not of a measurement of it with its noise."""

    mean: float
    deviation: float
    """Of the normal distribution whose interval is as wide."""
    interval: tuple[float, float]
    """Holds the value with a probability of 90 %, as much on either side; hyperparameters are uncertain in it."""

    @classmethod
    def known(cls, value: float) -> "OutcomePrediction":
        """Of a value that is certain."""
        return cls(value, 0.0, (value, value))

    def __str__(self) -> str:
        return f"{self.mean:.6g}{self.spread_in_words()}"

    def spread_in_words(self, number: Callable[[float], str] = "{:.6g}".format) -> str:
        """The deviation and the interval, after the mean; the interval alone where it is lopsided."""
        if self.deviation == 0:
            return ""
        low, high = self.interval
        is_lopsided = abs(self.mean - (low + high) / 2) > LOPSIDED * (high - low) / 2
        around = "" if is_lopsided else f" ± {self.deviation:.2g}"
        return f"{around} (90 %: {number(low)} to {number(high)})"


@dataclass(frozen=True)
class Prediction:
    """What is believed of every outcome at one point, and how probably each constraint holds there."""

    params: Mapping[str, Option]
    outcomes: Mapping[str, OutcomePrediction]
    """Of every outcome that is a number."""
    probabilities: Mapping[str, float]
    """Probability that each constraint holds, by its text."""
    promise: float
    """The value that the objective keeps with a probability of 90 %: at most so much, or at least where maximized."""

    def __str__(self) -> str:
        lines = [", ".join(f"{name} = {short(value)}" for name, value in self.params.items())]
        lines += [f"{name}: {each}" for name, each in self.outcomes.items()]
        lines += [f"P({text}) = {p:.4g}" for text, p in self.probabilities.items()]
        return "\n".join(lines)


def constraint_texts(problem: Problem) -> list[str]:
    """How each condition is called in answers."""
    return [str(condition).removesuffix(" is true") for condition in problem.conditions]


@dataclass(frozen=True)
class Expectation:
    """What is expected of every outcome that is a number, and how probably each constraint holds."""

    outcomes: Mapping[str, float]
    probabilities: Mapping[str, float]

    def holds(self, confidences: Sequence[float]) -> bool:
        """Whether each constraint holds with its confidence."""
        return all(p >= asked for p, asked in zip(self.probabilities.values(), confidences, strict=True))


def expect(known: Inferred, U: Float[Tensor, "x d"], exact: Sequence[Mapping[str, float]]) -> list[Expectation]:
    """What is expected at each point of U.

    `exact` are the outcomes that are certain there, because they were measured without noise: the noise of such rows
    has a floor in the model, for the sake of its arithmetic, and what was measured decides.
    """
    problem, belief, observations = known.problem, known.belief, known.observations
    with threads_for(known.count), torch.no_grad():
        mean, variance = moments_at(belief, U)
        held = belief.likelihoods.holds(mean, variance).mean(0).mT.tolist()
        expected = {
            name: (
                observations.mean_to_user(row, mean[:, row].mT, variance[:, row].mT)
                if name not in problem.known
                else observations.to_user(row, mean[:, row].mT)
            )
            .mean(-1)
            .tolist()
            for name, row in numbers(problem, observations).items()
        }
    conditions = dict(zip(constraint_texts(problem), problem.conditions, strict=True))
    return [
        Expectation(
            {name: certain.get(name, values[i]) for name, values in expected.items()},
            _probabilities(problem, conditions, held[i], certain),
        )
        for i, certain in enumerate(exact)
    ]


def numbers(problem: Problem, observations: Observations) -> dict[str, int]:
    """The outcomes that are numbers, each with its row."""
    is_number = observations.likelihoods.is_gaussian.tolist()
    return {name: row for row, name in enumerate(problem.rows) if name not in problem.yes_no and is_number[row]}


def _probabilities(
    problem: Problem, conditions: Mapping[str, Constraint], held: Sequence[float], exact: Mapping[str, float]
) -> dict[str, float]:
    probabilities = {}
    for p, (text, condition) in zip(held, conditions.items(), strict=True):
        if condition.outcome in exact:
            p = float(condition.holds(exact[condition.outcome]))
        elif condition.outcome in problem.known:  # the little doubt of its row is there for the mathematics alone
            p = float(p >= 0.5)
        probabilities[text] = p
    return probabilities


def predict(known: Inferred, u: Float[Tensor, " d"]) -> Prediction:
    """What is believed at a point; what was measured there without noise is certain."""
    return predict_each(known, u[None])[0]


def predict_each(known: Inferred, U: Float[Tensor, "x d"]) -> list[Prediction]:
    """The same of several points, in the time of one.

    Intervals are those of hyperparameters that are as uncertain as the data leave them.
    """
    problem, observations, exact = known.problem, known.observations, known.exact_at(U)
    believed = expect(known, U, exact)
    with threads_for(known.count), torch.no_grad():
        mean, variance = moments_at(known.spread, U)
    tails = torch.tensor([(1 - LEVEL) / 2, (1 + LEVEL) / 2], dtype=mean.dtype, device=mean.device)
    own = numbers(problem, observations)
    rows = {name: row for name, row in own.items() if name not in problem.known}
    ends = intervals(observations, list(rows.values()), mean, variance.sqrt(), tails)
    widths = dict(zip(rows, ends, strict=True))

    def outcome(name: str, at: int) -> OutcomePrediction:
        expected = believed[at].outcomes[name]
        if name not in widths or name in exact[at]:
            return OutcomePrediction.known(expected)
        return _with_interval(expected, *widths[name][at])

    promised = _promises(known, believed, exact, mean, variance)
    return [
        Prediction(
            known.space.decode(u), {name: outcome(name, at) for name in own}, believed[at].probabilities, promise
        )
        for at, (u, promise) in enumerate(zip(U, promised, strict=True))
    ]


def promises(known: Inferred, U: Float[Tensor, "x d"], exact: Sequence[Mapping[str, float]]) -> list[float]:
    """The value that the objective keeps with a probability of 90 % at each point; what is certain, as it is."""
    believed, objective = expect(known, U, exact), known.problem.objective
    if objective in known.problem.known or all(objective in certain for certain in exact):
        return [each.outcomes[objective] for each in believed]
    with threads_for(known.count), torch.no_grad():
        return _promises(known, believed, exact, *moments_at(known.spread, U))


def _promises(
    known: Inferred,
    believed: Sequence[Expectation],
    exact: Sequence[Mapping[str, float]],
    mean: Float[Tensor, "h j x"],
    variance: Float[Tensor, "h j x"],
) -> list[float]:
    """The same of what is believed there; it is never better than what is expected."""
    objective, sign = known.problem.objective, known.problem.sign
    if objective in known.problem.known:
        return [each.outcomes[objective] for each in believed]
    tails = torch.tensor([1 - LEVEL, LEVEL], dtype=mean.dtype, device=mean.device)
    (ends,) = intervals(known.observations, [0], mean, variance.sqrt(), tails)
    return [
        certain.get(objective, sign * max(sign * each.outcomes[objective], *(sign * end for end in own)))
        for certain, each, own in zip(exact, believed, ends, strict=True)
    ]


def intervals(
    o: Observations,
    rows: Sequence[int],
    mean: Float[Tensor, "h j x"],
    deviation: Float[Tensor, "h j x"],
    tails: Float[Tensor, " 2"],
) -> list[list[tuple[float, float]]]:
    """The ends of the intervals of some rows at each point, in the outcomes' own units.

    They are these quantiles of mixtures.
    """
    if o.warp is not None and o.warp.strength.dim() > 1:
        ends = [torch.vmap(partial(quantiles_to_user, o, row, p=tails), in_dims=1) for row in rows]
        each = [own(mean[:, row], deviation[:, row]) for own, row in zip(ends, rows, strict=True)]
    else:
        found = mixture_quantiles(mean[:, rows], deviation[:, rows], tails)
        each = [o.to_user(row, own) for row, own in zip(rows, found, strict=True)]
    return [[(min(ends), max(ends)) for ends in own.tolist()] for own in each]


def moments_at(belief: Belief, U: Float[Tensor, "x d"]) -> tuple[Float[Tensor, "h j x"], Float[Tensor, "h j x"]]:
    """Mean and variance of every row at each point, for each sample of the hyperparameters."""
    mean, variance = (over_hyper_samples(belief, each, 2) for each in moments_of(belief, for_hyper_samples(belief, U)))
    return mean, variance


def _with_interval(expected: float, low: float, high: float) -> OutcomePrediction:
    """What is expected, with the interval of a mixture of Gaussians."""
    low, high = min(low, expected), max(high, expected)
    return OutcomePrediction(expected, (high - low) / (2 * NormalDist().inv_cdf((1 + LEVEL) / 2)), (low, high))


def quantiles_to_user(
    o: Observations, row: int, mean: Float[Tensor, " s"], deviation: Float[Tensor, " s"], p: Float[Tensor, " q"]
) -> Float[Tensor, " q"]:
    """Quantiles of a mixture in the outcome's own units, where each of its parts may be warped in its own way."""
    if o.warp is None or o.warp.strength.dim() == 1:
        return o.to_user(row, mixture_quantiles(mean, deviation, p))

    def share_below(values: Float[Tensor, " q"]) -> Float[Tensor, " q"]:
        below = torch.special.ndtr((o.from_user(row, values[:, None]) - mean) / deviation).mean(-1)
        return below if float(o.direction[row]) > 0 else 1 - below

    ends = o.to_user(row, mean + deviation * torch.special.ndtri(p[:, None]))
    return _bisected(share_below, ends.amin().expand_as(p), ends.amax().expand_as(p), p)


QUANTILE = 1e-12
"""How exact the quantiles of mixtures are, beside what the quantiles of their parts are apart."""


def mixture_quantiles(
    mean: Float[Tensor, "h *r"], deviation: Float[Tensor, "h *r"], p: Float[Tensor, " q"]
) -> Float[Tensor, "*r q"]:
    """The quantiles of a mixture of as many Gaussians of equal weight, or of each of several.

    By Newton's steps, or halves where one leaves what is known to hold the quantile: between those of the parts.
    """
    mean, deviation = mean[..., None], deviation[..., None]
    parts = mean + deviation * torch.special.ndtri(p)
    if len(parts) == 1:
        return parts[0]
    low, high = parts.amin(0), parts.amax(0)
    close, found = QUANTILE * (high - low), parts.mean(0)
    for _ in range(100):  # a handful, but where some parts are points beside the others
        z = (found - mean) / deviation
        short = p - torch.special.ndtr(z).mean(0)
        low, high = torch.where(short > 0, found, low), torch.where(short > 0, high, found)
        after = found + short / (log_density(z).exp() / deviation).mean(0)
        after = torch.where((after >= low) & (after <= high), after, (low + high) / 2)
        step, found = (after - found).abs(), after
        if bool((step <= close).all()):
            break
    return found


def _bisected(
    increasing: Callable[[Tensor], Tensor],
    low: Float[Tensor, "*r q"],
    high: Float[Tensor, "*r q"],
    wanted: Float[Tensor, " q"],
) -> Float[Tensor, "*r q"]:
    """Where a function has the wanted values, between low and high."""
    for _ in range(40):  # to 1e-12 of what is between
        middle = (low + high) / 2
        is_below = increasing(middle) < wanted
        low, high = torch.where(is_below, middle, low), torch.where(is_below, high, middle)
    return (low + high) / 2
