"""Executors of whatever kind: how a call is handed to one, and what its end says of the call."""

import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any

import cloudpickle

from pesky.errors import PeskyError
from pesky.run.call import Report, describe, measure
from pesky.run.processes import Processes, WorkerDied, WorkerStopped
from pesky.run.slots import Function


class Inline(Executor):
    """Runs what is submitted at once, in this very thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future that has its result."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def submit(
    executor: Executor, function: Function, params: Mapping[str, Any], timeout: float | None
) -> "Future[Report]":
    """The report of the function at these parameters, to come; only child processes of our own keep the time-out."""
    if isinstance(executor, Processes):
        return executor.call(function, params, timeout=timeout)
    if not isinstance(executor, ProcessPoolExecutor) and _client_of(executor) is None:
        return executor.submit(measure, function, params)
    # As bytes, which are loaded under our eyes: Dask's workers fall silent over what they cannot load.
    code = cloudpickle.dumps(function)
    try:
        return executor.submit(load_and_measure, code, params)
    except Exception:  # of Dask's own, where its client is closed; that may happen at any moment
        check_open(executor)
        raise


def load_and_measure(code: bytes, params: Mapping[str, Any]) -> Report:
    """The report on the function that these bytes are; a PeskyError if they cannot be loaded where this runs."""
    try:
        function = pickle.loads(code)
    except Exception as error:
        raise PeskyError(f"the function could not be loaded by a worker of the executor: {describe(error)}") from None
    return measure(function, params)


def check_open(executor: Executor | None) -> None:
    """Nothing; a PeskyError if this is of a client of Dask's that is closed, whose futures stay pending for ever."""
    if getattr(_client_of(executor), "status", None) == "closed":
        raise PeskyError(
            "Dask's client is closed, by its program or because the scheduler did not answer any more: "
            "what was told is kept, and the study goes on from here with a new client."
        )


def _client_of(executor: Executor | None) -> object:
    """Dask's client, if it is Dask's executor."""
    return getattr(executor, "_client", None)


def is_from_outside(future: "Future[Report]") -> bool:
    """Whether a call was ended by what may be about to end this process as well, or to be over in a moment."""
    error = None if future.cancelled() else future.exception()
    return isinstance(error, OSError) or (isinstance(error, WorkerDied) and error.is_asked_to_end)


def says_nothing(future: "Future[Report]") -> bool:
    """Whether a call ended for reasons that are not its own: canceled, let go of, its pool or its network gone.

    And a function that does not even load has not been called.
    """
    kinds = WorkerStopped | BrokenExecutor | OSError | PeskyError
    return future.cancelled() or isinstance(future.exception(), kinds)


def canceled() -> "Future[Report]":
    """The future of a call that was let go of."""
    future: Future[Report] = Future()
    future.cancel()
    return future
