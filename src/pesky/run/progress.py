"""Where a run stands, for whoever watches it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pesky.run.budget import Budget
from pesky.run.client import AskTell
from pesky.run.spending import spent
from pesky.store import Evaluation, State

S = TypeVar("S", bound=AskTell)
Doing = Literal["asking", "waiting", "stopping"]


@dataclass(frozen=True)
class Progress(Generic[S]):
    """Where a run stands."""

    study: S
    budget: Budget
    running: list[Evaluation]
    """What is being measured, here or elsewhere."""
    spent: dict[str, float]
    """Cost per task, what is running included."""
    done: int
    failed: int
    lost: int
    seconds: float
    """How long this run has taken so far."""
    last: Evaluation | None
    """The evaluation that ended last."""
    state: Doing


def progress_of(
    study: S,
    evaluations: Mapping[int, Evaluation],
    budget: Budget,
    began: float,
    last: Evaluation | None,
    state: Doing,
) -> Progress[S]:
    """Where a run stands that began at this time of the monotonic clock."""
    each = [e.state for e in evaluations.values()]
    return Progress(
        study=study,
        budget=budget,
        running=[e for e in evaluations.values() if e.state is State.RUNNING],
        spent=spent(evaluations, study.problem),
        done=each.count(State.DONE),
        failed=each.count(State.FAILED),
        lost=each.count(State.LOST),
        seconds=time.monotonic() - began,
        last=last,
        state=state,
    )
