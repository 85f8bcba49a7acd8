"""The loop over ask and tell: keeps evaluations in flight until the budget is spent, and loses none."""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pesky.errors import DataError, PeskyError, ProblemError, StorageError
from pesky.problem.fields import finite, whole
from pesky.store import Evaluation, State
from pesky.study.budget import Budget, Ending, Exhausted, Kind
from pesky.study.call import Report, check, measure
from pesky.study.leases import Leases
from pesky.study.patience import patiently
from pesky.study.processes import Processes
from pesky.study.progress import Doing, Progress, progress_of
from pesky.study.slots import Function, functions_of, slots_of

if TYPE_CHECKING:
    from pesky.study.study import Study

GLANCE = 0.5
"""Seconds between two looks at what has changed elsewhere."""


@dataclass
class Flight:
    """An evaluation that is being measured."""

    evaluation: Evaluation
    resource: str
    deadline: float | None
    future: Future[Report] | None = None
    is_over: bool = False
    untold: Callable[[], object] | None = None
    """Keeps what came back, while that is not done."""


class Inline(Executor):
    """Runs what is submitted at once, in this very thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future that has its result."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Loop:
    """One run of a study; see `Study.run`."""

    def __init__(
        self,
        study: "Study",
        functions: Function | Mapping[str, Function],
        budget: Budget,
        workers: int | None,
        executor: Executor | None,
        tasks: Collection[str] | None,
        watch: Callable[[Progress], None] | None,
        lease: float,
        attempts: int,
        on_interrupt: str,
    ) -> None:
        if on_interrupt not in ("wait", "release"):
            raise ProblemError(f'on_interrupt was {on_interrupt!r}: expected "wait" or "release".')
        if finite("lease", lease) <= 0:
            raise ProblemError(f"lease was {lease!r}: expected a number of seconds above 0.")
        self.study, self.budget, self.watch = study, budget, watch
        self.attempts, self.on_interrupt = whole("attempts", attempts, 1), on_interrupt
        self.functions = functions_of(functions, study.problem, tasks)
        self.executor, self.is_own_executor = executor, executor is None
        self.resources, self.workers = slots_of(study.problem, tuple(self.functions), workers, executor)
        self.flights: dict[int, Flight] = {}
        self.leases = Leases(study, lease, self.flights.keys())
        self.last: Evaluation | None = None
        self.began = time.monotonic()
        self._landed = threading.Event()
        self._broken: PeskyError | None = None
        self._exhausted: dict[str, tuple[Exhausted, tuple[object, ...]]] = {}

    def run(self) -> Ending:
        """Ask, measure and tell until there is nothing more to do."""
        if self.is_own_executor:
            self.executor = Inline() if self.workers is None else Processes(self.workers)
        patiently(self.leases.free_orphans)
        self.leases.begin()
        try:
            return self._until_done()
        finally:
            self.leases.end()
            self._stop()
            self.leases.join()
            if self.is_own_executor and self.executor is not None:
                self.executor.shutdown()

    def _until_done(self) -> Ending:
        ending: tuple[Kind, str] | None = None
        while True:
            try:
                self._land()
                if self._broken is not None:
                    raise self._broken
                if ending is None and self._is_late():
                    ending = "seconds", f"the time of {self.budget.seconds:g} seconds is over"
                asked = ending is None and self._fill()
                self._report("stopping" if ending else "waiting")
                if not self.flights and not asked:
                    ending = ending or self._nothing_to_ask()
                    if ending is not None:
                        return self._end(*ending)
                if not asked:
                    self._landed.wait(GLANCE)
                    self._landed.clear()
            except KeyboardInterrupt:
                is_second = ending is not None and ending[0] == "interrupted"
                ending = "interrupted", "interrupted: what was told is kept, and the study goes on from here"
                if is_second or self.on_interrupt == "release":
                    return self._end(*ending)

    # -- asking ------------------------------------------------------------------------------------------------------

    def _fill(self) -> bool:
        """Give a free slot the best question of its tasks; whether one was given."""
        for name, (tasks, slots) in self.resources.items():
            taken = sum(flight.resource == name for flight in self.flights.values())
            if taken >= slots or len(self.flights) >= (self.workers or 1):
                continue
            if name in self._exhausted and self._exhausted[name][1] == self._situation():
                continue
            self._exhausted.pop(name, None)
            self._report("asking")
            try:
                evaluation = patiently(partial(self._ask, tasks))
            except Exhausted as reason:
                self._exhausted[name] = reason, self._situation()
                continue
            if evaluation.id in self.flights:
                # The storage was away for longer than the lease: it is still being measured, or told in a moment.
                self.flights[evaluation.id].evaluation = evaluation
            else:
                self._start(evaluation, name)
            return True
        return False

    def _ask(self, tasks: tuple[str, ...]) -> Evaluation:
        return self.study.ask(
            tasks,
            worker=self.leases.worker,
            lease=self.leases.seconds,
            attempts=self.attempts,
            limit=self.budget.limit,
            gain_per_cost=self.budget.gain_per_cost,
        )

    def _situation(self) -> tuple[object, ...]:
        """What must change before a resource that had nothing worth asking is asked again."""
        return tuple((e.state, len(e.outcomes)) for e in self._evaluations().values())

    def _nothing_to_ask(self) -> tuple[Kind, str] | None:
        """Why the run is over; None while others are measuring, whose evaluations may still be lost."""
        each = self._evaluations().values()
        if any(e.state is State.RUNNING or (e.state is State.LOST and e.task in self.functions) for e in each):
            self._exhausted.clear()
            return None
        reasons = [reason for reason, _ in self._exhausted.values()]
        first = next((reason for reason in reasons if reason.kind == "budget"), reasons[0])
        return first.kind, str(first)

    def _start(self, evaluation: Evaluation, resource: str) -> None:
        timeout = self.study.problem.tasks[evaluation.task].timeout
        function, params = self.functions[evaluation.task], dict(evaluation.params)
        is_killable = isinstance(self.executor, Processes)
        deadline = None if timeout is None or is_killable else time.monotonic() + timeout
        flight = self.flights[evaluation.id] = Flight(evaluation, resource, deadline)
        assert self.executor is not None
        try:
            if isinstance(self.executor, Processes):
                future = self.executor.call(function, params, timeout=timeout)
            else:
                future = self.executor.submit(measure, function, params)
        except BaseException:  # Ctrl-C in a function that runs in this thread, or one that cannot be sent elsewhere
            del self.flights[evaluation.id]
            raise
        flight.future = future
        # Kept at once, whatever this thread is doing then.
        future.add_done_callback(partial(self._come_back, flight))

    # -- telling -----------------------------------------------------------------------------------------------------

    def _come_back(self, flight: Flight, future: "Future[Report]") -> None:
        """Keep what came back; in the thread that brought it if that is ours: Dask's event loop must not wait."""
        flight.future = None  # the two would keep each other, and Dask would compute again what a dead worker held
        if self.is_own_executor:
            self._finish(flight, future)
        else:
            threading.Thread(target=self._finish, args=(flight, future), daemon=True, name="pesky result").start()

    def _finish(self, flight: Flight, future: "Future[Report]") -> None:
        """Keep what came back."""
        e, task = flight.evaluation, self.study.problem.tasks[flight.evaluation.task]
        store, name = self.study.store, self.study.name
        error = None if future.cancelled() else future.exception()
        if future.cancelled() or error is not None:
            # Not the user's function, but what ran it: a worker that died, a broken pool.
            why = "cancelled" if error is None else f"{type(error).__name__}: {error}"
            if isinstance(error, PeskyError):
                self._broken = error  # the function does not even load there: no other point would be better
            flight.untold = partial(store.release, name, e.id, why, attempt=e.attempts)
        else:
            report = future.result()
            values, why = check(report, task.outcomes, self.study.problem.yes_no)
            flight.untold = (
                partial(store.tell, name, e.id, values, task.outcomes, report.seconds)
                if why is None
                else partial(
                    store.fail, name, e.id, why, attempt=e.attempts, seconds=report.seconds, outcomes=values
                )
            )  # fmt: skip
        with suppress(StorageError):  # the main thread tries again
            self._tell(flight)
        self._landed.set()

    def _tell(self, flight: Flight) -> None:
        """Keep what a flight brought."""
        if (untold := flight.untold) is not None:  # two threads may be here
            # Where another attempt's result came first and differs, as noisy ones do, the first one counts.
            with suppress(DataError):
                untold()
            flight.untold, flight.is_over = None, True

    def _land(self) -> None:
        """Take the flights that are over out of the air."""
        now = time.monotonic()
        for id_, flight in list(self.flights.items()):
            if flight.untold is not None:
                patiently(partial(self._tell, flight))
            if flight.deadline is not None and now > flight.deadline and not flight.is_over:
                self._give_up(flight)
            if flight.is_over:
                del self.flights[id_]
                self.last = self._evaluations()[id_]

    def _give_up(self, flight: Flight) -> None:
        """A time-out where nothing can be stopped: the slot is free again, and a late result is still taken in."""
        e = flight.evaluation
        seconds = self.study.problem.tasks[e.task].timeout
        error = f"time-out: took longer than {seconds:g} s"
        fail = self.study.store.fail
        patiently(partial(fail, self.study.name, e.id, error, attempt=e.attempts, seconds=seconds, outcomes={}))
        flight.is_over = True

    # -- the rest ----------------------------------------------------------------------------------------------------

    def _stop(self) -> None:
        """Stop what is still running."""
        for flight in self.flights.values():
            if flight.future is not None:
                flight.future.cancel()
        if self.flights and isinstance(self.executor, Processes):
            self.executor.kill()

    def _evaluations(self) -> Mapping[int, Evaluation]:
        return patiently(lambda: self.study.evaluations)

    def _is_late(self) -> bool:
        return self.budget.seconds is not None and time.monotonic() - self.began > self.budget.seconds

    def _report(self, state: Doing) -> None:
        if self.watch is not None:
            self.watch(progress_of(self.study, self._evaluations(), self.budget, self.began, self.last, state))

    def _end(self, kind: Kind, reason: str) -> Ending:
        own = [e for e in self._evaluations().values() if not e.is_yours]
        failed = sorted((e for e in own if e.state is State.FAILED), key=lambda e: e.ended or 0.0)
        error = (failed[-1].error or "").partition("\n")[0] if failed else None
        return Ending(kind, reason, sum(e.state is State.DONE for e in own), len(failed), error)
