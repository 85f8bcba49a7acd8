"""A question beside those that others asked while it was decided."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

from pesky.acquire.fantasy import overlap
from pesky.decide.exclusion import SAME_QUESTION
from pesky.model.belief import Belief
from pesky.problem import Problem
from pesky.store import Evaluation, Question
from pesky.study.pending import all_rows
from pesky.study.points import Points

MAX_OVERLAP = 0.5
"""The part of a question that others may have asked meanwhile. They leave no more to learn than there was, so the best
question then tells at most twice what this one still does."""


def is_among(question: Question, others: Sequence[Evaluation], points: Points, columns: Bool[Tensor, " d"]) -> bool:
    """Whether one of the others is the same question, by the columns that its task depends on."""
    u, own = points.space.encode(question.params), [e for e in others if e.task == question.task]
    return any(float((u - points.of(e))[columns].abs().max()) < SAME_QUESTION for e in own)


def is_mostly_left(
    question: Question, others: Sequence[Evaluation], belief: Belief, problem: Problem, points: Points
) -> bool:
    """Whether the others leave a question most of what it tells."""
    rows = torch.tensor([name in problem.informs(question.task) for name in problem.rows])
    u = points.space.encode(question.params)
    return overlap(belief, u, rows, all_rows(problem, points, others)) <= MAX_OVERLAP
