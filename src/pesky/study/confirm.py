"""The question that confirms a recommendation: what was not measured yet at the point that would be recommended."""

from collections.abc import Mapping, Sequence
from math import prod

from pesky.problem import Problem
from pesky.run.spending import typical_price
from pesky.store import Evaluation, Question
from pesky.study.prediction import constraint_texts
from pesky.study.recommend import Grounds, best_anywhere, best_from, is_no_better
from pesky.study.recommendation import Recommendation

CERTAIN = 1e-3
"""A constraint that fails with less than this probability need not be checked."""
BOLD = 0.6
"""The confidence that suffices for a point that is measured without noise before anyone uses it."""


def confirming_question(
    grounds: Grounds, evaluations: Mapping[int, Evaluation], tasks: Sequence[str], min_probability: float | None
) -> Question | None:
    """The task that matters most at the best point anywhere; None where nothing is left to be measured there.

    Where that is no better than what was measured already, without noise, it is the best point that less confidence is
    asked of: if it holds, it is the better answer, and if it does not, the last one stays.
    """
    target, measured = best_anywhere(grounds), best_from(grounds)
    is_exact = all(grounds.problem.noise.get(name) == 0 for name in grounds.problem.outcomes)
    if is_exact and measured is not None and measured.is_confident and is_no_better(grounds, target, measured):
        target = best_anywhere(grounds, most=BOLD)
    return _question_at(target, grounds, evaluations, tasks, min_probability)


def _question_at(
    target: Recommendation,
    grounds: Grounds,
    evaluations: Mapping[int, Evaluation],
    tasks: Sequence[str],
    min_probability: float | None,
) -> Question | None:
    problem = grounds.problem
    if min_probability is not None and prod(target.probabilities.values()) < min_probability:
        return None
    u = grounds.space.encode(target.params)
    doubted = {id_ for id_, _ in grounds.left_out}
    tried = {e.task for e in evaluations.values() if e.task in tasks and e.id not in doubted and grounds.is_at(e, u)}
    left = [task for task in tasks if task not in tried and not {*problem.informs(task)} <= target.told.keys()]
    prices = {task: typical_price(task, evaluations, problem) for task in left}
    failing = {task: _failing(problem, task, target) for task in left}
    # What probably fails for little money comes first: it saves the rest. What nothing can fail of comes last.
    order = sorted(left, key=lambda task: (failing[task] < CERTAIN, -failing[task] / prices[task], prices[task]))
    matter = [task for task in order if failing[task] >= CERTAIN or problem.objective in problem.tasks[task].outcomes]
    return Question(matter[0], target.params, None, prices[matter[0]], {"kind": "confirming"}) if matter else None


def _failing(problem: Problem, task: str, target: Recommendation) -> float:
    """The probability that something that the task tells of does not hold."""
    told = problem.informs(task)
    held = [
        target.probabilities[text]
        for text, condition in zip(constraint_texts(problem), problem.conditions, strict=True)
        if condition.outcome in told and condition.outcome not in target.told
    ]
    return 1 - prod(held)
