"""Slurm, by way of submitit, as an executor: each call is a job, and each job's end settles a future."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from concurrent.futures import wait as wait_for
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from pesky.errors import PeskyError
from pesky.study.processes import WorkerDied, WorkerStopped

if TYPE_CHECKING:
    import submitit

RETRIES = (5.0, 30.0)
"""Seconds before a submission that failed is tried again: a busy controller may answer then."""
RESULT_PATIENCE = 15.0
"""Seconds for the result of a job that has ended to appear on a slow file system."""
PREEMPTED_PATIENCE = 600.0
"""Seconds for a job that was preempted to be queued again; submitit would wait for ever."""
ACCOUNTING = 60.0
"""Seconds between looks at the accounting: submitit looks every ten minutes only, and sees a dead job so late."""
_TAIL = 1000


LOST = ("CANCELLED", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED", "REQUEUED", "RESIZING")
"""States in which a job ends for reasons that are not its own; out of memory and out of time are its own."""


class JobFailed(WorkerDied):
    """A job ended without a result: it crashed, ran out of memory, or its time was up."""


class JobLost(JobFailed, WorkerStopped):
    """The same for reasons that are not the job's: its node died, or it was preempted or canceled."""


class SlurmExecutor(Executor):
    """An executor of submitit, for whatever cluster, whose jobs are futures.

        jobs = submitit.AutoExecutor("jobs")  # in a folder that the nodes share
        jobs.update_parameters(timeout_min=60, cpus_per_task=4, slurm_partition="short")
        study.run(train, budget=100, workers=20, executor=SlurmExecutor(jobs))

    One thread looks every `poll` seconds at which jobs have ended. Canceling a future cancels its job, also one that
    runs. A job that is preempted and queued again is waited for. Of a job with several tasks, the first one's result
    counts. Jobs are not canceled when this process ends.
    """

    def __init__(self, executor: "submitit.Executor", *, poll: float = 1.0) -> None:
        submitit = _submitit()
        if not isinstance(executor, submitit.Executor):
            raise PeskyError(f"the executor was {executor!r}: expected submitit's, like submitit.AutoExecutor('jobs').")
        self._executor = executor
        self._poll = poll
        self._lock = threading.Lock()
        self._flights: list[_JobFuture] = []
        self._watcher: threading.Thread | None = None
        self._accounted = time.monotonic()
        self._is_closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """What `fn(*args, **kwargs)` returns as a job, to come; JobFailed or JobLost if the job dies."""
        if self._is_closed:
            raise RuntimeError("this executor was shut down: make a new one for more calls.")
        future = _JobFuture(self._job(fn, args, kwargs))
        if isinstance(future.job, _submitit().DebugJob):  # runs in this process: here, where a debugger can be used
            future.settle()
            return future
        with self._lock:
            self._flights.append(future)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="pesky-slurm", daemon=True)
                self._watcher.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls, cancel the jobs that do not run yet if asked to, and by default wait for the rest."""
        self._is_closed = True
        with self._lock:
            flights = list(self._flights)
        for future in flights:
            if cancel_futures and future.job.state.upper() not in ("RUNNING", "COMPLETING"):
                future.cancel()
        if wait:
            wait_for([future for future in flights if not future.cancelled()])

    def _job(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> "submitit.Job[Any]":
        errors = _submitit().core.utils
        for pause in RETRIES:
            try:
                return self._executor.submit(_OnNode(fn), *args, **kwargs)
            except (errors.FailedJobError, errors.FailedSubmissionError):
                time.sleep(pause)
        return self._executor.submit(_OnNode(fn), *args, **kwargs)

    def _watch(self) -> None:
        while True:
            with self._lock:
                flights = list(self._flights)
                if not flights:
                    self._watcher = None
                    return
            is_due = time.monotonic() - self._accounted > ACCOUNTING
            self._accounted = time.monotonic() if is_due else self._accounted
            over = [future for k, future in enumerate(flights) if future.settled(look=is_due and k == 0)]
            with self._lock:
                self._flights = [future for future in self._flights if future not in over]
            del flights, over
            time.sleep(self._poll)


class _JobFuture(Future[Any]):
    """The future of a job; pending until it has ended, so that it can be canceled."""

    def __init__(self, job: "submitit.Job[Any]") -> None:
        super().__init__()
        self.job = job
        self._doubt: tuple[str, float] | None = None

    def cancel(self) -> bool:
        was_canceled = self.cancelled()
        if not super().cancel():
            return False
        if not was_canceled:
            self.job.cancel(check=False)
        return True

    def settled(self, look: bool) -> bool:
        """Whether the job has ended and this has what it left; `look` asks the accounting, for all jobs at once."""
        try:
            if not self._is_over(look):
                return False
        except OSError:  # of a file system that is away for a moment
            return False
        except Exception as error:
            if self.set_running_or_notify_cancel():
                self.set_exception(error)
            return True
        self.settle()
        return True

    def settle(self) -> None:
        """Take what the job has left."""
        if not self.set_running_or_notify_cancel():
            return
        try:
            if not (isinstance(self.job, _submitit().DebugJob) or self._has_result()):
                raise self._obituary()
            result = self.job.results()[0]
        except Exception as error:
            self.set_exception(error)
        else:
            self.set_result(result)

    def _is_over(self, look: bool) -> bool:
        if self.job.done(force_check=look):
            return self.cancelled() or self._has_result() or self._lasts("ended", RESULT_PATIENCE)
        if self.job.state.upper() == "PREEMPTED":
            return self._lasts("preempted", PREEMPTED_PATIENCE)
        self._doubt = None
        return False

    def _has_result(self) -> bool:
        return all(self.job.task(k).paths.result_pickle.exists() for k in range(self.job.num_tasks))

    def _lasts(self, doubt: str, patience: float) -> bool:
        """Whether this has been so for long."""
        if self._doubt is None or self._doubt[0] != doubt:
            self._doubt = doubt, time.monotonic()
        return time.monotonic() - self._doubt[1] >= patience

    def _obituary(self) -> JobFailed:
        log = (self.job.stderr() or self.job.stdout() or "").strip()
        words = f"its output ends with:\n{log[-_TAIL:]}" if log else "it has written nothing."
        # "CANCELLED by 1000", and a plus where there is more to say
        state = self.job.state.upper().partition(" ")[0].rstrip("+")
        kind = JobLost if state in LOST else JobFailed
        return kind(f"job {self.job.job_id} ended without a result (state: {self.job.state}); {words}")


class _OnNode:
    """The function as it is run in a job: one that is preempted leaves, whatever the function catches.

    submitit has the job queued again and exits. `measure` would take that exit for one of the user's function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        number = getattr(signal, "SIG" + os.environ.get("SUBMITIT_PREEMPT_SIGNAL", "USR2"))
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, partial(_leave, handler))
        return self.function(*args, **kwargs)


def _leave(handler: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
    try:
        handler(number, frame)
    except SystemExit as leaving:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(leaving.code & 0xFF if isinstance(leaving.code, int) else 1)


def _submitit() -> Any:
    try:
        import submitit
    except ImportError as error:
        raise PeskyError("submitit is not installed, which starts the jobs: pip install 'pesky[slurm]'.") from error
    return submitit
