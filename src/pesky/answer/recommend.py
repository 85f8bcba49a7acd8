"""The answer, as one principle, and the best of the points that were measured (METHOD 11).

Of the points that satisfy each constraint with its confidence it is the one whose objective can be promised lowest: the
value that it keeps with a probability of 90 %, or, of a point measured without noise, its value.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.answer import advice
from pesky.answer.prediction import Expectation, Prediction, expect, predict_each, promises
from pesky.answer.recommendation import Recommendation
from pesky.data.measured import MeasuredPoint, holds_all
from pesky.inference.inferred import SAME_ANSWER, Inferred
from pesky.numerics.runtime import threads_for
from pesky.optimum.measured import MOST_MEASURED, rank_of_some
from pesky.optimum.recommend import HOPELESS, recommend
from pesky.problem import Constraint
from pesky.store.evaluation import trials_of

COMPARED = 64
"""Measured points whose promises are compared, of those that are expected to be the best: what one takes is time."""


def recommendation_from(inferred: Inferred) -> Recommendation:
    """The point to use, with what is to be known of it."""
    found = _chosen(inferred)
    besides = (advice.passed_over, advice.contradicted, advice.far_beyond, advice.untried)
    more = [said for each in besides for said in each(inferred, found)]
    return replace(found, advice=" ".join([found.advice, *more]))


def _chosen(inferred: Inferred) -> Recommendation:
    """The best point anywhere, or the best measured one where that can be promised as low."""
    anywhere, measured = _described(inferred, [_anywhere(inferred), _best_of(inferred, _complete(inferred))])
    assert anywhere is not None
    failures = inferred.failures_at(inferred.space.encode(anywhere.params))
    if measured is None or (anywhere.is_confident and not measured.is_confident):
        if failures:
            return replace(anywhere, advice=f"Do not rely on it: {advice.failed_here(failures)}")
        return replace(anywhere, advice=advice.alone(inferred, anywhere))
    own = advice.alone(inferred, measured)
    if not anywhere.is_confident or anywhere.params == measured.params:
        return replace(measured, advice=own)
    if failures:
        return replace(measured, advice=f"{own} {advice.failed_elsewhere(anywhere, failures)}")
    ahead = inferred.problem.sign * (measured.promise - anywhere.promise)
    if ahead > inferred.tolerance * inferred.objective_range:
        return replace(
            anywhere, advice=f"{advice.alone(inferred, anywhere)} {advice.beside_measured(anywhere, measured)}"
        )
    return replace(measured, advice=f"{own} {advice.beside_expected(inferred, anywhere, measured)}".strip())


def best_anywhere(inferred: Inferred, most: float = 1.0) -> Recommendation:
    """The lowest expected objective where every constraint holds with its confidence, measured or not.

    `most` is the highest confidence that is asked of any.
    """
    (found,) = _described(inferred, [_anywhere(inferred, most)])
    assert found is not None
    return found


def best_from(inferred: Inferred) -> Recommendation | None:
    """The best of the points at which everything was measured; None if there is none."""
    return best_of(inferred, _complete(inferred))


def best_of(
    inferred: Inferred, points: Sequence[MeasuredPoint], *, most: int = MOST_MEASURED, compared: int = COMPARED
) -> Recommendation | None:
    """The best of these points; None if there is none.

    Of `most`, those that are expected to be the best are `compared` by their promises: of one, that decides alone.
    """
    (found,) = _described(inferred, [_best_of(inferred, points, most, compared)])
    return None if found is None else replace(found, advice=advice.alone(inferred, found))


class _Found(NamedTuple):
    """A point that may be the answer."""

    u: Float[Tensor, " d"]
    is_confident: bool
    point: MeasuredPoint | None
    """Where it was measured, if it was sought there."""


def _anywhere(inferred: Inferred, most: float = 1.0) -> _Found:
    """See `best_anywhere`."""
    confidence = torch.tensor(inferred.problem.confidences, dtype=torch.float64).clamp(max=most)
    with threads_for(inferred.count):
        found = recommend(inferred.belief, inferred.space, confidence, inferred.seed, inferred.facts)
    return _Found(found.u.cpu(), bool(found.is_confident), None)


def _complete(inferred: Inferred) -> list[MeasuredPoint]:
    """The points at which everything was measured."""
    return [point for point in inferred.points if point.is_complete(inferred.problem)]


def _best_of(
    inferred: Inferred, points: Sequence[MeasuredPoint], most: int = MOST_MEASURED, compared: int = COMPARED
) -> _Found | None:
    """The one of these points that can be promised lowest; None if there is none.

    Where none satisfies every constraint with its confidence, it is the one that most probably does, of those that did
    as measured if any; or, where all are hopeless, the one that misses the least.
    """
    problem = inferred.problem
    points = [point for point in points if inferred.space.contains(point.params)]
    if not points:
        return None
    U = torch.stack([inferred.encode(point.evaluations[0]) for point in points])
    if len(points) > most:
        some = rank_of_some(inferred.belief, U).argsort()[:most].cpu()
        U, points = U[some], [points[i] for i in some.tolist()]
    exact = [inferred.certain(point.told) for point in points]
    each = expect(inferred, U, exact)
    held = [i for i, e in enumerate(each) if e.holds(problem.confidences)]
    if held:
        held = sorted(held, key=lambda i: problem.sign * each[i].outcomes[problem.objective])[:compared]
        promised = promises(inferred, U[held], [exact[i] for i in held])
        best = held[min(range(len(held)), key=lambda i: problem.sign * promised[i])]
        return _Found(U[best], True, points[best])
    chance = [log_probability(problem.conditions, [*e.probabilities.values()]) for e in each]
    if max(chance) < HOPELESS:
        chance = [-_shortfall(inferred, e) for e in each]
    did = [holds_all(problem, {**e.outcomes, **point.told}) for e, point in zip(each, points, strict=True)]
    best = max(range(len(each)), key=lambda i: (did[i], chance[i]))
    return _Found(U[best], False, points[best])


def _shortfall(inferred: Inferred, expectation: Expectation) -> float:
    """How far all constraints on numbers are missed, in ranges of the values that were told of each."""
    total = 0.0
    for c in inferred.problem.conditions:
        if c.outcome in expectation.outcomes:
            values = [point.told[c.outcome] for point in inferred.points if c.outcome in point.told]
            missed = c.direction * (c.threshold - expectation.outcomes[c.outcome])
            total += max(missed, 0.0) / ((max(values) - min(values) if values else 0.0) or 1.0)
    return total


def log_probability(conditions: Sequence[Constraint], probabilities: Sequence[float]) -> float:
    """Log of the probability that all conditions hold, of those of each.

    Outcomes are independent of each other. One with thresholds on both sides cannot be beyond both.
    """
    sides: dict[str, dict[str, float]] = {}
    for condition, p in zip(conditions, probabilities, strict=True):
        own = sides.setdefault(condition.outcome, {})
        own[condition.sense] = min(p, own.get(condition.sense, 1.0))
    held = [sum(own.values()) - (len(own) - 1) for own in sides.values()]
    return sum(math.log(max(each, 1e-300)) for each in held)


def _described(inferred: Inferred, each: Sequence[_Found | None]) -> list[Recommendation | None]:
    """What is believed of the points that were found, where any was; all in one go."""
    own = [found for found in each if found is not None]
    predictions = iter(predict_each(inferred, torch.stack([found.u for found in own])) if own else ())
    return [None if found is None else _recommendation(inferred, found, next(predictions)) for found in each]


def _recommendation(inferred: Inferred, found: _Found, prediction: Prediction) -> Recommendation:
    problem, measured = inferred.problem, inferred.at(found.u)
    value = prediction.outcomes[problem.objective]
    ids = () if measured is None else tuple(e.id for e in measured.evaluations)
    return Recommendation(
        params=prediction.params if found.point is None else found.point.params,
        objective=problem.objective,
        expected=value.mean,
        deviation=value.deviation,
        interval=value.interval,
        promise=prediction.promise,
        probabilities=prediction.probabilities,
        # a fact is one within SAME_ANSWER of where it was measured; the search takes closer points apart
        is_confident=found.is_confident and all(prediction.probabilities.values()),
        is_measured=measured is not None and measured.is_complete(problem),
        evaluations=ids,
        trials={} if measured is None else trials_of(measured.evaluations),
        told={} if measured is None else dict(measured.told),
        yes_no=frozenset(condition.outcome for condition in problem.conditions if condition.is_yes_no),
        nearest=_nearest(inferred, found.u),
    )


def _nearest(inferred: Inferred, u: Float[Tensor, " d"]) -> float | None:
    """How far the nearest other measured point is; None if there is none."""
    apart = (inferred.U - u).abs().amax(-1)
    others = apart[apart > SAME_ANSWER]
    return float(others.min()) if len(others) else None
