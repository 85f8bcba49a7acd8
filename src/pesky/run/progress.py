"""Where a run stands, for whoever watches it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pesky.run.best import best_measured, is_exact
from pesky.run.budget import Budget
from pesky.run.client import AskTell
from pesky.run.spending import spent
from pesky.store import Evaluation, State
from pesky.store.transitions import counts
from pesky.wording import counted, duration

S = TypeVar("S", bound=AskTell)
Doing = Literal["asking", "waiting", "stopping"]


@dataclass(frozen=True)
class Progress(Generic[S]):
    """Where a run stands; `str` says it on one line."""

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
    best: float | None = None
    """The best value as measured, see `pesky.run.best`."""
    share: float | None = None
    """How much of the budget is spent, from 0 to 1; None where no limit says."""
    share_before: float | None = None
    """The same when this run began."""

    @property
    def seconds_left(self) -> float | None:
        """How long it will probably take until the budget is spent; None where there is no telling yet."""
        if self.share is None or self.share_before is None or self.share <= self.share_before:
            return None
        return self.seconds * max(1 - self.share, 0.0) / (self.share - self.share_before)

    def __str__(self) -> str:
        budget, ended = self.budget, self.done + self.failed
        parts = [counted(ended) if budget.evaluations is None else f"{ended} of {counted(budget.evaluations)}"]
        if self.failed:
            parts[0] += f" ({self.failed} failed)"
        if budget.cost is not None:
            parts.append(f"cost {sum(self.spent.values()):.4g} of {budget.cost:.4g}")
        if self.best is not None:
            as_measured = "" if is_exact(self.study.problem) else " as measured"
            parts.append(f"best {self.study.problem.objective} {self.best:.4g}{as_measured}")
        doing = {"asking": "deciding", "stopping": "stopping"}.get(self.state)
        if doing is None and self.running:
            doing = f"{len(self.running)} running"
        parts += [] if doing is None else [doing]
        parts.append(duration(self.seconds))
        if self.seconds_left is not None and self.state != "stopping":
            parts.append(f"about {duration(self.seconds_left)} left")
        return ", ".join(parts)


def progress_of(
    study: S,
    evaluations: Mapping[int, Evaluation],
    budget: Budget,
    began: float,
    last: Evaluation | None,
    state: Doing,
    share_before: float | None = None,
) -> Progress[S]:
    """Where a run stands that began at this time of the monotonic clock."""
    each, seconds = [e.state for e in evaluations.values()], time.monotonic() - began
    costs = spent(evaluations, study.problem)
    share = _share(budget, sum(map(counts, evaluations.values())), sum(costs.values()), seconds)
    return Progress(
        study=study,
        budget=budget,
        running=[e for e in evaluations.values() if e.state is State.RUNNING],
        spent=costs,
        done=each.count(State.DONE),
        failed=each.count(State.FAILED),
        lost=each.count(State.LOST),
        seconds=seconds,
        last=last,
        state=state,
        best=best_measured(study.problem, evaluations.values()),
        share=share,
        share_before=share if share_before is None else share_before,
    )


def _share(budget: Budget, asked: int, cost: float, seconds: float) -> float | None:
    """The largest part of a limit that is spent."""
    limits = [(asked, budget.evaluations), (cost, budget.cost), (seconds, budget.seconds)]
    return max((min(now / limit, 1.0) for now, limit in limits if limit is not None), default=None)
