"""What is measured next where there is room for it."""

import time
from collections.abc import Iterator, Mapping
from functools import partial

from pesky.run.budget import Budget, Exhausted, Kind
from pesky.run.client import AskTell
from pesky.run.confirming import limit_before, most_confirmations, seconds_before
from pesky.run.leases import Leases
from pesky.run.retry import Retry
from pesky.run.slots import Slots
from pesky.store import Evaluation, Limit, State


class Asker:
    """Asks a study for the free slots of a run, and remembers where there was nothing worth asking, and why."""

    def __init__(
        self, study: AskTell, storage: Retry, slots: Slots, budget: Budget, leases: Leases, losses: int | None
    ) -> None:
        self._began, self._confirmations = time.monotonic(), 0
        self._study, self._storage, self._slots = study, storage, slots
        self._budget, self._leases, self._losses = budget, leases, losses
        self._exhausted: dict[str, tuple[Exhausted, tuple[object, ...]]] = {}
        """Of each resource without a question the reason, and how things stood then."""

    def free(self, taken: Mapping[str, int]) -> Iterator[str]:
        """The resources with a free slot that there may be a question for; `taken` are the slots of each in use."""
        if sum(taken.values()) >= (self._slots.workers or 1):
            return
        for resource, slots in self._slots.counts.items():
            if taken.get(resource, 0) >= slots:
                continue
            if resource in self._exhausted and self._exhausted[resource][1] == _situation(self._storage.evaluations()):
                continue
            yield resource

    def ask(self, resource: str) -> Evaluation | None:
        """The best question of the resource's tasks; None if none is worth asking, or nothing is left to spend."""
        self._exhausted.pop(resource, None)
        evaluations = self._storage.evaluations()
        try:
            return self._storage(partial(self._ask, self._slots.tasks[resource], evaluations))
        except Exhausted as reason:
            self._exhausted[resource] = reason, _situation(evaluations)
            return None

    def _ask(self, tasks: tuple[str, ...], evaluations: Mapping[int, Evaluation]) -> Evaluation:
        """What tells most; and at the end, one after the other, what confirms the recommendation."""
        budget, problem = self._budget, self._study.problem
        most = most_confirmations(budget, problem)
        if not most or not self._study.confirms:
            return self._asked(tasks, budget.limit, confirm=False)
        seconds = seconds_before(budget, evaluations, problem)
        try:
            if seconds is not None and time.monotonic() - self._began > seconds:
                raise Exhausted("seconds", "the time that is left is for what would be recommended")
            return self._asked(tasks, limit_before(budget, evaluations, problem), confirm=False)
        except Exhausted as reason:
            # What is being measured may change what is recommended; and without an end each would lead to another.
            # Who asked by hand may never tell: nobody waits for that.
            is_awaited = any(e.state is State.RUNNING for e in evaluations.values())
            is_enough = reason.kind == "gain" and self._confirmations >= most
            if reason.kind == "space" or is_awaited or is_enough:
                raise
        asked = self._asked(tasks, budget.limit, confirm=True)
        self._confirmations += 1
        return asked

    def _asked(self, tasks: tuple[str, ...], limit: Limit, *, confirm: bool) -> Evaluation:
        return self._study.ask(
            tasks,
            worker=self._leases.worker,
            lease=self._leases.seconds,
            losses=self._losses,
            limit=limit,
            gain_per_cost=self._budget.gain_per_cost,
            confirm=confirm,
        )

    def why_over(self) -> tuple[Kind, str] | None:
        """Why there is nothing more to ask; None while others are measuring, whose evaluations may still be lost."""
        here = {task for tasks in self._slots.tasks.values() for task in tasks}
        evaluations = self._storage.evaluations()
        is_awaited = any(
            e.state is State.RUNNING or (e.state is State.LOST and e.task in here) for e in evaluations.values()
        )
        now = _situation(evaluations)  # others may have finished since there was nothing to ask
        if is_awaited or any(then != now for _, then in self._exhausted.values()):
            self._exhausted.clear()
            return None
        reasons = [reason for reason, _ in self._exhausted.values()]
        first = next((reason for reason in reasons if reason.kind == "budget"), reasons[0])
        return first.kind, str(first)


def _situation(evaluations: Mapping[int, Evaluation]) -> tuple[object, ...]:
    """What must change before a resource that had nothing worth asking is asked again."""
    return tuple((e.state, len(e.outcomes), e.is_excluded) for e in evaluations.values())
