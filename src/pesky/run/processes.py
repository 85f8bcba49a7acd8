"""Child processes that measure: one call at a time each, and any may die without harm to the others."""

import os
import pickle
import queue
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import cloudpickle

from pesky.errors import PeskyError
from pesky.run.call import Report, show
from pesky.run.process import TERMINATE_SECONDS, Output, Process


class WorkerDied(RuntimeError):
    """The process that ran a call ended before it answered; the call may have had effects."""

    is_asked_to_end = False
    """Whether it ended as programs do that are asked to, which may have been meant for all processes here."""


class WorkerStopped(WorkerDied):
    """The same, but for reasons that have nothing to do with the call: it was let go of, or its machine was lost."""


class Processes(Executor):
    """An executor of `count` child processes, started when needed, re-used, and replaced when they die.

    Functions travel by value where they have to (lambdas, closures, functions of a script or a notebook), so that the
    script is not run again. Children have the working directory, `sys.path` and `sys.argv` of this process and print
    to its standard error, or to `output`. Ctrl-C in the terminal does not reach them; they are killed when this
    process ends, in whatever way, and so is all that they started: on Linux all of it, elsewhere what has not left the
    process group.
    """

    def __init__(self, count: int, *, output: Output = None) -> None:
        if count < 1:
            raise PeskyError(f"the number of processes was {count!r}: expected 1 or more.")
        if os.name != "posix":
            raise PeskyError(
                "child processes need Linux or macOS: here, measure in this process, or give an executor like "
                "concurrent.futures.ProcessPoolExecutor()."
            )
        self.count = count
        self._output: Output = output
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._keepers: list[_Keeper] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def call(
        self, function: Callable[[dict[str, Any]], Any], params: Mapping[str, Any], timeout: float | None = None
    ) -> Future[Report]:
        """The report of `measure(function, params)` in a child, to come.

        A function that runs for more than `timeout` seconds is killed, with the programs that it started, and its
        report says so; waiting for a free child and loading the function there do not count. The future raises
        WorkerDied if the child dies, and a PeskyError if the function cannot be loaded there.
        """
        code, arguments = _pickled(function, "the function"), _pickled(dict(params), "the parameters")
        return self._submit(_Call(Future(), code, "measure", arguments, timeout))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """What `fn(*args, **kwargs)` returns or raises in a child, to come."""
        code, arguments = _pickled(fn, "the function"), _pickled((args, kwargs), "the arguments")
        return self._submit(_Call(Future(), code, "call", arguments, None))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls and end the children once those in hand are done; by default, return when they are."""
        self._close(cancel_futures)
        if wait:
            self._join()

    def kill(self) -> None:
        """End all children now: calls that wait are cancelled, and those that run raise WorkerStopped."""
        self._close(cancel_futures=True)
        for keeper in self._keepers:
            keeper.kill()
        self._join()

    def _submit(self, call: "_Call") -> Future[Any]:
        with self._lock:
            if self._is_closed:
                raise RuntimeError("these processes were shut down: start new ones for more calls.")
            self._calls.put(call)
            if not self._idle.acquire(blocking=False) and len(self._keepers) < self.count:
                keeper = _Keeper(self._calls, self._idle, self._output)
                self._keepers.append(keeper)
                keeper.start()
        return call.future

    def _close(self, cancel_futures: bool) -> None:
        waiting: list[_Call | None] = []
        with self._lock:
            self._is_closed = True
            with suppress(queue.Empty):
                while cancel_futures:
                    waiting.append(self._calls.get_nowait())
            self._calls.put(None)
        for call in filter(None, waiting):  # outside of the lock, since callbacks run here
            call.future.cancel()
            call.future.set_running_or_notify_cancel()

    def _join(self) -> None:
        for keeper in self._keepers:
            if keeper is not threading.current_thread():  # a future's callback runs on a keeper
                keeper.join()


class _Call(NamedTuple):
    future: Future[Any]
    code: bytes
    kind: Literal["measure", "call"]
    arguments: bytes
    timeout: float | None


class _Keeper(threading.Thread):
    """The thread that keeps one child: hands it call after call, and replaces it when it is gone."""

    def __init__(self, calls: "queue.SimpleQueue[_Call | None]", idle: threading.Semaphore, output: Output) -> None:
        # a daemon: whoever leaves without a shutdown does not wait for the calls that run
        super().__init__(name="pesky-process", daemon=True)
        self._calls = calls
        self._idle = idle
        self._output: Output = output
        self._child: Process | None = None
        self._is_killed = False

    def run(self) -> None:
        while (call := self._next()) is not None:
            if call.future.set_running_or_notify_cancel():
                self._settle(call)
            del call  # a thread that waits holds on to nothing
        self._calls.put(None)  # for the next keeper
        if self._child is not None:
            self._child.stop()

    def kill(self) -> None:
        """Kill the child, from another thread."""
        self._is_killed = True  # before the look at the child: `_living` kills one that is just being started
        if (child := self._child) is not None and child.process.returncode is None:
            child.kill()

    def _next(self) -> "_Call | None":
        try:
            return self._calls.get_nowait()
        except queue.Empty:
            self._idle.release()
            return self._calls.get()

    def _settle(self, call: "_Call") -> None:
        try:
            result = self._result(call)
        except BaseException as error:
            # without the frames of this file, which hold the call: it would keep itself alive
            call.future.set_exception(error.with_traceback(None))
        else:
            call.future.set_result(result)

    def _result(self, call: "_Call") -> Any:
        child = self._living()
        try:
            answer = child.answer(call.code, call.kind, call.arguments, call.timeout)
        except EOFError:
            status = child.bury(TERMINATE_SECONDS)
            if self._is_killed:
                raise WorkerStopped("the call was stopped by `kill`.") from None
            died = WorkerDied(_ending(status))
            died.is_asked_to_end = -status in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
            raise died from None
        match answer:
            case ("report", *report):
                return Report(*report)
            case ("returned", pickled):
                return pickle.loads(pickled)
            case ("raised", pickled):
                raise pickle.loads(pickled)
            case ("failed", why):
                raise PeskyError(f"the function could not be loaded in a child process: {why}")
        child.end()
        assert call.timeout is not None
        return Report(None, f"time-out: took longer than {call.timeout:g} s", call.timeout)

    def _living(self) -> "Process":
        if self._child is not None and self._child.has_ended:
            self._child.bury(0)
            self._child = None
        if self._child is None:
            try:
                self._child = Process(self._output)
            except OSError as error:
                raise WorkerDied(f"a child process could not be started: {error}") from error
            if self._is_killed:
                self._child.kill()
        return self._child


def _pickled(value: object, what: str) -> bytes:
    try:
        return cloudpickle.dumps(value)
    except Exception as error:
        name = getattr(value, "__qualname__", None) or show(value)
        raise PeskyError(
            f"{what} {name} cannot be sent to another process ({type(error).__name__}: {error}): open files, locks and "
            "connections inside the function, or measure in this process."
        ) from error


def _ending(status: int) -> str:
    if status >= 0:
        return f"the process that ran the call ended by itself, with exit status {status}."
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = " (by hand, or for lack of memory)" if name == "SIGKILL" else ""
    return f"the process that ran the call was killed by {name}{hint}."
