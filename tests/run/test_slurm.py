"""Jobs that succeed, fail, vanish or are canceled: each settles its future, here or on a cluster."""

import os
import pickle
import shutil
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
from stopwatch import Stopwatch
from survival.nursery import nursling

from pesky import Study
from pesky.errors import PeskyError
from pesky.run.call import measure
from pesky.run.slurm import JobFailed, JobLost, JobRaised, SlurmExecutor
from pesky.store import Cause, State

LONG = 60.0
"""Seconds that no job here may take, however busy the machine."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pesky.run.slurm.job.RESULT_SECONDS", 0.5)
    monkeypatch.setattr("pesky.run.slurm.states.ACCOUNTING_SECONDS", 0.2)
    monkeypatch.setattr("pesky.run.slurm.executor.RESUBMIT_SECONDS", (0.1,))


@pytest.fixture
def local(tmp_path: Path) -> Iterator[SlurmExecutor]:
    jobs = submitit.AutoExecutor(tmp_path / "jobs", cluster="local")
    jobs.update_parameters(timeout_min=60)
    others = set(threading.enumerate())  # of executors that still ask a cluster that is gone, say
    with SlurmExecutor(jobs, poll=0.05) as executor:
        yield executor
    until(lambda: not [each for each in threading.enumerate() if each.name == "pesky-slurm" and each not in others])


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


def counter(path: Path) -> Callable[[], int]:
    """Says how often it was called in whatever job, this time included."""
    text = str(path)

    def count() -> int:
        with open(text, "a") as file:
            file.write("here\n")
        return Path(text).read_text().count("\n")

    return count


def learnt(study: Study) -> list[float]:
    """What is learnt of success, 1 and -1 for each evaluation of which something is."""
    observed, row = study.observations(), study.problem.rows.index("all succeeds")
    return observed.y[row][observed.mask[row]].tolist()


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
    with pytest.raises(PeskyError, match=r'pip install "submitit>='):
        SlurmExecutor(submitit.LocalExecutor(tmp_path))


# -- attacked, on this machine -----------------------------------------------------------------------------------------


def test_a_job_that_is_killed_has_crashed_and_is_tried_again(local: SlurmExecutor, tmp_path: Path) -> None:
    count = counter(tmp_path / "times")

    def killed(params: Any) -> float:
        if count() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0

    study = nursling(initial=50)
    assert study.run(killed, budget=2, executor=local).evaluations == 2
    first, second = study.evaluations.values()
    assert [(a.cause, a.error.partition(" ")[0]) for a in first.history] == [(Cause.CRASHED, "JobFailed:")]
    assert (first.attempts, first.crashes, second.attempts) == (2, 1, 1)
    assert learnt(study) == [1.0, 1.0]


def test_a_job_that_is_stopped_and_continued_is_waited_for(local: SlurmExecutor, tmp_path: Path) -> None:
    path = str(tmp_path / "pid")

    def slow() -> int:
        Path(path).write_text(str(os.getpid()))
        time.sleep(0.5)
        return 7

    future = local.submit(slow)
    stopped = psutil.Process(written(tmp_path / "pid"))
    stopped.suspend()
    time.sleep(1.5)  # longer than the patience with results, and than the time it takes
    assert not future.done()
    stopped.resume()
    assert future.result(LONG) == 7


def leave_behind(content: bytes) -> Callable[[], None]:
    """A call that leaves this as the file of its result, and no other."""

    def leaving() -> None:
        submitit.JobEnvironment().paths.result_pickle.write_bytes(content)
        print("the last words", file=sys.stderr, flush=True)
        os._exit(0)

    return leaving


def test_a_result_that_cannot_be_read_is_none(local: SlurmExecutor) -> None:
    """Truncated, empty, garbage, no answer at all, and one that a job of the same number left long ago."""
    whole = pickle.dumps(("success", ("mark", 1.0)))
    left = [whole[:-3], b"", b"\x00garbage", pickle.dumps(5), whole]
    futures = [local.submit(leave_behind(content)) for content in left]
    words = [r"cannot be read"] * 3 + [r"is not its own"] * 2
    for future, why in zip(futures, words, strict=True):
        with pytest.raises(JobFailed, match=rf"(?s)job \d+ ended with a result that {why}.*the last words") as raised:
            future.result(LONG)
        assert not isinstance(raised.value, JobLost)


def test_a_folder_that_vanishes_is_not_the_function(local: SlurmExecutor, tmp_path: Path) -> None:
    count, folder = counter(tmp_path / "times"), str(tmp_path / "jobs")

    def homeless(params: Any) -> float:
        if count() <= 4:
            shutil.rmtree(folder)
        return 1.0

    study = nursling(initial=50)
    assert study.run(homeless, budget=1, executor=local).evaluations == 1
    (only,) = study.evaluations.values()
    assert [a.cause for a in only.history] == [Cause.RELEASED] * 4
    assert all("JobLost" in a.error and "is gone" in a.error for a in only.history)
    assert (only.attempts, only.crashes, learnt(study)) == (5, 0, [1.0])


def test_a_function_that_does_not_load_ends_the_run_and_is_not_learnt(local: SlurmExecutor, tmp_path: Path) -> None:
    class Unloadable:
        def __call__(self, params: Any) -> float:
            return 1.0

        def __reduce__(self) -> Any:
            return int, ("no number",)

    study = nursling(initial=50)
    with pytest.raises(JobRaised, match=r"(?s)could not load or call the function.*ValueError: invalid literal"):
        study.run(Unloadable(), budget=2, executor=local)
    (only,) = study.evaluations.values()
    assert (only.state, only.cause, only.crashes) == (State.LOST, Cause.RELEASED, 0)


# -- on a cluster, whose commands are shell scripts here ---------------------------------------------------------------

COMMANDS = {
    "sbatch": """
        if [ -e refuse ]; then rm refuse; echo "Socket timed out on send/recv operation" >&2; exit 1; fi
        id=$(cat next); echo $((id + 1)) > next; cp "$1" $id.script; start $id
        echo "Submitted batch job $id"
    """,
    "start": """
        echo RUNNING > $1
        export SLURM_JOB_ID=$1 SLURM_JOB_END_TIME=$(($(date +%s) + $(cat seconds)))
        echo start >> $1.starts  # one that was queued again is not over when its first process is
        setsid sh -c 'echo $$ > $0.group; bash $0.script > /dev/null 2>&1
            [ $(cat $0) = RUNNING ] && [ $(wc -l < $0.starts) = $1 ] && echo COMPLETED > $0' \\
            $1 $(wc -l < $1.starts) > /dev/null 2>&1 &
    """,
    "srun": """
        while [ "${1#--}" != "$1" ]; do
            case $1 in
                --output) out=$2; shift 2;;
                --error) err=$2; shift 2;;
                *) shift;;
            esac
        done
        out=${out//%j/$SLURM_JOB_ID} err=${err//%j/$SLURM_JOB_ID}
        exec "$@" > "${out//%t/0}" 2> "${err//%t/0}"
    """,
    "sacct": """
        for id in $(echo "$@" | grep -o 'jobs=.*' | tr -c '0-9' ' '); do
            if [ -e $id ]; then echo "$id|$(cat $id)"; fi
        done
    """,
    "squeue": """
        for group in *.group; do id=${group%.group}; if [ -e $id ]; then echo "$id|$(cat $id)"; fi; done
    """,
    "scontrol": """
        if [ -e keep ]; then echo "Requested operation is presently disabled" >&2; exit 1; fi
        echo PENDING > $2; start $2
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
    (folder / "seconds").write_text("3600")  # until the time of a job is up
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
    with pytest.raises(JobLost, match=r"ended without a result \(state: NODE_FAIL\)"):
        lost.result(LONG)


def test_a_preempted_job_has_some_time_to_come_back(
    cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = on_cluster.submit(hang(tmp_path / "lost"))
    written(tmp_path / "lost")
    lose(cluster, lost, "PREEMPTED")
    time.sleep(1.5)
    assert not lost.done()
    monkeypatch.setattr("pesky.run.slurm.job.REQUEUE_SECONDS", 0.5)
    with pytest.raises(JobLost, match="PREEMPTED"):
        lost.result(LONG)
    job = cluster / lost.job.job_id  # pyright: ignore[reportAttributeAccessIssue]
    until(lambda: job.read_text() == "CANCELLED by 0\n")  # or it would be queued again and measured twice


def test_shutdown_cancels_what_does_not_run(cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path) -> None:
    release = str(tmp_path / "release")

    def patient() -> int:
        while not Path(release).exists():
            time.sleep(0.02)
        return 7

    running, waiting = on_cluster.submit(patient), on_cluster.submit(patient)
    (cluster / waiting.job.job_id).write_text("PENDING")  # pyright: ignore[reportAttributeAccessIssue]
    on_cluster.shutdown(wait=False, cancel_futures=True)
    assert waiting.cancelled()
    Path(release).touch()
    on_cluster.shutdown()
    assert running.result(0) == 7


def test_an_impossible_submission_is_an_error(cluster: Path, on_cluster: SlurmExecutor) -> None:
    (cluster / "bin" / "sbatch").write_text("#!/bin/sh\necho 'invalid partition' >&2\nexit 1\n")
    with pytest.raises(RuntimeError, match="invalid partition"):
        on_cluster.submit(abs, 1)


# -- attacked, on a cluster --------------------------------------------------------------------------------------------


def test_names_with_anything_in_them_are_no_commands(cluster: Path, tmp_path: Path) -> None:
    """Of the folder, the job and its comment: they are written into a script that a shell reads."""
    odd = """o 'dd' "$(touch owned)" `touch owned` ;touch owned; é \x1b]0;owned\x07"""
    jobs = submitit.AutoExecutor(tmp_path / odd)
    jobs.update_parameters(name=odd, slurm_comment=odd, slurm_additional_parameters={"wckey": odd})
    with SlurmExecutor(jobs, poll=0.05) as executor:
        assert executor.submit(lambda x: x + 1, 2).result(LONG) == 3
    assert not list(tmp_path.rglob("owned"))
    assert not Path("owned").exists()


def test_a_node_that_dies_and_a_job_that_is_canceled_are_not_the_function(
    cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path
) -> None:
    """More often than a function may crash."""
    states = ["NODE_FAIL", "CANCELLED by 1000", "BOOT_FAIL", "CANCELLED+", "OUT_OF_MEMORY"]
    count, where = counter(tmp_path / "times"), str(cluster)

    def dies(params: Any) -> float:
        number = count()
        if number <= len(states):
            (Path(where) / os.environ["SLURM_JOB_ID"]).write_text(states[number - 1])
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0

    study = nursling(initial=50)
    assert study.run(dies, budget=1, executor=on_cluster, attempts=2).evaluations == 1
    (only,) = study.evaluations.values()
    assert [a.cause for a in only.history] == [Cause.RELEASED] * 4 + [Cause.CRASHED]
    assert "OUT_OF_MEMORY" in only.history[-1].error
    assert (only.attempts, only.crashes, learnt(study)) == (6, 1, [1.0])


def test_a_job_that_is_suspended_is_waited_for(cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path) -> None:
    path = str(tmp_path / "pid")

    def slow() -> int:
        Path(path).write_text(str(os.getpid()))
        time.sleep(0.5)
        return 7

    future = on_cluster.submit(slow)
    stopped = psutil.Process(written(tmp_path / "pid"))
    stopped.suspend()
    job = cluster / future.job.job_id  # pyright: ignore[reportAttributeAccessIssue]
    job.write_text("SUSPENDED")
    time.sleep(2.0)
    assert not future.done()
    job.write_text("RUNNING")
    stopped.resume()
    assert future.result(LONG) == 7


@pytest.mark.parametrize(("minutes", "is_queued_again"), [(60, True), (60, False), (5, False)])
def test_a_job_that_is_preempted_runs_again_or_goes_on(
    cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path, minutes: int, is_queued_again: bool
) -> None:
    """Where it is not queued again, by Slurm or because submitit takes its time for up, that is not the function."""
    times, count = tmp_path / "times", counter(tmp_path / "times")
    on_cluster._executor.update_parameters(timeout_min=minutes)
    if not is_queued_again:
        (cluster / "keep").touch()

    study = nursling(initial=50)
    assert study.run(preempted(count), budget=1, executor=on_cluster).evaluations == 1
    assert [(e.attempts, e.crashes, e.history) for e in study.evaluations.values()] == [(1, 0, ())]
    assert times.read_text().count("\n") == (2 if is_queued_again else 1)
    assert learnt(study) == [1.0]


def test_a_job_whose_time_is_up_has_failed(cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path) -> None:
    (cluster / "seconds").write_text("90")
    study = nursling(initial=50)
    ending = study.run(preempted(counter(tmp_path / "times")), budget=1, executor=on_cluster)
    assert (ending.failed, learnt(study)) == (1, [-1.0])
    assert "timed-out" in str(ending.error)


def preempted(count: Callable[[], int]) -> Callable[[Any], float]:
    """A function that gets the signal of preemption, the first time."""

    def preempted(params: Any) -> float:
        if count() == 1:
            os.kill(os.getpid(), signal.SIGUSR2)
            time.sleep(0.1)
        return 1.0

    return preempted


def test_a_result_that_is_written_twice_counts_once(cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path) -> None:
    """By a job that Slurm runs again though it was done."""
    times, count = tmp_path / "times", counter(tmp_path / "times")

    def noisy(params: Any) -> float:
        return float(count())

    study = nursling(initial=50)
    assert study.run(noisy, budget=1, executor=on_cluster).evaluations == 1
    job = (cluster / "next").read_text()
    again = f"{cluster}/bin/scontrol requeue {int(job) - 1}"
    assert os.system(again) == 0
    until(lambda: times.read_text().count("\n") == 2)
    until(lambda: (cluster / str(int(job) - 1)).read_text() == "COMPLETED\n")
    assert [dict(e.outcomes) for e in study.evaluations.values()] == [{"f": 1.0}]


NONSENSE = ["exit 1", "echo 'Welcome to the cluster!'", "printf '\\xff\\xfe|\\n||\\n'", 'echo "$@|BANANA"', "sleep 600"]


@pytest.mark.parametrize("sacct", NONSENSE)
def test_an_accounting_that_fails_or_talks_nonsense(
    cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sacct: str
) -> None:
    """What runs goes on, results are taken in, and the queue says who is gone."""
    monkeypatch.setattr("pesky.run.slurm.states.ANSWER_SECONDS", 1.0)
    (cluster / "bin" / "sacct").write_text(f"#!/bin/bash\n{sacct}\n")
    release = str(tmp_path / "release")

    def patient() -> int:
        while not Path(release).exists():
            time.sleep(0.02)
        return 7

    fine, dead = on_cluster.submit(patient), on_cluster.submit(hang(tmp_path / "dead"))
    written(tmp_path / "dead")
    lose(cluster, dead, "FAILED")
    (cluster / dead.job.job_id).unlink()  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(JobFailed, match=r"ended without a result \(state: GONE\)"):
        dead.result(LONG)
    assert not fine.done()
    Path(release).touch()
    assert fine.result(LONG) == 7


def test_a_slurm_that_is_away_and_cannot_cancel(
    cluster: Path, on_cluster: SlurmExecutor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody waits for it, and what is known of jobs is that they may run."""
    future = on_cluster.submit(hang(tmp_path / "pid"))
    other = on_cluster.submit(hang(tmp_path / "other"))
    written(tmp_path / "pid")
    group = int((cluster / f"{future.job.job_id}.group").read_text())  # pyright: ignore[reportAttributeAccessIssue]
    written(tmp_path / "other")
    scancel = (cluster / "bin" / "scancel").read_text()
    for command in ("sacct", "squeue", "scancel"):
        (cluster / "bin" / command).unlink()
    time.sleep(1.0)
    assert not future.done()
    with Stopwatch() as watch:
        assert future.cancel()
    assert watch.seconds < 5
    until(lambda: "could not be canceled" in caplog.text)
    os.killpg(group, signal.SIGKILL)
    (cluster / "bin" / "scancel").write_text(scancel)
    (cluster / "bin" / "scancel").chmod(0o755)
    assert other.cancel()
