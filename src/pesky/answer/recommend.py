"""The recommendation that follows from what was measured, and the best of the points that were measured."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.answer import advice
from pesky.answer.prediction import Expectation, Prediction, expect, predict_each
from pesky.answer.recommendation import Recommendation
from pesky.data.measured import MeasuredPoint, holds_all
from pesky.inference.inferred import SAME_ANSWER, Inferred
from pesky.numerics.runtime import threads_for
from pesky.optimum.compare import probability_lower
from pesky.optimum.measured import MOST_MEASURED, rank_of_some
from pesky.optimum.recommend import HOPELESS, recommend
from pesky.problem import Constraint, Problem
from pesky.store import Evaluation
from pesky.store.evaluation import trials_of

SURE = 0.9
"""How probably a point that nobody measured must be better than the best measured one to be recommended instead.

The lowest mean of many is lower than the truth there, the more so the less the model fits: a point that is only
expected to be better turns out worse in half of all cases."""
TRIVIAL, TRIVIAL_IN_NOISE = 1e-5, 2e-3
"""The part of the range of the objective's measured values that is no reason to leave a measured point; and where the
objective has noise, which few values are known by too well."""
LEAST_CHANCE = 0.5
"""Where nothing holds every constraint with its confidence: how probably a measured point that did as measured must do
so to be the answer, beside the one that most probably does. That is the best of many, and seems better than it is."""
CONFIRMING = "confirming"
"""What a question says of itself that confirms a recommendation."""
LIKELY = 64
"""Measured points that are looked at first: if any of them holds all constraints, the best one that does is there."""
ENOUGH = 2
"""Answers in a row that turned out to be none, from which on none that nobody measured is believed."""


def recommendation_from(inferred: Inferred) -> Recommendation:
    """The point to use: the best one anywhere, unless it is not sure enough to be better than the best measured one."""
    found = _better_of_two(inferred)
    besides = (advice.passed_over, advice.contradicted, advice.far_beyond, advice.untried)
    return replace(
        found, advice=" ".join([found.advice, *(said for each in besides for said in each(inferred, found))])
    )


def _better_of_two(inferred: Inferred) -> Recommendation:
    """The best one anywhere or the best measured one, with the reasons."""
    model, measured = _described(inferred, [_anywhere(inferred), _best_of(inferred, _complete(inferred))])
    assert model is not None
    if failures := inferred.failures_at(inferred.space.encode(model.params)):
        if measured is None or not measured.is_confident:
            return replace(model, advice=f"Do not rely on it: {advice.failed_here(failures)}")
        if model.params != measured.params:
            return replace(
                measured, advice=f"{advice.alone(inferred, measured)} {advice.failed_elsewhere(model, failures)}"
            )
    if measured is None or model.params == measured.params:
        return replace(model, advice=advice.alone(inferred, model))
    if model.is_confident != measured.is_confident:
        if measured.is_confident:
            return replace(measured, advice=advice.alone(inferred, measured))
        return replace(model, advice=f"{advice.unmeasured(model)} No measured point holds every constraint yet.")
    if not model.is_confident:
        is_probable = _chance(inferred, measured) >= LEAST_CHANCE * _chance(inferred, model)
        is_preferred = is_probable or _may_be_roughness(inferred.problem)
        found = measured if is_preferred and holds_all(inferred.problem, measured.told) else model
        return replace(found, advice=advice.alone(inferred, found))
    if is_no_better(inferred, model, measured, of_all=True):
        return replace(
            measured, advice=f"{advice.alone(inferred, measured)} No other point is expected to be better by much."
        )
    if not model.is_measured and not inferred.is_hypothetical and (broken := _broken_promises(inferred)):
        return replace(measured, advice=f"{advice.alone(inferred, measured)} {advice.promised_in_vain(model, broken)}")
    u, v = (inferred.space.encode(each.params) for each in (model, measured))
    with threads_for(inferred.count):
        better = float(probability_lower(inferred.spread, u, v))
    if better >= SURE:
        return replace(model, advice=f"{advice.unmeasured(model)} {advice.versus(measured, better)}")
    return replace(measured, advice=f"{advice.alone(inferred, measured)} {advice.versus(model, better)}")


def _broken_promises(inferred: Inferred) -> list[Evaluation]:
    """The last points that were measured because they were to be the answer, if none of them turned out to be one.

    One in ten or twenty may turn out so, but hardly `ENOUGH` in a row: then the model is too sure of itself, here at
    least. With noise a point that holds may seem not to, so there it counts for nothing.
    """
    problem = inferred.problem
    if not {c.outcome for c in problem.conditions} <= inferred.noiseless:
        return []
    told = {e.id: (e, point) for point in inferred.points for e in point.evaluations if e.kind == CONFIRMING}
    last = [told[id_] for id_ in sorted(told)[-ENOUGH:]]
    is_any_kept = any(_is_kept(inferred, *promise) for promise in last)
    return [] if is_any_kept or len(last) < ENOUGH else [e for e, _ in last]


def _is_kept(inferred: Inferred, promise: Evaluation, point: MeasuredPoint) -> bool:
    """Whether a point holds every constraint, and no better one had been measured before it was to be the answer."""
    problem, objective = inferred.problem, inferred.problem.objective
    if not holds_all(problem, point.told):
        return False
    if objective not in point.told or objective not in inferred.noiseless:
        return True
    before = [
        each.told[objective]
        for each in inferred.points
        if each.evaluations[0].id < promise.id and each.is_complete(problem) and holds_all(problem, each.told)
    ]
    return all(problem.sign * (point.told[objective] - other) <= 0 for other in before)


def _may_be_roughness(problem: Problem) -> bool:
    """Whether noise that probabilities of constraints rest on had to be found out: on a rough function it explains all.

    Of points that held as measured they tell little then.
    """
    return any(problem.noise.get(c.outcome, 0.0) is None for c in problem.conditions if not c.is_yes_no)


def _chance(inferred: Inferred, found: Recommendation) -> float:
    """How probably all constraints hold."""
    return math.exp(log_probability(inferred.problem.conditions, [*found.probabilities.values()]))


def is_no_better(
    inferred: Inferred,
    model: Recommendation,
    measured: Recommendation,
    trivial: float = TRIVIAL,
    *,
    of_all: bool = False,
) -> bool:
    """Whether the model's point is expected to be better by a trifle at most, beside the values that were measured.

    Beside all of them, or those where all constraints held: where they fail the objective may be decades larger. A
    question is worth asking for less than an answer is worth changing for.
    """
    problem = inferred.problem
    least = trivial if problem.objective in inferred.noiseless else max(trivial, TRIVIAL_IN_NOISE)
    left_out = {id_ for id_, outcome in inferred.left_out if outcome == problem.objective}
    told = [
        point
        for point in inferred.points
        if problem.objective in point.told and left_out.isdisjoint(e.id for e in point.evaluations)
    ]
    usable = (
        [] if of_all else [point for point in told if point.is_complete(problem) and holds_all(problem, point.told)]
    )
    values = [point.told[problem.objective] for point in (usable if len(usable) > 1 else told)]
    spread = max(values) - min(values) if values else 0.0
    return problem.sign * (measured.expected - model.expected) <= least * spread


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


def best_of(inferred: Inferred, points: Sequence[MeasuredPoint]) -> Recommendation | None:
    """The best of these points; None if there is none."""
    (found,) = _described(inferred, [_best_of(inferred, points)])
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


def _best_of(inferred: Inferred, points: Sequence[MeasuredPoint]) -> _Found | None:
    """The best of these points; None if there is none.

    By what is believed of them, since a measurement has noise; one without noise is believed as it is. Where none holds
    every constraint with its confidence, it is the one that most probably does, of those that did as measured if any;
    where noise had to be found out, the best of those that do half as probably.
    """
    problem = inferred.problem
    if not points:
        return None
    U = torch.stack([inferred.encode(point.evaluations[0]) for point in points])
    is_inside = ((U >= 0) & (U <= 1)).all(-1)
    if not bool(is_inside.any()):
        return None
    U, points = U[is_inside], [point for point, is_in in zip(points, is_inside.tolist(), strict=True) if is_in]
    order = rank_of_some(inferred.belief, U).argsort().cpu() if len(points) > LIKELY else torch.arange(len(points))
    for most in (LIKELY, MOST_MEASURED):  # of those that hold, the order is that of the expected objective
        some = order[:most]
        each = expect(inferred, U[some], [inferred.certain(points[i].told) for i in some.tolist()])
        held = [
            all(p >= asked for p, asked in zip(e.probabilities.values(), problem.confidences, strict=True))
            for e in each
        ]
        if any(held) or len(points) <= most:
            break
    wanted = held
    if not any(held):
        chance = [log_probability(problem.conditions, [*e.probabilities.values()]) for e in each]
        alike = LEAST_CHANCE if _may_be_roughness(problem) else 1.0
        if max(chance) < HOPELESS:  # none is more probable than another: which one misses the least
            chance, alike = [-_shortfall(inferred, e) for e in each], 1.0
        did = [holds_all(problem, {**each[i].outcomes, **points[at].told}) for i, at in enumerate(some.tolist())]
        among = [own if is_so or not any(did) else -math.inf for own, is_so in zip(chance, did, strict=True)]
        wanted = [own >= max(among) + math.log(alike) for own in among]
    value = {i: problem.sign * each[i].outcomes[problem.objective] for i in range(len(each)) if wanted[i]}
    chosen = min(value, key=lambda i: value[i])
    at = int(some[chosen])
    return _Found(U[at], held[chosen], points[at])


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
    return float(torch.tensor(held, dtype=torch.float64).clamp(min=1e-300).log().sum())


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
        probabilities=prediction.probabilities,
        is_confident=found.is_confident,
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
