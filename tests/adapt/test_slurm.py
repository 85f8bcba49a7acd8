"""Jobs that succeed, fail, vanish or are canceled: each settles its future, here or on a cluster."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
import submitit

from pesky.adapt import slurm
from pesky.adapt.slurm import JobFailed, SlurmExecutor
from pesky.errors import PeskyError
from pesky.study.call import measure

LONG = 60.0
"""Seconds that no job here may take, however busy the machine."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "RESULT_PATIENCE", 0.5)
    monkeypatch.setattr(slurm, "ACCOUNTING", 0.2)
    monkeypatch.setattr(slurm, "RETRIES", (0.1,))


@pytest.fixture
def local(tmp_path: Path) -> Iterator[SlurmExecutor]:
    jobs = submitit.AutoExecutor(tmp_path / "jobs", cluster="local")
    jobs.update_parameters(timeout_min=60)
    with SlurmExecutor(jobs, poll=0.05) as executor:
        yield executor
    until(lambda: not [thread for thread in threading.enumerate() if thread.name == "pesky-slurm"])


def until(condition: Callable[[], Any]) -> Any:
    """What the condition gives once it holds."""
    end = time.monotonic() + LONG
    while not (given := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return given


def written(path: Path) -> int:
    """The number that a job has written."""
    return int(until(lambda: path.exists() and path.read_text()))


def hang(path: Path) -> Callable[[], None]:
    text = str(path)

    def hanging() -> None:
        Path(text).write_text(str(os.getpid()))
        time.sleep(300)

    return hanging


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


# -- on this machine ---------------------------------------------------------------------------------------------------


def test_functions_are_measured_in_jobs(local: SlurmExecutor) -> None:
    here = os.getpid()

    def function(params: dict[str, float]) -> dict[str, float]:
        return {"f": 1 / params["x"], "is_elsewhere": os.getpid() != here}

    futures = [local.submit(measure, function, {"x": x}) for x in (2, 0)]
    assert all(isinstance(future, Future) for future in futures)
    fine, failed = (future.result(LONG) for future in futures)
    assert fine.outcomes == {"f": 0.5, "is_elsewhere": True}
    assert failed.error.startswith("ZeroDivisionError: division by zero\n  test_slurm.py")


def test_a_job_that_dies_fails_with_its_last_words(local: SlurmExecutor) -> None:
    def die() -> None:
        print("the last words", file=sys.stderr, flush=True)
        os._exit(3)

    def fail() -> None:
        raise ValueError("no such mesh")

    dead, failed = local.submit(die), local.submit(fail)
    with pytest.raises(JobFailed, match=r"(?s)job \d+ ended without a result \(state: FINISHED\).*the last words"):
        dead.result(LONG)
    with pytest.raises(RuntimeError, match="ValueError: no such mesh"):
        failed.result(LONG)


def test_to_cancel_a_future_is_to_cancel_its_job(local: SlurmExecutor, tmp_path: Path) -> None:
    future = local.submit(hang(tmp_path / "pid"))
    pid = written(tmp_path / "pid")
    assert future.cancel()
    assert future.cancelled()
    assert future.cancel()
    until(lambda: is_gone(pid))


def test_a_job_that_is_preempted_is_waited_for(local: SlurmExecutor, tmp_path: Path) -> None:
    """Though the signal comes in the middle of a function, whose exceptions and exits are reports."""
    mark = str(tmp_path / "mark")

    def preempted(params: Any) -> int:
        if not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGUSR2)
            time.sleep(300)
        return 7

    assert local.submit(measure, preempted, {}).result(LONG)[:2] == ({"": 7.0}, None)


def test_of_several_tasks_the_first_one_counts(tmp_path: Path) -> None:
    jobs = submitit.LocalExecutor(tmp_path / "jobs")
    jobs.update_parameters(timeout_min=60, tasks_per_node=2)
    with SlurmExecutor(jobs, poll=0.05) as executor:
        assert executor.submit(lambda: submitit.JobEnvironment().global_rank).result(LONG) == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # submitit leaves log files open
def test_a_debug_job_runs_here_and_now(tmp_path: Path) -> None:
    executor = SlurmExecutor(submitit.AutoExecutor(tmp_path / "jobs", cluster="debug"))
    future = executor.submit(measure, lambda params: params["x"] + os.getpid(), {"x": 1})
    assert future.result(0).outcomes == {"": 1.0 + os.getpid()}
    executor.shutdown()
    with pytest.raises(RuntimeError, match="shut down"):
        executor.submit(abs, 1)


def test_mistakes_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor() as threads, pytest.raises(PeskyError, match="expected submitit's, like"):
        SlurmExecutor(threads)  # pyright: ignore[reportArgumentType]
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(PeskyError, match=r"pip install 'pesky\[slurm\]'"):
        SlurmExecutor(submitit.LocalExecutor(tmp_path))


# -- on a cluster, whose commands are shell scripts here ---------------------------------------------------------------

COMMANDS = {
    "sbatch": """
        if [ -e refuse ]; then rm refuse; echo "Socket timed out on send/recv operation" >&2; exit 1; fi
        id=$(cat next); echo $((id + 1)) > next; echo RUNNING > $id
        export SLURM_JOB_ID=$id
        setsid sh -c 'echo $$ > $0.group; bash "$1" > /dev/null 2>&1
            [ $(cat $0) = RUNNING ] && echo COMPLETED > $0' $id "$1" > /dev/null 2>&1 &
        echo "Submitted batch job $id"
    """,
    "srun": """
        while [ "${1#--}" != "$1" ]; do
            case $1 in
                --output) out=$2; shift 2;;
                --error) err=$2; shift 2;;
                *) shift;;
            esac
        done
        exec "$@" > $(echo $out | sed "s/%j/$SLURM_JOB_ID/;s/%t/0/") 2> $(echo $err | sed "s/%j/$SLURM_JOB_ID/;s/%t/0/")
    """,
    "sacct": """
        echo "JobID|State|NodeList"
        for id in "$@"; do if [ -e "$id" ]; then echo "$id|$(cat $id)|node1"; fi; done
    """,
    "scancel": """
        echo "CANCELLED by 0" > $1
        kill -9 -$(cat $1.group)
    """,
}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the commands keep the state of each job, by its id."""
    folder = tmp_path / "cluster"
    (folder / "bin").mkdir(parents=True)
    for name, text in COMMANDS.items():
        command = folder / "bin" / name
        command.write_text(f"#!/bin/bash\ncd {folder}\n{text}")
        command.chmod(0o755)
    (folder / "next").write_text(str(time.time_ns() // 1000))  # submitit remembers the jobs of other tests
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def on_cluster(cluster: Path, tmp_path: Path) -> Iterator[SlurmExecutor]:
    jobs = submitit.AutoExecutor(tmp_path / "jobs")
    assert jobs.cluster == "slurm"
    with SlurmExecutor(jobs, poll=0.05) as executor:
        yield executor


def lose(cluster: Path, future: Any, state: str) -> None:
    """What happens to a job when its node dies, say."""
    job = cluster / future.job.job_id
    job.write_text(state)
    os.killpg(int((cluster / f"{job.name}.group").read_text()), signal.SIGKILL)


def test_jobs_of_a_cluster_are_futures(cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path) -> None:
    (cluster / "refuse").touch()  # a submission that fails is tried again
    fine = on_cluster.submit(lambda x: x + 1, 2)
    lost = on_cluster.submit(hang(tmp_path / "lost"))
    canceled = on_cluster.submit(hang(tmp_path / "canceled"))
    written(tmp_path / "lost")
    lose(cluster, lost, "NODE_FAIL")
    pid = written(tmp_path / "canceled")
    assert canceled.cancel()
    until(lambda: is_gone(pid))
    assert fine.result(LONG) == 3
    with pytest.raises(JobFailed, match=r"ended without a result \(state: NODE_FAIL\)"):
        lost.result(LONG)


def test_a_preempted_job_has_some_time_to_come_back(
    cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = on_cluster.submit(hang(tmp_path / "lost"))
    written(tmp_path / "lost")
    lose(cluster, lost, "PREEMPTED")
    until(lambda: lost.job.state == "PREEMPTED")  # pyright: ignore[reportAttributeAccessIssue]
    assert not lost.done()
    monkeypatch.setattr(slurm, "PREEMPTED_PATIENCE", 0.5)
    with pytest.raises(JobFailed, match="PREEMPTED"):
        lost.result(LONG)


def test_shutdown_cancels_what_does_not_run(cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path) -> None:
    release = str(tmp_path / "release")

    def patient() -> int:
        while not Path(release).exists():
            time.sleep(0.02)
        return 7

    running, waiting = on_cluster.submit(patient), on_cluster.submit(patient)
    (cluster / waiting.job.job_id).write_text("PENDING")  # pyright: ignore[reportAttributeAccessIssue]
    for future in (running, waiting):
        future.job.get_info()  # pyright: ignore[reportAttributeAccessIssue]
    on_cluster.shutdown(wait=False, cancel_futures=True)
    assert waiting.cancelled()
    Path(release).touch()
    on_cluster.shutdown()
    assert running.result(0) == 7


def test_an_impossible_submission_is_an_error(cluster: Path, on_cluster: SlurmExecutor) -> None:
    (cluster / "bin" / "sbatch").write_text("#!/bin/sh\necho 'invalid partition' >&2\nexit 1\n")
    with pytest.raises(RuntimeError, match="invalid partition"):
        on_cluster.submit(abs, 1)
