"""What comes back from a measurement, and what the storage is told of it."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from pesky.errors import DataError, PeskyError
from pesky.problem import Problem
from pesky.run.call import Checked, Report, check, describe
from pesky.run.client import AskTell
from pesky.run.deliveries import Deliveries, Delivery
from pesky.run.executors import canceled, is_from_outside, says_nothing
from pesky.run.flights import Flight
from pesky.run.rescue import Result

HOLD_SECONDS = 1.0
"""Seconds until a call that was ended from outside is looked at: what ended it may be about to end this process too."""
IMMEDIATE_ATTEMPTS = 3
"""How often an evaluation that comes back without a word is asked again at once, and not after a moment: an executor
that cancels whatever it is given would have it asked thousands of times."""


class Arrivals:
    """Has what comes back delivered to the storage, in whichever thread it comes; nobody waits for that.

    `landed` is set whenever something has come back, or was kept, and `terminating` once this process is asked to end.
    """

    def __init__(
        self,
        study: AskTell,
        deliveries: Deliveries,
        attempts: int,
        landed: threading.Event,
        terminating: threading.Event,
    ) -> None:
        self.error: PeskyError | None = None
        """Why no further call will bring anything."""
        self._study, self._deliveries, self._attempts = study, deliveries, attempts
        self._landed, self._terminating = landed, terminating

    def come_back(self, flight: Flight, future: "Future[Report]") -> None:
        """Have what came back kept, at once, and without waiting: Dask's event loop must not."""
        is_again = flight.evaluation.attempts > IMMEDIATE_ATTEMPTS and says_nothing(future)
        if is_again or is_from_outside(future):
            threading.Thread(target=self._take_in, args=(flight, future, HOLD_SECONDS), daemon=True).start()
        else:
            self._take_in(flight, future, 0.0)

    def _take_in(self, flight: Flight, future: "Future[Report]", seconds: float) -> None:
        """Have what came back kept, after so many seconds unless this process is asked to end before."""
        is_ending = self._terminating.wait(seconds)
        try:
            delivery = self._delivery(flight, future, is_ending)
        except Exception as error:
            self.error = PeskyError(f"the executor gave no report of a call, but: {describe(error)}")
            delivery = self._delivery(flight, canceled(), is_ending)
        self._deliveries.put(delivery)
        flight.future = None  # the two would keep each other, and Dask would compute again what a dead worker held
        self._landed.set()

    def _delivery(self, flight: Flight, future: "Future[Report]", is_ending: bool) -> Delivery:
        land = partial(self._land, flight)
        error = None if future.cancelled() else future.exception()
        if not future.cancelled() and error is None:
            return self._of_report(flight, future.result(), land)
        # Not the user's function, but what ran it: a worker that died, a broken pool.
        e, store, study = flight.evaluation, self._study.store, self._study.identity
        why = "cancelled" if error is None else f"{type(error).__name__}: {error}"
        if isinstance(error, PeskyError):
            self.error = error  # the function does not even load there: no other point would be better
        if is_ending or says_nothing(future):
            return Delivery(partial(store.release, study, e.id, why, attempt=e.attempts), None, land)
        crash = partial(store.crash, study, e.id, why, attempt=e.attempts, attempts=self._attempts)
        return Delivery(crash, None, land)

    def _of_report(self, flight: Flight, report: Report, land: Callable[[], None]) -> Delivery:
        e, store, study = flight.evaluation, self._study.store, self._study.identity
        problem = self._study.problem
        outcomes = problem.tasks[e.task].outcomes
        values, why, attributes = _within_ranges(check(report, outcomes, problem.yes_no), problem)
        keep = (
            partial(store.tell, study, e.id, values, outcomes, report.seconds)
            if why is None
            else partial(store.fail, study, e.id, why, seconds=report.seconds, outcomes=values)
        )
        result = Result(study, e.id, e.attempts, e.task, dict(e.params), values, why, report.seconds, attributes)
        return Delivery(partial(keep, attempt=e.attempts, attributes=attributes), result, land)

    def _land(self, flight: Flight) -> None:
        flight.is_over = True
        self._landed.set()


def _within_ranges(checked: Checked, problem: Problem) -> Checked:
    """The same without values outside of the ranges that the problem declares; with one the call has failed."""
    values, problems = {}, [] if checked.error is None else [checked.error]
    for name, value in checked.values.items():
        try:
            values[name] = problem.ranges[name].check(value) if name in problem.ranges else value
        except DataError as error:
            problems.append(str(error).removesuffix("."))
    return checked._replace(values=values, error="; ".join(problems) or None)
