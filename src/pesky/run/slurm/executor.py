"""The executor: submits jobs, and watches them until they have ended."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from concurrent.futures import wait as wait_for
from typing import TYPE_CHECKING, Any

from pesky.errors import PeskyError
from pesky.run.slurm.job import JobFuture
from pesky.run.slurm.node import MarkedCall, import_submitit
from pesky.run.slurm.states import JobStates, ask_slurm

if TYPE_CHECKING:
    import submitit

RESUBMIT_SECONDS = (5.0, 30.0)
"""Seconds before a submission that failed is tried again: a busy controller may answer then."""


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
        submitit = import_submitit()
        if not isinstance(executor, submitit.Executor):
            raise PeskyError(f"the executor was {executor!r}: expected submitit's, like submitit.AutoExecutor('jobs').")
        self._executor = executor
        self._poll = poll
        self._lock = threading.Lock()
        self._jobs: list[JobFuture] = []
        self._watcher: threading.Thread | None = None
        self._states = JobStates()
        self._is_closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """What `fn(*args, **kwargs)` returns as a job, to come; JobFailed or JobLost if the job dies."""
        if self._is_closed:
            raise RuntimeError("this executor was shut down: make a new one for more calls.")
        future = self._submitted(MarkedCall(fn), args, kwargs)
        if isinstance(
            future.job, import_submitit().DebugJob
        ):  # runs in this process: here, where a debugger can be used
            future.run()
            return future
        self._states.expect_news()
        with self._lock:
            self._jobs.append(future)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="pesky-slurm", daemon=True)
                self._watcher.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls, cancel the jobs that do not run yet if asked to, and by default wait for the rest."""
        self._is_closed = True
        with self._lock:
            jobs = list(self._jobs)
        if cancel_futures:
            states = ask_slurm([future.job.job_id for future in jobs if future.is_slurms])
            for future in jobs:
                if states.get(future.job.job_id, "RUNNING") not in ("RUNNING", "COMPLETING"):
                    future.cancel()
        if wait:
            wait_for([future for future in jobs if not future.cancelled()])

    def _submitted(self, call: MarkedCall, args: Any, kwargs: Any) -> JobFuture:
        errors = import_submitit().core.utils
        for pause in RESUBMIT_SECONDS:
            try:
                return JobFuture(self._executor.submit(call, *args, **kwargs), call.mark)
            except (errors.FailedJobError, errors.FailedSubmissionError):
                time.sleep(pause)
        return JobFuture(self._executor.submit(call, *args, **kwargs), call.mark)

    def _watch(self) -> None:
        while True:
            with self._lock:
                jobs = list(self._jobs)
                if not jobs:
                    self._watcher = None
                    return
            self._states.ask([future.job.job_id for future in jobs if future.is_slurms])
            over = [future for future in jobs if future.settled(self._states.by_id)]
            with self._lock:
                self._jobs = [future for future in self._jobs if future not in over]
            del jobs, over
            time.sleep(self._poll)
