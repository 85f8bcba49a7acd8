"""Cut off and back again: workers, main processes and schedulers that fall silent; executors that break promises.

This is also the program that is stopped: python -m survival.test_partition URL FOLDER EVALUATIONS DASK.
"""

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask.config
import psutil
import pytest
from distributed import Client, LocalCluster
from survival.nursery import PROBLEM, nursling
from survival.programs import LONG, Program, until
from survival.records import check, lines

from pesky import Budget, Problem, Study, Task
from pesky.errors import PeskyError, StorageAway
from pesky.run import arrivals, loop
from pesky.run.processes import WorkerStopped
from pesky.run.retry import within
from pesky.store import Cause, Evaluation, MemoryStore, State

TIMEOUT = 2.0
SILENCE = 10.0
"""Seconds after which Dask takes a worker that is silent for dead."""


def impatient(**given: Any) -> Study:
    """A study whose task has a time-out, and whose failures are learnt."""
    tasks = {"all": Task(["f"], failures="learn", timeout=TIMEOUT)}
    return Study(
        Problem(dict(PROBLEM.parameters), minimize="f", noise=0.1, tasks=tasks), rule="random", initial=50, **given
    )


def learnt(study: Study) -> list[float]:
    """What is learnt of success, 1 and -1 for each evaluation of which something is."""
    observed, row = study.observations(), study.problem.rows.index("all succeeds")
    return observed.y[row][observed.mask[row]].tolist()


def are_done(study: Study) -> bool:
    return all(e.state is State.DONE for e in study.evaluations.values())


# -- Dask --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers; Dask does not try again by itself what a silent one was doing, so that pesky has to."""
    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.worker-ttl": f"{SILENCE} s",
        "distributed.comm.timeouts.connect": "60s",
    }
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
    ):
        yield cluster


def noting(folder: Path) -> Callable[[Any], dict[str, float]]:
    """A function that writes down who calls it, and then what it returns: a value that no other call does."""
    text = str(folder)

    def slowly(params: Any) -> dict[str, float]:
        import json
        import random

        def note(name: str, line: object) -> None:
            with open(f"{text}/{name}", "a") as file:
                file.write(json.dumps(line) + "\n")

        note("begun", os.getpid())
        time.sleep(0.2)
        outcomes = {"f": random.SystemRandom().random()}
        note("calls", [params, outcomes])
        return outcomes

    return slowly


def stop_one(folder: Path, is_long_enough: Callable[[], bool], pid: int | None = None) -> threading.Thread:
    """Stops a worker that has begun a call, this one or any, until that was long enough."""

    def stop() -> None:
        until(lambda: len(lines(folder, "begun")) >= 3 and pid in (None, *lines(folder, "begun")))
        stopped = psutil.Process(pid or lines(folder, "begun")[-1])
        stopped.suspend()
        try:
            until(is_long_enough)
        finally:
            with suppress(psutil.NoSuchProcess):
                stopped.resume()

    thread = threading.Thread(target=stop, daemon=True)
    thread.start()
    return thread


@pytest.mark.slow
def test_a_worker_is_cut_off_for_longer_than_the_lease_and_the_time_out(cluster, tmp_path: Path, show):
    """Its results arrive late, some of them after the run has ended: each is taken in, and nothing has failed."""
    study, timed_out = impatient(), set()

    def is_long_enough() -> bool:
        timed_out.update(e.id for e in study.evaluations.values() if e.state is State.FAILED)
        return bool(timed_out)

    with Client(cluster.scheduler_address) as client:
        stopping = stop_one(tmp_path, is_long_enough)
        executor = client.get_executor(pure=False)
        ending = study.run(noting(tmp_path), Budget(evaluations=8), workers=2, executor=executor, lease=1.0)
        stopping.join(LONG)
        until(lambda: are_done(study))
    evaluations = list(study.evaluations.values())
    check(evaluations, tmp_path)
    show(
        {
            "evaluations": len(evaluations),
            "timed out at first": len(timed_out),
            "done when the run ended": ending.evaluations,
            "done": sum(e.state is State.DONE for e in evaluations),
            "attempts": sum(e.attempts for e in evaluations),
            "completed calls": len(lines(tmp_path, "calls")),
        }
    )
    assert timed_out
    assert [e.id for e in evaluations] == list(range(8))
    assert learnt(study) == [1.0] * 8
    assert all(e.crashes == 0 for e in evaluations)


def test_a_worker_that_was_cut_off_comes_back_when_others_have_taken_over(cluster, tmp_path: Path, show):
    study = nursling(initial=50)

    def is_long_enough() -> bool:
        each = study.evaluations.values()
        return any(e.crashes and e.state is State.DONE for e in each)

    # Without a nanny, which would replace it at once.
    arguments = [cluster.scheduler_address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    worker = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", *arguments])
    with Client(cluster.scheduler_address) as client:
        client.wait_for_workers(3, timeout=LONG)
        stopping = stop_one(tmp_path, is_long_enough, worker.pid)
        executor = client.get_executor(pure=False)
        ending = study.run(noting(tmp_path), Budget(evaluations=60), workers=3, executor=executor, lease=1.0)
        stopping.join(LONG)
        worker.wait(LONG)  # it ends when it finds that nobody knows it any more
    evaluations = list(study.evaluations.values())
    check(evaluations, tmp_path)
    show(
        {
            "evaluations": len(evaluations),
            "done": ending.evaluations,
            "attempts": sum(e.attempts for e in evaluations),
            "crashes": sum(e.crashes for e in evaluations),
            "completed calls": len(lines(tmp_path, "calls")),
        }
    )
    assert (len(evaluations), ending.evaluations) == (60, 60)
    assert learnt(study) == [1.0] * 60
    assert sum(e.crashes for e in evaluations) > 0


def test_a_main_process_is_stopped_while_another_takes_over(url: str, cluster, start, tmp_path: Path, show):
    """For longer than its lease, again and again; results of both arrive, and the first one counts."""
    study, evaluations = nursling(storage=url, initial=50), 30
    arguments = ("test_partition", url, tmp_path, evaluations, cluster.scheduler_address)
    programs = [start(*arguments), start(*arguments)]
    for program in programs:
        program.go()
    taken_over = 0
    for times in range(2):
        stopped = programs[times % 2]
        held = stop_measuring(stopped, study)
        until(lambda held=held: all(is_out_of_hand(study.evaluations[e.id], e.attempts) for e in held))
        taken_over += sum(study.evaluations[e.id].attempts > e.attempts for e in held)
        stopped.process.send_signal(signal.SIGCONT)
    endings = [program.result() for program in programs]
    assert all(f"{evaluations} evaluations is spent" in ending for ending in endings)
    each = list(study.evaluations.values())
    check(each, tmp_path)
    counts = {
        "stopped": 2,
        "taken over": taken_over,
        "evaluations": len(each),
        "done": sum(e.state is State.DONE for e in each),
        "attempts": sum(e.attempts for e in each),
        "crashes": sum(e.crashes for e in each),
        "completed calls": len(lines(tmp_path, "calls")),
    }
    show(counts)
    assert (counts["evaluations"], counts["done"]) == (evaluations, evaluations)
    assert learnt(study) == [1.0] * evaluations
    assert counts["completed calls"] > evaluations, "both have measured something"


def is_out_of_hand(evaluation: Evaluation, attempt: int) -> bool:
    """Whether it was handed to someone else since that attempt, or told on the very way to the storage."""
    return evaluation.attempts > attempt or evaluation.state is State.DONE


def stop_measuring(program: Program, study: Study) -> list[Evaluation]:
    """What the program was measuring when it was stopped; not while others wait for its transaction to end."""
    while True:
        assert not program.is_over(), program.err.read_text()
        program.process.send_signal(signal.SIGSTOP)
        with suppress(StorageAway):
            now = within(2.0, lambda: study.evaluations)
            within(2.0, lambda: study.store.renew(study.identity, {0: 0}, 1.0))  # as all who write do
            running = [e for e in now.values() if e.state is State.RUNNING]
            if held := [e for e in running if f":{program.process.pid}:" in str(e.worker)]:
                return held
        program.process.send_signal(signal.SIGCONT)
        time.sleep(0.1)


@pytest.fixture
def scheduler() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler without workers, in a process of its own."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    arguments = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    process = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", *arguments])
    yield process, f"tcp://127.0.0.1:{port}"
    process.kill()
    process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["the scheduler is killed", "the client is closed"])
def test_a_scheduler_that_is_gone_ends_the_run(scheduler, how: str):
    """With a clear error; what it was measuring is free to be asked again."""
    process, address = scheduler
    client = Client(address, timeout=LONG)
    client._timeout = 3  # for the next time that it has to connect
    study = nursling(initial=50)

    def attack() -> None:
        until(lambda: len(study.evaluations) == 2)
        if how == "the client is closed":
            client.close()
        else:
            process.kill()

    threading.Thread(target=attack, daemon=True).start()
    with pytest.raises(PeskyError, match="Dask's client is closed"):
        study.run(noting(Path()), Budget(evaluations=5), workers=2, executor=client.get_executor(pure=False))
    endings = [(e.state, e.cause, e.crashes) for e in study.evaluations.values()]
    assert endings == [(State.LOST, Cause.RELEASED, 0)] * 2
    client.close()


# -- executors that break promises -------------------------------------------------------------------------------------


class Answering(Executor):
    """Answers each call by a function of its number, from 1 on, and of the report, in a thread of its own."""

    def __init__(self, answer: Callable[[int, Future[Any], Callable[[], Any]], None]) -> None:
        self.answer, self.calls = answer, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        future: Future[Any] = Future()
        given = self.calls, future, lambda: fn(*args, **kwargs)
        threading.Thread(target=self.answer, args=given, daemon=True).start()
        return future


def noisy(params: Any) -> float:
    return time.perf_counter()


def test_a_future_that_is_resolved_twice_counts_once():
    """With two results, with a crash after or before the result, and with the same result again."""

    def twice(number: int, future: Future[Any], report: Callable[[], Any]) -> None:
        crash, result = RuntimeError("a worker died"), report()
        answers = [(result, report()), (result, crash), (crash, result), (result, result)][number % 4]
        for answer in answers:
            with future._condition:
                future._state = "PENDING"
                future._exception = None
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    study, executor = nursling(initial=50), Answering(twice)
    assert study.run(noisy, budget=12, workers=2, executor=executor).evaluations == 12
    evaluations = list(study.evaluations.values())
    assert len({e.outcomes["f"] for e in evaluations}) == 12
    assert learnt(study) == [1.0] * 12
    assert executor.calls == sum(e.attempts for e in evaluations)


def test_an_executor_whose_submit_raises_ends_the_run():
    """With its error, and what was being measured is free."""

    class Full(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            if len(study.evaluations) == 3:
                raise RuntimeError("no room")
            return super().submit(fn, *args, **kwargs)

    study, leave = nursling(initial=50), threading.Event()
    with Full(2) as pool:
        with pytest.raises(RuntimeError, match="no room"):
            study.run(lambda params: leave.wait(LONG), budget=5, workers=3, executor=pool)
        assert [(e.state, e.cause) for e in study.evaluations.values()] == [(State.LOST, Cause.RELEASED)] * 3
        leave.set()


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize("answer", [5, None, Unprintable()])
def test_an_executor_that_gives_no_report_ends_the_run(answer: Any):
    """It would be waited for for ever."""

    def garbage(number: int, future: Future[Any], report: Callable[[], Any]) -> None:
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    study = nursling(initial=50)
    with pytest.raises(PeskyError, match="the executor gave no report of a call"):
        study.run(noisy, budget=5, executor=Answering(garbage))
    assert [(e.state, e.cause) for e in study.evaluations.values()] == [(State.LOST, Cause.RELEASED)]


def test_a_future_that_cannot_be_canceled_keeps_no_one(caplog: pytest.LogCaptureFixture):
    class Stubborn(Future[Any]):
        def cancel(self) -> bool:
            raise OSError("no such command: scancel")

    class Fixed(Executor):
        def submit(self, fn, /, *args, **kwargs):
            return Stubborn()

    study = nursling(initial=50)

    def watch(progress: Any) -> None:
        if len(progress.running) == 2:
            signal.raise_signal(signal.SIGINT)

    ending = study.run(noisy, budget=5, workers=2, executor=Fixed(), watch=watch, on_interrupt="release")
    assert ending.kind == "interrupted"
    assert [(e.state, e.cause) for e in study.evaluations.values()] == [(State.LOST, Cause.RELEASED)] * 2
    assert "no such command" in caplog.text


def test_a_function_that_does_not_load_is_not_learnt_however_often_it_is_tried():
    def unloaded(number: int, future: Future[Any], report: Callable[[], Any]) -> None:
        future.set_exception(PeskyError("the function could not be loaded"))

    study = nursling(initial=50)
    for _ in range(4):
        with pytest.raises(PeskyError, match="could not be loaded"):
            study.run(noisy, budget=5, executor=Answering(unloaded), attempts=3)
    assert [(e.state, e.attempts, e.crashes) for e in study.evaluations.values()] == [(State.LOST, 4, 0)]


@pytest.mark.slow
def test_functions_of_any_kind_travel_to_a_pool_of_processes():
    """Which would otherwise say of a lambda, as of its worker's death, that the call has failed."""
    here = os.getpid()
    study = nursling(initial=50)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert study.run(lambda params: os.getpid() - here, budget=2, executor=pool).evaluations == 2
    assert all(e.outcomes["f"] != 0 for e in study.evaluations.values())


@pytest.mark.parametrize("error", [None, WorkerStopped("preempted"), BrokenExecutor("broken"), OSError("unreachable")])
def test_an_executor_that_lets_go_at_once_is_not_asked_thousands_of_times(error: Exception | None):
    """For as long as it likes, but after a moment each time."""

    def let_go(number: int, future: Future[Any], report: Callable[[], Any]) -> None:
        if error is None:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_exception(error)

    study, executor = nursling(initial=50), Answering(let_go)
    began, cpu = time.monotonic(), time.process_time()
    study.run(noisy, Budget(seconds=3), executor=executor)
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    assert executor.calls <= arrivals.IMMEDIATE_ATTEMPTS + 1 + seconds / arrivals.HOLD_SECONDS, "one a second"
    assert cpu < 0.5 * seconds
    (only,) = study.evaluations.values()
    assert (only.state, only.cause, only.crashes) == (State.LOST, Cause.RELEASED, 0)
    assert study.run(noisy, budget=2).evaluations == 2


def test_an_executor_that_crashes_at_once_is_tried_so_often_and_no_more():
    def crash(number: int, future: Future[Any], report: Callable[[], Any]) -> None:
        future.set_exception(RuntimeError("the worker died"))

    study, executor = nursling(initial=50), Answering(crash)
    ending = study.run(noisy, budget=4, workers=2, executor=executor, attempts=3)
    assert (ending.failed, executor.calls) == (4, 12)
    assert learnt(study) == [-1.0] * 4


def test_results_that_came_while_this_process_was_stopped_are_not_too_late(monkeypatch: pytest.MonkeyPatch):
    """When it goes on, the time of its calls is over, and their results are taken in first."""
    monkeypatch.setattr(loop, "POLL_SECONDS", 5.0)
    failed, awake = [], threading.Event()

    class Remembering(MemoryStore):
        def fail(self, *given: Any, **named: Any) -> Any:
            failed.append(given)
            return super().fail(*given, **named)

    def when_awake(number: int, future: Future[Any], report: Callable[[], Any]) -> None:
        awake.wait(LONG)
        future.set_result(report())

    def watch(progress: Any) -> None:
        if len(progress.running) == 2 and not awake.is_set():
            time.sleep(1.5 * TIMEOUT)  # as if it was stopped
            awake.set()

    study = impatient(storage=Remembering())
    ending = study.run(noisy, budget=2, workers=2, executor=Answering(when_awake), watch=watch)
    assert (ending.evaluations, failed) == (2, [])


def test_a_result_that_comes_after_the_run_has_ended_is_a_fact():
    late = threading.Event()

    def much_later(number: int, future: Future[Any], report: Callable[[], Any]) -> None:
        if number > 1:
            late.wait(LONG)
        future.set_result(report())

    study = impatient()
    ending = study.run(noisy, budget=3, workers=3, executor=Answering(much_later))
    assert (ending.evaluations, ending.failed) == (1, 2)
    late.set()
    until(lambda: are_done(study))
    assert learnt(study) == [1.0] * 3


def main(url: str, folder: Path, evaluations: int, dask: str) -> None:
    """Print how a run on a cluster of Dask's ended."""
    executor = Client(dask).get_executor(pure=False)
    print("ready", flush=True)
    sys.stdin.readline()
    study = nursling(storage=url, initial=50)
    print(study.run(noting(folder), Budget(evaluations=evaluations), workers=2, executor=executor, lease=1.0))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
