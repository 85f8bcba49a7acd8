"""The loop over ask and tell: keeps evaluations in flight until the budget is spent, and loses none."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pesky.errors import PeskyError, ProblemError, StorageAway, StorageError, StudyGone
from pesky.problem.fields import finite, whole
from pesky.run.budget import Budget, Ending, Exhausted, Kind
from pesky.run.call import Report, check, describe
from pesky.run.deliver import PATIENCE, Deliveries, Delivery
from pesky.run.executors import Inline, canceled, check_open, is_from_outside, says_nothing, submit
from pesky.run.leases import Leases
from pesky.run.processes import Processes
from pesky.run.progress import Doing, Progress, progress_of
from pesky.run.slots import Function, functions_of, slots_of
from pesky.run.terminate import Terminated, terminable
from pesky.run.untold import Untold, rescue
from pesky.run.within import within
from pesky.store import Evaluation, State

if TYPE_CHECKING:
    from pesky.study.study import Study

log = logging.getLogger("pesky")

T = TypeVar("T")

GLANCE = 0.5
"""Seconds between two looks at what has changed elsewhere."""
LOOK, HURRY = 0.4, 0.5
"""Seconds that an interrupted run waits for its storage, to see how things stand and to let go of what it holds:
Ctrl-C works within a second, always."""
SLOW = 1.0
"""Seconds that a storage may take for one result, to a run that is interrupted."""
GRACE = 5.0
"""The same for a run that ends by an error, or that was asked to end by a signal: who asks so waits longer."""
RUMOR = 1.0
"""Seconds until a call that was ended from outside is looked at: what ended it may be about to end this process too."""
HASTE = 3
"""How often an evaluation that comes back without a word is asked again at once, and not after a moment: an executor
that cancels whatever it is given would have it asked thousands of times."""


@dataclass
class Flight:
    """An evaluation that is being measured."""

    evaluation: Evaluation
    resource: str
    deadline: float | None
    future: Future[Report] | None = None
    is_late: bool = False
    is_over: bool = False


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
        losses: int | None,
        on_interrupt: str,
    ) -> None:
        if on_interrupt not in ("wait", "release"):
            raise ProblemError(f'on_interrupt was {on_interrupt!r}: expected "wait" or "release".')
        if finite("lease", lease) <= 0:
            raise ProblemError(f"lease was {lease!r}: expected a number of seconds above 0.")
        self.study, self.budget, self.watch = study, budget, watch
        self.attempts, self.on_interrupt = whole("attempts", attempts, 1), on_interrupt
        self.losses = None if losses is None else whole("losses", losses, 1)
        self.functions = functions_of(functions, study.problem, tasks)
        self.executor, self.is_own_executor = executor, executor is None
        self.resources, self.workers = slots_of(study.problem, tuple(self.functions), workers, executor)
        self.flights: dict[int, Flight] = {}
        self.leases = Leases(study, lease, self._held)
        self.deliveries = Deliveries()
        self.last: Evaluation | None = None
        self.began = time.monotonic()
        self._landed, self._terminating = threading.Event(), threading.Event()
        self._broken: PeskyError | None = None
        self._exhausted: dict[str, tuple[Exhausted, tuple[object, ...]]] = {}
        self._evaluations: Mapping[int, Evaluation] = {}
        self._away_since: float | None = None
        self._is_interrupted = False

    def run(self) -> Ending:
        """Ask, measure and tell until there is nothing more to do."""
        with terminable(self._terminating):
            return self._run()

    def _run(self) -> Ending:
        if self.is_own_executor:
            self.executor = Inline() if self.workers is None else Processes(self.workers)
        self.leases.begin()
        self.deliveries.begin()
        patience = GRACE
        try:
            ending = self._until_done()
            patience = HURRY if ending.kind == "interrupted" else PATIENCE
            return ending
        finally:
            self._close(patience)

    def _close(self, patience: float) -> None:
        """End all that was begun; results that cannot be kept within so many seconds go to a file."""
        until = time.monotonic() + patience
        self._stop()
        untold = self.deliveries.end(until - time.monotonic())
        self.leases.end(until - time.monotonic())
        if (rescued := rescue(untold, getattr(self.study.store, "file", None))) is not None:
            log.error("%s", rescued)
        if self.is_own_executor and self.executor is not None:
            self.executor.shutdown()

    def _until_done(self) -> Ending:
        ending: tuple[Kind, str] | None = None
        is_begun = False
        while True:
            try:
                self._land()
                if self._broken is not None:
                    raise self._broken
                if self.deliveries.error is not None:
                    raise self.deliveries.error
                if self.flights:
                    check_open(self.executor)
                if not is_begun:
                    self._persist(self.leases.free_orphans)
                    is_begun = True
                if ending is None and self._is_late():
                    ending = "seconds", f"the time of {self.budget.seconds:g} seconds is over"
                asked = ending is None and self._fill()
                self._report("stopping" if ending else "waiting")
                if not self.flights and not asked:
                    ending = ending or self._nothing_to_ask()
                    if ending is not None:
                        return self._end(*ending)
                if not asked:
                    self._wait(LOOK if self._is_interrupted else GLANCE)
                if ending is not None and self._can_leave(ending[0]):
                    return self._end(*ending)
            except StorageAway as error:
                self._note(error)
                if ending is not None and self._can_leave(ending[0]):
                    return self._end(*ending)
                if self._is_long_away():
                    self._await_running(error)
                    raise
                self._wait(GLANCE)
            except StudyGone:
                raise
            except StorageError as error:
                self._await_running(error)
                raise
            except Terminated:
                raise
            except KeyboardInterrupt:
                is_second = ending is not None and ending[0] == "interrupted"
                self._is_interrupted = True
                ending = "interrupted", "interrupted: what was told is kept, and the study goes on from here"
                if is_second or self.on_interrupt == "release":
                    return self._end(*ending)

    def _wait(self, seconds: float) -> None:
        """Until something has come back, at most so many seconds."""
        self._landed.wait(seconds)
        self._landed.clear()

    def _persist(self, action: Callable[[], T]) -> T:
        """What the action returns, tried again while the storage does not answer and nobody is in a hurry."""
        while True:
            try:
                result = action()
            except StorageAway as error:
                self._note(error)
                if self._is_interrupted or self._is_long_away():
                    raise
                self._wait(GLANCE)
            else:
                self._away_since = None
                return result

    def _note(self, error: StorageAway) -> None:
        """Say that the storage does not answer, the first time."""
        if self._away_since is None:
            self._away_since = time.monotonic()
            log.warning("%s It is tried again; nothing that was measured is lost.", error)

    def _is_long_away(self) -> bool:
        """Whether the storage has not answered for so long that the run gives up."""
        return self._away_since is not None and time.monotonic() - self._away_since > PATIENCE

    def _await_running(self, error: StorageError) -> None:
        """Nothing, once all that runs has come back: what it brings goes to a file, where the storage takes no more."""
        if any(flight.future is not None for flight in self.flights.values()):
            log.error("%s Asking no more; what is being measured is waited for, and written to a file.", error)
        while any(flight.future is not None for flight in self.flights.values()):
            self._wait(GLANCE)

    def _can_leave(self, kind: Kind) -> bool:
        """Whether an interrupted run has nothing to wait for but a storage that does not answer."""
        is_idle = all(flight.future is None for flight in self.flights.values())
        return kind == "interrupted" and is_idle and self._is_away()

    def _is_away(self) -> bool:
        """Whether the storage does not answer; to one who is interrupted, also whether it takes its time to do so."""
        is_slow = self._is_interrupted and self.deliveries.seconds > SLOW
        return is_slow or self._away_since is not None or self.deliveries.trouble is not None

    def _held(self) -> dict[int, int]:
        return {id_: flight.evaluation.attempts for id_, flight in list(self.flights.items())}

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
                evaluation = self._persist(partial(self._ask, tasks))
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
            losses=self.losses,
            limit=self.budget.limit,
            gain_per_cost=self.budget.gain_per_cost,
        )

    def _situation(self) -> tuple[object, ...]:
        """What must change before a resource that had nothing worth asking is asked again."""
        return tuple((e.state, len(e.outcomes)) for e in self._look().values())

    def _nothing_to_ask(self) -> tuple[Kind, str] | None:
        """Why the run is over; None while others are measuring, whose evaluations may still be lost."""
        each = self._look().values()
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
            future = submit(self.executor, function, params, timeout)
        except BaseException:  # Ctrl-C in a function that runs in this thread, or one that cannot be sent elsewhere
            del self.flights[evaluation.id]
            raise
        flight.future = future
        # Kept at once, whatever this thread is doing then.
        future.add_done_callback(partial(self._come_back, flight))

    # -- telling -----------------------------------------------------------------------------------------------------

    def _come_back(self, flight: Flight, future: "Future[Report]") -> None:
        """Have what came back kept, at once, and without waiting: Dask's event loop must not."""
        is_in_haste = flight.evaluation.attempts > HASTE and says_nothing(future)
        if is_in_haste or is_from_outside(future):
            threading.Thread(target=self._take_in, args=(flight, future, RUMOR), daemon=True).start()
        else:
            self._take_in(flight, future)

    def _take_in(self, flight: Flight, future: "Future[Report]", patience: float = 0.0) -> None:
        """Have what came back kept, after so many seconds unless this process is asked to end before."""
        is_ending = self._terminating.wait(patience)
        try:
            delivery = self._delivery(flight, future, is_ending)
        except Exception as error:
            self._broken = PeskyError(f"the executor gave no report of a call, but: {describe(error)}")
            delivery = self._delivery(flight, canceled(), is_ending)
        self.deliveries.put(delivery)
        flight.future = None  # the two would keep each other, and Dask would compute again what a dead worker held
        self._landed.set()

    def _delivery(self, flight: Flight, future: "Future[Report]", is_ending: bool) -> Delivery:
        e, store, study = flight.evaluation, self.study.store, self.study.identity

        def land() -> None:
            flight.is_over = True
            self._landed.set()

        error = None if future.cancelled() else future.exception()
        if future.cancelled() or error is not None:
            # Not the user's function, but what ran it: a worker that died, a broken pool.
            why = "cancelled" if error is None else f"{type(error).__name__}: {error}"
            if isinstance(error, PeskyError):
                self._broken = error  # the function does not even load there: no other point would be better
            if is_ending or says_nothing(future):
                return Delivery(partial(store.release, study, e.id, why, attempt=e.attempts), None, land)
            crash = partial(store.crash, study, e.id, why, attempt=e.attempts, attempts=self.attempts)
            return Delivery(crash, None, land)
        report, task = future.result(), self.study.problem.tasks[e.task]
        values, why = check(report, task.outcomes, self.study.problem.yes_no)
        keep = (
            partial(store.tell, study, e.id, values, task.outcomes, report.seconds, attempt=e.attempts)
            if why is None
            else partial(store.fail, study, e.id, why, attempt=e.attempts, seconds=report.seconds, outcomes=values)
        )
        result = Untold(study, e.id, e.attempts, e.task, dict(e.params), values, why, report.seconds)
        return Delivery(keep, result, land)

    def _land(self) -> None:
        """Take the flights that are over out of the air."""
        now = time.monotonic()
        for id_, flight in list(self.flights.items()):
            if flight.deadline is not None and now > flight.deadline and flight.future is not None:
                if flight.is_late:
                    self._give_up(flight)
                # This process may have been stopped: the result has come then, and is taken in within a moment.
                flight.deadline, flight.is_late = now + GLANCE, True
            if flight.is_over:
                del self.flights[id_]
                self.last = self._look()[id_]

    def _give_up(self, flight: Flight) -> None:
        """A time-out where nothing can be stopped: the slot is free again, and a late result is still taken in."""
        e = flight.evaluation
        seconds = self.study.problem.tasks[e.task].timeout
        error = f"time-out: took longer than {seconds:g} s"
        fail = partial(self.study.store.fail, self.study.identity, e.id, error, attempt=e.attempts)
        self._persist(partial(fail, seconds=seconds, outcomes={}))
        flight.is_over = True

    # -- the rest ----------------------------------------------------------------------------------------------------

    def _stop(self) -> None:
        """Stop what is still running."""
        for flight in list(self.flights.values()):
            if (future := flight.future) is not None:
                try:
                    future.cancel()
                except Exception as error:
                    log.warning("%s is still being measured: it could not be canceled (%s).", flight.evaluation, error)
        if self.flights and isinstance(self.executor, Processes):
            self.executor.kill()

    def _look(self) -> Mapping[int, Evaluation]:
        """The evaluations as the storage has them now."""

        def look() -> Mapping[int, Evaluation]:
            return self.study.evaluations

        self._evaluations = self._persist(partial(within, LOOK, look) if self._is_interrupted else look)
        return self._evaluations

    def _is_late(self) -> bool:
        return self.budget.seconds is not None and time.monotonic() - self.began > self.budget.seconds

    def _report(self, state: Doing) -> None:
        if self.watch is not None:
            self.watch(progress_of(self.study, self._look(), self.budget, self.began, self.last, state))

    def _end(self, kind: Kind, reason: str) -> Ending:
        """How the run ended; who is interrupted while the storage does not answer hears what was seen last."""
        if not self._is_away():
            try:
                self._look()
            except StorageAway as error:
                self._note(error)
        own = [e for e in self._evaluations.values() if not e.is_yours]
        failed = sorted((e for e in own if e.state is State.FAILED), key=lambda e: e.ended or 0.0)
        error = (failed[-1].error or "").partition("\n")[0] if failed else None
        return Ending(
            kind,
            reason,
            sum(e.state is State.DONE for e in own),
            len(failed),
            error,
            is_storage_away=self._is_away(),
        )
