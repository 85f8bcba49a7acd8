"""The recommendation that follows from what was measured."""

from collections.abc import Mapping

import torch

from pesky.errors import DataError
from pesky.numerics.runtime import threads_for
from pesky.observations import Observations
from pesky.optimum.recommend import Advice, recommend
from pesky.problem import Problem
from pesky.space import Space
from pesky.store import Evaluation
from pesky.study.recommendation import Recommendation
from pesky.study.surrogates import Surrogates


def recommendation_from(surrogates: Surrogates, evaluations: Mapping[int, Evaluation]) -> Recommendation:
    """The recommendation given all evaluations; a DataError if none has told anything that it could rest on."""
    problem, space = surrogates.problem, surrogates.space
    if not any(e.outcomes.keys() & set(problem.grounds) for e in evaluations.values()):
        what = "any outcome" if problem.objective in problem.known else f"the objective {problem.objective!r}"
        raise DataError(f"no value of {what} was told yet: ask and tell until there is one.")
    belief, observations = surrogates.believe(evaluations)
    with threads_for(len(evaluations)):
        advice = recommend(belief, space, torch.tensor(problem.confidences, dtype=torch.float64), surrogates.seed)
    return _in_words(problem, space, observations, advice)


def _in_words(problem: Problem, space: Space, observations: Observations, advice: Advice) -> Recommendation:
    """The advice in the user's units and words."""
    texts = [str(condition).removesuffix(" is true") for condition in problem.conditions]
    # What is known holds or does not: the little doubt of its row is there for the mathematics alone.
    probabilities = [
        float(p >= 0.5) if condition.outcome in problem.known else p
        for p, condition in zip(advice.probabilities.tolist(), problem.conditions, strict=True)
    ]
    return Recommendation(
        params=space.decode(advice.u),
        objective=problem.objective,
        expected=float(observations.to_user(0, advice.mean)),
        probabilities=dict(zip(texts, probabilities, strict=True)),
        is_confident=bool(advice.is_confident),
    )
