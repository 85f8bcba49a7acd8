"""The loop over ask and tell: keeps evaluations in flight until the budget is spent, and loses none."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any

from pesky.errors import ProblemChanged, ProblemError, StorageAway, StorageError, StudyGone
from pesky.problem.fields import finite, whole
from pesky.run.arrivals import Arrivals
from pesky.run.asking import Asker
from pesky.run.budget import Budget, Ending, Kind, ending_of
from pesky.run.callbacks import Callback, Callbacks
from pesky.run.client import AskTell
from pesky.run.deliveries import Deliveries
from pesky.run.display import Display
from pesky.run.executors import Inline
from pesky.run.first_failures import FirstFailures
from pesky.run.flights import Flight, Flights
from pesky.run.leases import Leases
from pesky.run.processes import Processes
from pesky.run.progress import Doing, Progress, progress_of
from pesky.run.rescue import rescue
from pesky.run.retry import GIVE_UP_SECONDS, INTERRUPTED_READ_SECONDS, POLL_SECONDS, Retry
from pesky.run.slots import Function, functions_of, slots_of
from pesky.run.terminate import Asked, Terminated, terminable
from pesky.store import Evaluation

log = logging.getLogger("pesky")

INTERRUPTED_CLOSE_SECONDS = 0.5
"""Seconds that an interrupted run waits for its storage to let go of what it holds; see INTERRUPTED_READ_SECONDS."""
BROKEN_CLOSE_SECONDS = 5.0
"""The same for a run that ends by an error, or that was asked to end by a signal: who asks so waits longer."""
INTERRUPTED_WRITE_SECONDS = 1.0
"""Seconds that a storage may take for one result, to a run that is interrupted."""


class Loop:
    """One run of a study; see `Study.run`."""

    def __init__(
        self,
        study: AskTell,
        functions: Function | Mapping[str, Function],
        budget: Budget,
        workers: int | None,
        executor: Executor | None,
        tasks: Collection[str] | None,
        watch: Callable[[Progress[Any]], None] | None,
        lease: float,
        attempts: int,
        losses: int | None,
        on_interrupt: str,
        keep_going: bool,
        progress: bool,
        callbacks: Iterable[Callback] | None,
    ) -> None:
        if on_interrupt not in ("wait", "release"):
            raise ProblemError(f'on_interrupt was {on_interrupt!r}: expected "wait" or "release".')
        if finite("lease", lease) <= 0:
            raise ProblemError(f"lease was {lease!r}: expected a number of seconds above 0.")
        attempts, losses = whole("attempts", attempts, 1), None if losses is None else whole("losses", losses, 1)
        self.callbacks = Callbacks(callbacks, study)
        each = functions_of(functions, study.problem, tasks)
        slots = slots_of(study.problem, tuple(each), workers, executor)
        self.study, self.budget, self.watch, self.on_interrupt = study, budget, watch, on_interrupt
        self.own_executor = None
        if executor is None:
            executor = self.own_executor = Inline() if slots.workers is None else Processes(slots.workers)
        self._landed, self._terminating, self._asked = threading.Event(), threading.Event(), Asked()
        self.storage, self.deliveries = Retry(study, self._wait), Deliveries()
        self.arrivals = Arrivals(study, self.deliveries, attempts, self._landed, self._terminating)
        self.flights = Flights(study.problem, each, executor, self.arrivals.come_back)
        self.leases = Leases(study, lease, self.flights.attempts)
        self.asker = Asker(study, self.storage, slots, budget, self.leases, losses)
        self.first_failures = None if keep_going else FirstFailures(study.problem)
        self.display = Display() if progress else None
        self.last: Evaluation | None = None
        self.began = time.monotonic()
        self._why_over: tuple[Kind, str] | None = None
        """Why nothing more is asked."""
        self._are_orphans_free = False
        self._share: float | None = None
        """What was spent of the budget when it was looked at first."""

    def run(self) -> Ending:
        """Ask, measure and tell until there is nothing more to do."""
        with terminable(self._terminating) as self._asked:
            self.leases.begin()
            self.deliveries.begin()
            seconds = BROKEN_CLOSE_SECONDS
            try:
                ending = self._until_done()
                if self.display is not None and not ending.is_storage_away:
                    self.display.end(ending)
                seconds = INTERRUPTED_CLOSE_SECONDS if ending.kind == "interrupted" else GIVE_UP_SECONDS
                return ending
            finally:
                self._close(seconds)
                if self.display is not None:
                    self.display.close()

    def _close(self, seconds: float) -> None:
        """End all that was begun; results that cannot be kept within so many seconds go to a file."""
        until = time.monotonic() + seconds
        self.flights.stop()
        results = self.deliveries.end(until - time.monotonic())
        self.leases.end(until - time.monotonic())
        if (rescued := rescue(results, getattr(self.study.store, "file", None))) is not None:
            log.error("%s", rescued)
        if self.own_executor is not None:
            self.own_executor.shutdown()

    def _until_done(self) -> Ending:
        while True:
            try:
                if (why := self._step()) is not None:
                    return self._end(*why)
            except StorageAway as error:
                self.storage.note(error)
                if (why := self._why_leave()) is not None:
                    return self._end(*why)
                if self.storage.is_long_away:
                    self._await_running(error)
                    raise
                self._wait(POLL_SECONDS)
            except StudyGone:
                raise
            except ProblemChanged as error:
                self._await_running(error, "told")
                raise
            except StorageError as error:
                self._await_running(error)
                raise
            except Terminated:
                raise
            except KeyboardInterrupt:
                self._asked.heard = self._asked.interrupts
                is_second, self.storage.is_interrupted = self.storage.is_interrupted, True
                why = "interrupted", "interrupted: what was told is kept, and the study goes on from here"
                self._why_over = why
                if is_second or self.on_interrupt == "release":
                    return self._end(*why)

    def _step(self) -> tuple[Kind, str] | None:
        """Take in what came back, ask if there is room, or else wait a moment; why the run is over, once it is."""
        self._asked.again()
        self._land()
        for error in (self.arrivals.error, self.deliveries.error):
            if error is not None:
                raise error
        self.flights.check()
        if not self._are_orphans_free:
            self.storage(self.leases.free_orphans)
            self._are_orphans_free = True
        if self._why_over is None and self.first_failures is not None:
            stop = self.first_failures.why_stop(self.storage.seen.values())
            self._why_over = None if stop is None else ("failures", stop)
        if self._why_over is None and self._is_late():
            self._why_over = "seconds", f"the time of {self.budget.seconds:g} seconds is over"
        is_asked = self._why_over is None and self._fill()
        self._report("stopping" if self._why_over else "waiting")
        if is_asked:
            return None
        if not self.flights:
            self._why_over = self._why_over or self.asker.why_over()
            if self._why_over is not None:
                return self._why_over
        self._wait(INTERRUPTED_READ_SECONDS if self.storage.is_interrupted else POLL_SECONDS)
        return self._why_leave()

    def _land(self) -> None:
        """Take the flights that are over out of the air."""
        for flight in self.flights:
            if flight.is_overdue():
                if flight.is_late:
                    self._time_out(flight)
                # This process may have been stopped: the result has come then, and is taken in within a moment.
                flight.deadline, flight.is_late = time.monotonic() + POLL_SECONDS, True
            if flight.is_over:
                self.flights.land(flight)
                self.last = self.storage.evaluations()[flight.evaluation.id]
                if self.first_failures is not None:
                    self.first_failures.note(self.last)
                self.callbacks.call(self.last)

    def _time_out(self, flight: Flight) -> None:
        """End a flight where nothing can be stopped: the slot is free again, and a late result is still taken in."""
        e = flight.evaluation
        seconds = self.study.problem.tasks[e.task].timeout
        error = f"time-out: took longer than {seconds:g} s"
        fail = partial(self.study.store.fail, self.study.identity, e.id, error, attempt=e.attempts)
        self.storage(partial(fail, seconds=seconds, outcomes={}))
        flight.is_over = True

    def _fill(self) -> bool:
        """Give a free slot the best question of its tasks; whether one was given."""
        for resource in self.asker.free(self.flights.taken()):
            self._report("asking")
            if (evaluation := self.asker.ask(resource)) is not None:
                self.flights.start(evaluation, resource)
                return True
        return False

    def _wait(self, seconds: float) -> None:
        """Until something has come back, at most so many seconds."""
        self._landed.wait(seconds)
        self._landed.clear()

    def _is_late(self) -> bool:
        return self.budget.seconds is not None and time.monotonic() - self.began > self.budget.seconds

    def _report(self, state: Doing) -> None:
        is_shown = self.display is not None and self.display.is_due()
        if self.watch is None and not is_shown:
            return
        evaluations = self.storage.evaluations()
        progress = progress_of(self.study, evaluations, self.budget, self.began, self.last, state, self._share)
        self._share = progress.share_before
        if self.watch is not None:
            self.watch(progress)
        if is_shown and self.display is not None:
            self.display.show(progress)

    # -- the end -----------------------------------------------------------------------------------------------------

    def _await_running(self, error: StorageError, then: str = "written to a file") -> None:
        """Nothing, once all that runs has come back: what it brings goes to a file, where the storage takes no more."""
        if self.flights.is_any_running:
            log.error("%s Asking no more; what is being measured is waited for, and %s.", error, then)
        while self.flights.is_any_running:
            self._wait(POLL_SECONDS)

    def _why_leave(self) -> tuple[Kind, str] | None:
        """Why an interrupted run is over that has nothing to wait for but a storage that does not answer."""
        can_leave = self.storage.is_interrupted and not self.flights.is_any_running and self._is_away()
        return self._why_over if can_leave else None

    def _is_away(self) -> bool:
        """Whether the storage does not answer; to one who is interrupted, also whether it takes its time to do so."""
        is_slow = self.storage.is_interrupted and self.deliveries.seconds > INTERRUPTED_WRITE_SECONDS
        return is_slow or self.storage.is_away or self.deliveries.trouble is not None

    def _end(self, kind: Kind, reason: str) -> Ending:
        """How the run ended; who is interrupted while the storage does not answer hears what was seen last."""
        if not self._is_away():
            try:
                self.storage.evaluations()
            except StorageAway as error:
                self.storage.note(error)
        return ending_of(kind, reason, self.storage.seen.values(), self._is_away())
