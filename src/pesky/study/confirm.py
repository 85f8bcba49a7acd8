"""The question that confirms a recommendation: what was not measured yet at the point that would be recommended."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from math import exp

from pesky.problem import Problem
from pesky.run.spending import cost_of, typical_price
from pesky.store import Evaluation, Question
from pesky.study.grounds import Grounds
from pesky.study.prediction import constraint_texts
from pesky.study.recommend import (
    CONFIRMING,
    TRIVIAL,
    best_anywhere,
    best_from,
    best_of,
    is_no_better,
    log_probability,
)
from pesky.study.recommendation import Recommendation

log = logging.getLogger("pesky")

ATTEMPTS = 2
"""How often what fails is tried at a point; what is learnt of failures is once enough."""
BOLD = 0.6
"""The confidence that suffices for a point that is measured without noise before anyone uses it."""
CLEARLY = 1e-2
"""The part of the range of measured values by which a point is clearly better: less is left to the last evaluations."""
IMPROVING = "improving"
"""What a question says of itself that is where a better measured point is most to be expected."""
FOR_THE_ANSWER = CONFIRMING, IMPROVING


def allowance(evaluations: Mapping[int, Evaluation], problem: Problem, share: float) -> float:
    """What may be spent on the answer now: a point, once the questions since the last one have cost its multiple.

    So it takes no more than its share of all questions, the initial ones aside, and never several points in a row.
    """
    asked = [e for e in evaluations.values() if e.kind != "initial"]
    point = sum(typical_price(task, evaluations, problem) for task in problem.tasks)
    spent = 0.0
    while asked and asked[-1].kind in FOR_THE_ANSWER:
        spent += cost_of(asked.pop(), problem)
    since = sum(cost_of(e, problem) for e in takewhile(lambda e: e.kind not in FOR_THE_ANSWER, reversed(asked)))
    left = min(share * (since + point) * (1 + 1e-9), point) - spent
    return left if spent or left >= point else 0.0


def confirming_question(
    grounds: Grounds, evaluations: Mapping[int, Evaluation], tasks: Sequence[str], min_probability: float | None
) -> Question | None:
    """The task that matters most at the best point anywhere; None where nothing is left to be measured there.

    Where that is no better than what was measured already, without noise, it is the best point that less confidence is
    asked of: if it holds, it is the better answer, and if it does not, the last one stays.
    """
    target = best_anywhere(grounds)
    if not _beats_measured(grounds, target):
        target = _bolder(grounds) or target
    likely = _probability(grounds.problem, target, grounds.problem.rows)
    if min_probability is not None and likely < min_probability:
        log.warning(
            "the best point satisfies all constraints with a probability of %.3g, and min_probability is %.3g: "
            "another one is asked",
            likely,
            min_probability,
        )
    return _question_for(target, grounds, evaluations, tasks, min_probability)


def early_question(
    grounds: Grounds,
    target: Recommendation,
    evaluations: Mapping[int, Evaluation],
    tasks: Sequence[str],
    min_probability: float | None,
    improving: Callable[[], Question | None],
) -> Question | None:
    """The same while there is more to learn: only at a target that is sure enough to be recommended, not measured.

    Where that is not clearly better than what was measured already, it is the `improving` question. Where tasks are
    measured apart it is the point as soon as it is better at all, or, without noise, the bolder one.
    """
    if not target.is_confident:
        return None
    if len(grounds.problem.tasks) == 1 and (target.is_measured or not _beats_measured(grounds, target, CLEARLY)):
        return improving()
    wanted = target
    if target.is_measured:
        wanted = _bolder(grounds) if is_no_better(grounds, best_anywhere(grounds), target) else None
    return None if wanted is None else _question_for(wanted, grounds, evaluations, tasks, min_probability)


def _beats_measured(grounds: Grounds, target: Recommendation, trivial: float = TRIVIAL) -> bool:
    """Whether it is better, by more than a trifle, than every point that was measured wholly and may be used."""
    measured = best_from(grounds)
    return measured is None or not measured.is_confident or not is_no_better(grounds, target, measured, trivial)


def _bolder(grounds: Grounds) -> Recommendation | None:
    """The best point that less confidence is asked of; None with noise, where no measurement would settle it."""
    return best_anywhere(grounds, most=BOLD) if grounds.is_noiseless else None


def _question_for(
    target: Recommendation,
    grounds: Grounds,
    evaluations: Mapping[int, Evaluation],
    tasks: Sequence[str],
    min_probability: float | None,
) -> Question | None:
    """What is left at a point that was measured in part and is as good as the target; if nothing is, at the target.

    Every value that is told moves the target a little: followed, it would never be measured wholly. As good is what is
    not `CLEARLY` worse, and still better than what was measured wholly.
    """
    begun = best_of(grounds, [point for point in grounds.points if not point.is_complete(grounds.problem)])
    targets = [target]
    if begun is not None and begun.is_confident and is_no_better(grounds, target, begun, CLEARLY):
        targets = [begun, target] if _beats_measured(grounds, begun) else targets
    questions = (_question_at(each, grounds, evaluations, tasks, min_probability) for each in targets)
    return next((question for question in questions if question is not None), None)


def _question_at(
    target: Recommendation,
    grounds: Grounds,
    evaluations: Mapping[int, Evaluation],
    tasks: Sequence[str],
    min_probability: float | None,
) -> Question | None:
    problem = grounds.problem
    if min_probability is not None and _probability(problem, target, problem.rows) < min_probability:
        return None
    u = grounds.space.encode(target.params)
    outliers = {id_ for id_, _ in grounds.left_out}
    here = [e for e in evaluations.values() if e.task in tasks and e.id not in outliers and grounds.is_at(e, u)]
    failed = Counter(e.task for e in grounds.failures_at(u))
    tried = {e.task for e in here if e not in grounds.failed or failed[e.task] >= ATTEMPTS}
    told = grounds.told_at(u)
    left = {task: rest for task in tasks if task not in tried and (rest := {*problem.informs(task)} - told.keys())}
    if not left:
        return None
    prices = {task: typical_price(task, evaluations, problem) for task in left}
    failing = {task: 1 - _probability(problem, target, rest) for task, rest in left.items()}
    # what probably fails for little money comes first: it saves the rest
    first = min(left, key=lambda task: (-failing[task] / prices[task], prices[task]))
    return Question(first, target.params, None, prices[first], {"kind": CONFIRMING})


def _probability(problem: Problem, target: Recommendation, outcomes: Collection[str]) -> float:
    """The probability that all conditions on these outcomes hold there."""
    each = zip(problem.conditions, constraint_texts(problem), strict=True)
    of = {text: condition for condition, text in each if condition.outcome in outcomes}
    return exp(log_probability([*of.values()], [target.probabilities[text] for text in of]))
