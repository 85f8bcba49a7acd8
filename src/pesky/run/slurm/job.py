"""A job as a future: what it has left, or why it has left nothing."""

import logging
import pickle
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pesky.errors import PeskyError
from pesky.run.processes import WorkerDied, WorkerStopped
from pesky.run.slurm.node import import_submitit
from pesky.run.slurm.states import ENDED, LOST

if TYPE_CHECKING:
    import submitit

log = logging.getLogger("pesky")

RESULT_SECONDS = 15.0
"""Seconds for the result of a job that has ended to appear, whole, on a slow file system."""
REQUEUE_SECONDS = 600.0
"""Seconds for a job that was preempted to be queued again, and for a file system that is away to come back."""
_TAIL = 1000


class JobFailed(WorkerDied):
    """A job ended without a result: it crashed, ran out of memory, or its time was up."""


class JobLost(JobFailed, WorkerStopped):
    """The same for reasons that are not the job's: its node died, or it was preempted or canceled."""


class JobRaised(PeskyError, RuntimeError):
    """What was called in a job raised an exception, or could not be loaded there."""


class JobFuture(Future[Any]):
    """The future of a job; pending until it has ended, so that it can be canceled."""

    def __init__(self, job: "submitit.Job[Any]", mark: str) -> None:
        super().__init__()
        self.job, self.mark = job, mark
        self.is_slurms = isinstance(job, import_submitit().SlurmJob)
        self._since: tuple[str, float] | None = None

    def cancel(self) -> bool:
        was_canceled = self.cancelled()
        if not super().cancel():
            return False
        if not was_canceled:
            self._end_job()
        return True

    def run(self) -> None:
        """Call, and have what that returns or raises."""
        self.set_running_or_notify_cancel()
        try:
            self.set_result(self.job.results()[0][1])
        except Exception as error:
            self.set_exception(error)

    def settled(self, states: Mapping[str, str]) -> bool:
        """Whether the job has ended and this has what it left; `states` are those of Slurm's jobs, by their ids."""
        try:
            left = self._left(states.get(self.job.job_id, "UNKNOWN") if self.is_slurms else self.job.state)
        except OSError as error:  # of a file system that is away for a moment
            if not self._lasts("away", REQUEUE_SECONDS):
                return False
            left = JobLost(f"what job {self.job.job_id} has left cannot be read: {error}.")
        if left is None:
            return False
        if self.set_running_or_notify_cancel():
            if isinstance(left, Exception):
                self.set_exception(left)
            else:
                self.set_result(left[0])
        return True

    def _left(self, state: str) -> tuple[Any] | Exception | None:
        """What the call returned, or why it did not; None while the job has not ended."""
        has_ended = state in ENDED if self.is_slurms else self.job.done()
        # a process of this machine has still to end when its result is there
        found = self._found() if has_ended or self.is_slurms else "it runs"
        if not isinstance(found, str):
            return found
        if has_ended:
            is_over = self.cancelled() or self._lasts("ended", RESULT_SECONDS)
        elif state == "PREEMPTED":
            is_over = self._lasts("preempted", REQUEUE_SECONDS)
        else:
            is_over, self._since = False, None
        return self._obituary(state, found) if is_over else None

    def _found(self) -> tuple[Any] | Exception | str:
        """What the first task has left, once all have left something; else what is missing."""
        found: list[tuple[Any] | Exception] = []
        with suppress(OSError):  # so that a file system of the network looks again
            self.job.paths.folder.chmod(self.job.paths.folder.stat().st_mode)
        for k in range(self.job.num_tasks):
            path = self.job.task(k).paths.result_pickle
            if not path.exists():
                return "without a result"
            pickled = path.read_bytes()
            try:
                left = pickle.loads(pickled)
            except Exception as error:
                return f"with a result that cannot be read ({type(error).__name__}: {error})"
            match left:
                case ("success", (self.mark, value)):
                    found.append((value,))
                case ("error", str(trace)):
                    found.append(JobRaised(f"job {self.job.job_id} could not load or call the function:\n{trace}"))
                case _:  # numbers are given again to other jobs, and processes, whose files may still be there
                    return "with a result that is not its own"
        return next((each for each in found if isinstance(each, Exception)), found[0])

    def _lasts(self, what: str, seconds: float) -> bool:
        """Whether this has been so for long."""
        if self._since is None or self._since[0] != what:
            self._since = what, time.monotonic()
        return time.monotonic() - self._since[1] >= seconds

    def _obituary(self, state: str, how: str) -> JobFailed:
        folder, tasks = self.job.paths.folder, [self.job.task(k).paths for k in range(self.job.num_tasks)]
        logs = [_tail(path) for paths in tasks for path in (paths.stderr, paths.stdout)]
        said = next(filter(None, logs), None)
        words = "it has written nothing." if said is None else f"its output ends with:\n{said}"
        is_homeless = not folder.exists()
        if state in LOST and state != "CANCELLED":
            self._end_job()  # Slurm may queue it again, and it would be measured twice
        kind = JobLost if is_homeless or state in LOST else JobFailed
        where = f"its folder {folder} is gone." if is_homeless else words
        return kind(f"job {self.job.job_id} ended {how} (state: {state}); {where}")

    def _end_job(self) -> None:
        """Have the job canceled, however long Slurm takes for that, also if this process ends meanwhile."""
        threading.Thread(target=self._cancel_job, name="pesky-cancel").start()

    def _cancel_job(self) -> None:
        try:
            self.job.cancel(check=False)
        except OSError as error:
            log.warning("job %s could not be canceled: %s.", self.job.job_id, error)


def _tail(path: Path) -> str:
    """The last words of a file; none if there is no such file."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(path.stat().st_size - 4 * _TAIL, 0))
        return file.read().decode(errors="replace").strip()[-_TAIL:]
    return ""
