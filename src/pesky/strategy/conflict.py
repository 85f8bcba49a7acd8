"""A query beside those that others asked while it was decided."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

from pesky.acquire.fantasy import overlap
from pesky.data.snapshot import Snapshot
from pesky.model.belief import Belief
from pesky.store import Evaluation, Question
from pesky.strategy.masks import SAME_QUESTION

MAX_OVERLAP = 0.5
"""The part of a query that others may have asked meanwhile. They leave no more to learn than there was, so the best
query then tells at most twice what this one still does."""


def is_among(question: Question, others: Sequence[Evaluation], snapshot: Snapshot, columns: Bool[Tensor, " d"]) -> bool:
    """Whether one of the others is the same question, by the columns that its task depends on."""
    u, own = snapshot.space.encode(question.params), [e for e in others if e.task == question.task]
    return any(float((u - snapshot.points.of(e))[columns].abs().max()) < SAME_QUESTION for e in own)


def is_mostly_left(question: Question, others: Sequence[Evaluation], belief: Belief, snapshot: Snapshot) -> bool:
    """Whether the others leave a question most of what it tells."""
    rows = torch.tensor([name in snapshot.problem.informs(question.task) for name in snapshot.problem.rows])
    u = snapshot.space.encode(question.params)
    return overlap(belief, u, rows, snapshot.all_rows(others)) <= MAX_OVERLAP
