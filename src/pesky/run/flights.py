"""The evaluations in flight: from the moment that an executor has them until the storage has the result."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial

from pesky.problem import Problem
from pesky.run.call import Report
from pesky.run.executors import check_open, submit
from pesky.run.processes import Processes
from pesky.run.slots import Function
from pesky.store import Evaluation

log = logging.getLogger("pesky")


@dataclass
class Flight:
    """An evaluation that is being measured."""

    evaluation: Evaluation
    resource: str
    deadline: float | None
    """When its time is up, by the monotonic clock, where whoever runs it does not see to that."""
    future: Future[Report] | None = None
    """The call that measures; None once it has come back."""
    is_late: bool = False
    is_over: bool = False
    """Whether the storage has the result."""

    def is_overdue(self) -> bool:
        """Whether its time is up, and it still runs."""
        return self.deadline is not None and time.monotonic() > self.deadline and self.future is not None


class Flights:
    """What a run is measuring, by the ids of its evaluations; any thread may look."""

    def __init__(
        self,
        problem: Problem,
        functions: Mapping[str, Function],
        executor: Executor,
        come_back: Callable[[Flight, "Future[Report]"], None],
    ) -> None:
        self._problem, self._functions, self._executor, self._come_back = problem, functions, executor, come_back
        self._flights: dict[int, Flight] = {}

    def __len__(self) -> int:
        return len(self._flights)

    def __iter__(self) -> Iterator[Flight]:
        return iter(list(self._flights.values()))

    @property
    def is_any_running(self) -> bool:
        """Whether a call has not come back yet."""
        return any(flight.future is not None for flight in self)

    def attempts(self) -> dict[int, int]:
        """The attempt of each evaluation that is being measured, by its id."""
        return {flight.evaluation.id: flight.evaluation.attempts for flight in self}

    def taken(self) -> Counter[str]:
        """How many are on each resource."""
        return Counter(flight.resource for flight in self)

    def start(self, evaluation: Evaluation, resource: str) -> None:
        """Have the evaluation measured."""
        if evaluation.id in self._flights:
            # The storage was away for longer than the lease: it is still being measured, or told in a moment.
            self._flights[evaluation.id].evaluation = evaluation
            return
        timeout = self._problem.tasks[evaluation.task].timeout
        is_killable = isinstance(self._executor, Processes)
        deadline = None if timeout is None or is_killable else time.monotonic() + timeout
        flight = self._flights[evaluation.id] = Flight(evaluation, resource, deadline)
        try:
            future = submit(self._executor, self._functions[evaluation.task], dict(evaluation.params), timeout)
        except BaseException:  # Ctrl-C in a function that runs in this thread, or one that cannot be sent elsewhere
            del self._flights[evaluation.id]
            raise
        flight.future = future
        # Kept at once, whatever this thread is doing then.
        future.add_done_callback(partial(self._come_back, flight))

    def land(self, flight: Flight) -> None:
        """Take a flight that is over out of the air: its slot is free again."""
        del self._flights[flight.evaluation.id]

    def check(self) -> None:
        """Nothing; a PeskyError if what is in the air will never come back."""
        if self._flights:
            check_open(self._executor)

    def stop(self) -> None:
        """Stop what is still running."""
        for flight in self:
            if (future := flight.future) is not None:
                try:
                    future.cancel()
                except Exception as error:
                    log.warning("%s is still being measured: it could not be canceled (%s).", flight.evaluation, error)
        if self._flights and isinstance(self._executor, Processes):
            self._executor.kill()
