"""Slurm, by way of submitit, as an executor: each call is a job, and each job's end settles a future."""

import logging
import os
import pickle
import secrets
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor, Future
from concurrent.futures import wait as wait_for
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from pesky.errors import PeskyError
from pesky.run.processes import WorkerDied, WorkerStopped

if TYPE_CHECKING:
    import submitit

log = logging.getLogger("pesky")

RETRIES = (5.0, 30.0)
"""Seconds before a submission that failed is tried again: a busy controller may answer then."""
RESULT_PATIENCE = 15.0
"""Seconds for the result of a job that has ended to appear, whole, on a slow file system."""
PREEMPTED_PATIENCE = 600.0
"""Seconds for a job that was preempted to be queued again, and for a file system that is away to come back."""
ACCOUNTING = 60.0
"""Seconds at most between two questions to Slurm of how its jobs are; new ones are asked about more often."""
ANSWER = 60.0
"""Seconds for Slurm to answer."""
NOTICE = 180.0
"""Seconds before its time is up at which a job is told so at the earliest: submitit asks for 90, and Slurm adds 60."""
_TAIL = 1000

LOST = ("CANCELLED", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED")
"""States in which a job ends for reasons that are not its own; out of memory and out of time are its own."""
GONE = "GONE"
"""Our word for a job that Slurm does not know any more."""
ENDED = ("CANCELLED", "NODE_FAIL", "BOOT_FAIL", "REVOKED")
ENDED += ("COMPLETED", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", GONE)
"""States of jobs that are over; one that is preempted may be queued again."""
ALIVE = ("PENDING", "RUNNING", "SUSPENDED", "PREEMPTED", "REQUEUED", "RESIZING", "COMPLETING")
"""States of jobs that are not. submitit takes those that are suspended for dead."""


class JobFailed(WorkerDied):
    """A job ended without a result: it crashed, ran out of memory, or its time was up."""


class JobLost(JobFailed, WorkerStopped):
    """The same for reasons that are not the job's: its node died, or it was preempted or canceled."""


class JobRaised(PeskyError, RuntimeError):
    """What was called in a job raised an exception, or could not be loaded there."""


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
        self._accountant = _Accountant()
        self._is_closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """What `fn(*args, **kwargs)` returns as a job, to come; JobFailed or JobLost if the job dies."""
        if self._is_closed:
            raise RuntimeError("this executor was shut down: make a new one for more calls.")
        future = self._submitted(_OnNode(fn), args, kwargs)
        if isinstance(future.job, _submitit().DebugJob):  # runs in this process: here, where a debugger can be used
            future.run()
            return future
        self._accountant.expect_news()
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
        if cancel_futures:
            states = ask_slurm([future.job.job_id for future in flights if future.is_slurms])
            for future in flights:
                if states.get(future.job.job_id, "RUNNING") not in ("RUNNING", "COMPLETING"):
                    future.cancel()
        if wait:
            wait_for([future for future in flights if not future.cancelled()])

    def _submitted(self, call: "_OnNode", args: Any, kwargs: Any) -> "_JobFuture":
        errors = _submitit().core.utils
        for pause in RETRIES:
            try:
                return _JobFuture(self._executor.submit(call, *args, **kwargs), call.mark)
            except (errors.FailedJobError, errors.FailedSubmissionError):
                time.sleep(pause)
        return _JobFuture(self._executor.submit(call, *args, **kwargs), call.mark)

    def _watch(self) -> None:
        while True:
            with self._lock:
                flights = list(self._flights)
                if not flights:
                    self._watcher = None
                    return
            self._accountant.ask([future.job.job_id for future in flights if future.is_slurms])
            over = [future for future in flights if future.settled(self._accountant.states)]
            with self._lock:
                self._flights = [future for future in self._flights if future not in over]
            del flights, over
            time.sleep(self._poll)


class _JobFuture(Future[Any]):
    """The future of a job; pending until it has ended, so that it can be canceled."""

    def __init__(self, job: "submitit.Job[Any]", mark: str) -> None:
        super().__init__()
        self.job, self.mark = job, mark
        self.is_slurms = isinstance(job, _submitit().SlurmJob)
        self._doubt: tuple[str, float] | None = None

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
            if not self._lasts("away", PREEMPTED_PATIENCE):
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
            is_over = self.cancelled() or self._lasts("ended", RESULT_PATIENCE)
        elif state == "PREEMPTED":
            is_over = self._lasts("preempted", PREEMPTED_PATIENCE)
        else:
            is_over, self._doubt = False, None
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

    def _lasts(self, doubt: str, patience: float) -> bool:
        """Whether this has been so for long."""
        if self._doubt is None or self._doubt[0] != doubt:
            self._doubt = doubt, time.monotonic()
        return time.monotonic() - self._doubt[1] >= patience

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


class _Accountant:
    """Knows how the jobs of Slurm are; a Slurm that does not answer keeps nobody waiting."""

    def __init__(self) -> None:
        self.states: Mapping[str, str] = {}
        self._asked = self._began = time.monotonic()
        self._asking: threading.Thread | None = None

    def expect_news(self) -> None:
        """Ask more often for a while."""
        self._began = time.monotonic()

    def ask(self, ids: Collection[str]) -> None:
        """Have Slurm asked about these jobs, if it is time."""
        now = time.monotonic()
        is_due = now - self._asked >= min(max((now - self._began) / 2, 2.0), ACCOUNTING)
        if ids and is_due and (self._asking is None or not self._asking.is_alive()):
            self._asked = now
            self._asking = threading.Thread(target=self._ask, args=[ids], name="pesky-accounting", daemon=True)
            self._asking.start()

    def _ask(self, ids: Collection[str]) -> None:
        self.states = ask_slurm(ids)


def ask_slurm(ids: Collection[str]) -> dict[str, str]:
    """The states of these jobs, in a word each, as far as Slurm tells.

    Its accounting is asked first, which some clusters have switched off, and its queue about the others.
    """
    if not ids:
        return {}
    accounted = _answer(
        "sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State", f"--jobs={','.join(ids)}"
    )
    states = {id_: state for id_, state in _states(accounted or "").items() if state in (*ENDED, *ALIVE)}
    if all(id_ in states for id_ in ids):
        return states
    queued = _answer("squeue", "--noheader", "--states=all", "--format=%i|%T", f"--user={os.getuid()}")
    if queued is None:
        return states
    return {**dict.fromkeys(ids, GONE), **_states(queued), **states}


def _answer(*command: str) -> str | None:
    """What a command prints; None if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=ANSWER)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def _states(lines: str) -> dict[str, str]:
    """The state of each job in lines like `17|CANCELLED by 1000`; a plus is where there is more to say."""
    parted = [line.strip().partition("|") for line in lines.splitlines() if "|" in line]
    return {id_: state.upper().partition(" ")[0].rstrip("+") for id_, _, state in parted}


def _tail(path: Path) -> str:
    """The last words of a file; none if there is no such file."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(path.stat().st_size - 4 * _TAIL, 0))
        return file.read().decode(errors="replace").strip()[-_TAIL:]
    return ""


class _OnNode:
    """The function as it is run in a job, whose result has a mark; one that is preempted leaves, whatever it catches.

    submitit has the job queued again and exits. `measure` would take that exit for one of the user's function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.mark = function, secrets.token_hex(8)

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        number = getattr(signal, "SIG" + os.environ.get("SUBMITIT_PREEMPT_SIGNAL", "USR2"))
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, partial(_leave, handler))
        return self.mark, self.function(*args, **kwargs)


def _leave(handler: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
    try:
        handler(number, frame)
    except SystemExit as leaving:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(leaving.code & 0xFF if isinstance(leaving.code, int) else 1)
    except (OSError, subprocess.SubprocessError):  # it cannot be queued again: it goes on for as long as it may
        traceback.print_exc()
    except _submitit().core.utils.UncompletedJobError:
        # For submitit, the time of a job that is preempted is up if it was given ten minutes, or has used most of them.
        if float(os.environ.get("SLURM_JOB_END_TIME", 0)) - time.time() < NOTICE:
            raise
        traceback.print_exc()


def _submitit() -> Any:
    try:
        import submitit
    except ImportError as error:
        raise PeskyError("submitit is not installed, which starts the jobs: pip install 'pesky[slurm]'.") from error
    return submitit
