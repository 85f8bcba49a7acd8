"""Released, lost and crashed are three things: what a user or a machine does to a run is never learnt."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
from stopwatch import Stopwatch
from study.quick import SPACE, measure, quick

from pesky import Problem, Task
from pesky.errors import StorageAway
from pesky.run import loop
from pesky.run.processes import WorkerStopped
from pesky.store import Cause, MemoryStore, State

LEARN = Problem(
    SPACE, minimize="f", constraints=["c >= 0"], noise=0.01, tasks={"all": Task(["f", "c"], failures="learn")}
)  # fmt: skip


def states(s) -> list[tuple[State, Cause | None]]:
    return [(e.state, e.cause) for e in s.evaluations.values()]


def test_interrupts_are_no_failures_however_many():
    s = quick(LEARN)

    def slow(params):
        time.sleep(30)

    def watch(progress):
        if len(progress.running) == 2:
            signal.raise_signal(signal.SIGINT)

    for times in (1, 2, 3, 4):
        assert s.run(slow, budget=5, workers=2, watch=watch, on_interrupt="release").kind == "interrupted"
        assert states(s) == [(State.LOST, Cause.RELEASED)] * 2
        assert [(e.attempts, e.crashes, len(e.history)) for e in s.evaluations.values()] == [(times, 0, times)] * 2
    assert s.run(measure, budget=5, workers=2).evaluations == 5
    assert len(s.evaluations) == 5


def test_a_crash_of_the_function_counts_and_is_learnt():
    s = quick(LEARN)

    def crashes(params):
        if params["x"] > 0.5:
            os.abort()
        return measure(params)

    ending = s.run(crashes, budget=4, workers=1, attempts=2)
    dead = [e for e in s.evaluations.values() if e.state is State.FAILED]
    assert dead
    assert ending.evaluations + ending.failed == 4
    assert all((e.cause, e.crashes, e.attempts) == (Cause.CRASHED, 2, 2) and "SIGABRT" in str(e.error) for e in dead)
    learnt = s.observations()
    row = s.problem.rows.index("all succeeds")
    assert int(learnt.mask[row].sum()) == 4
    assert sorted(learnt.y[row].tolist()) == [-1.0] * len(dead) + [1.0] * (4 - len(dead))


def test_what_was_given_up_for_lost_is_not_learnt():
    s = quick(LEARN, initial=1)
    s.ask(worker="gone", lease=1e-6)
    s.tell(s.ask(losses=1), {"f": 1.0, "c": 1.0})
    assert s.evaluations[0].is_given_up
    row = s.problem.rows.index("all succeeds")
    assert s.observations().y[row][s.observations().mask[row]].tolist() == [1.0]
    assert s.ask().params != s.evaluations[0].params


def test_an_executor_that_lost_a_call_is_not_the_function():
    from concurrent.futures import Future, ThreadPoolExecutor

    class Preempting(ThreadPoolExecutor):
        calls = 0

        def submit(self, fn, /, *args, **kwargs):
            Preempting.calls += 1
            if Preempting.calls % 3:
                future = Future()
                future.set_exception(WorkerStopped("preempted"))
                return future
            return super().submit(fn, *args, **kwargs)

    s = quick(LEARN)
    with Preempting(1) as pool:
        assert s.run(measure, budget=3, executor=pool).evaluations == 3
    assert [(e.attempts, e.crashes) for e in s.evaluations.values()] == [(3, 0)] * 3


TERMINATED = """
import sys, time
sys.path.insert(0, {tests!r})
from study.quick import COUPLED, quick

def slow(params):
    print("measuring", flush=True)
    time.sleep(60)

study = quick(storage={url!r})
try:
    study.run(slow, budget=5, lease=600, workers={workers})
finally:
    print("cleaned up", flush=True)
print("went on", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("workers", [None, 2])
def test_a_process_that_is_asked_to_end_lets_go_first(tmp_path, number, workers):
    if number == signal.SIGHUP and workers is None:
        pytest.skip("one of them is enough")
    url = f"sqlite:///{tmp_path}/study.db"
    tests = os.path.dirname(os.path.dirname(__file__))
    code = TERMINATED.format(tests=tests, url=url, workers=workers)
    program = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # fmt: skip
    assert program.stdout is not None
    for _ in range(workers or 1):
        assert program.stdout.readline() == "measuring\n"
    began = time.monotonic()
    program.send_signal(number)
    said, _ = program.communicate(timeout=60)
    assert time.monotonic() - began < 10
    assert program.returncode == 128 + number
    assert said == "cleaned up\n"
    s = quick(storage=url)
    assert states(s) == [(State.LOST, Cause.RELEASED)] * (workers or 1)


def test_a_program_with_a_handler_of_its_own_keeps_it():
    s, asked = quick(), []

    def watch(progress):
        if not asked:
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    try:
        assert s.run(measure, budget=3, watch=watch).evaluations == 3
    finally:
        signal.signal(signal.SIGTERM, before)
    assert asked == [signal.SIGTERM]


class Deaf:
    """Raises a signal while it is collected, where Python drops what its handler raises."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_comes_while_an_object_is_collected_is_heard_all_the_same(number):
    s, seen = quick(LEARN), []

    def watch(progress):
        if progress.running and not seen:
            seen.append(number)
            Deaf(number)

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        if number == signal.SIGINT:
            assert s.run(measure, budget=50, watch=watch, on_interrupt="release").kind == "interrupted"
        else:
            with pytest.raises(SystemExit) as ended:
                s.run(measure, budget=50, workers=2, watch=watch)
            assert ended.value.code == 128 + number
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen
    assert len(s.evaluations) < 50
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_child_that_is_ended_together_with_its_parent_has_not_crashed(tmp_path):
    """As when a machine is shut down, or a whole group of processes is asked to end."""
    url = f"sqlite:///{tmp_path}/study.db"
    tests = os.path.dirname(os.path.dirname(__file__))
    program = subprocess.Popen(
        [sys.executable, "-c", TERMINATED.format(tests=tests, url=url, workers=2)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert program.stdout is not None
    for _ in range(2):
        program.stdout.readline()
    import psutil

    children = psutil.Process(program.pid).children(recursive=True)
    assert len(children) == 4  # each below the process that sees to its end
    for child in children:
        with suppress(psutil.NoSuchProcess):  # the one above it has passed it on already
            child.terminate()
    time.sleep(0.3)
    program.terminate()
    program.communicate(timeout=60)
    assert states(quick(storage=url)) == [(State.LOST, Cause.RELEASED)] * 2


def test_a_function_that_forks_in_this_process_does_not_run_the_study_twice(tmp_path):
    url = f"sqlite:///{tmp_path}/study.db"
    s = quick(storage=url)

    def forks(params):
        os.fork()
        return measure(params)

    assert s.run(forks, budget=5).evaluations == 5
    time.sleep(0.5)
    assert len(s.evaluations) == 5
    assert all(dict(e.outcomes) == measure(e.params) for e in s.evaluations.values())


class Stuck(MemoryStore):
    """A store that, once it is stuck, hangs as a server may, or says of results that it is locked."""

    def __init__(self, hangs: bool) -> None:
        super().__init__()
        self.hangs, self.is_stuck, self.thaws = hangs, False, threading.Event()

    def _change(self, study):
        if self.is_stuck and self.hangs:
            self.thaws.wait(120)
        return super()._change(study)

    def tell(self, *given, **named):
        if self.is_stuck and not self.hangs:
            raise StorageAway("the storage is locked by another program.")
        return super().tell(*given, **named)


@pytest.mark.parametrize("hangs", [True, False])
def test_ctrl_c_works_within_a_second_whatever_the_storage_does(tmp_path, monkeypatch, hangs):
    monkeypatch.chdir(tmp_path)
    store = Stuck(hangs)
    s = quick(storage=store)
    watch, pressed = Stopwatch(), []

    def press() -> None:
        time.sleep(1.0)
        pressed.append(watch.seconds)
        os.kill(os.getpid(), signal.SIGINT)

    def fourth_is_stuck(params):
        if len(s._stored.seen) >= 3 and not store.is_stuck:
            store.is_stuck = True
            threading.Thread(target=press, daemon=True).start()
        return measure(params)

    with watch:
        ending = s.run(fourth_is_stuck, budget=50)
    seconds = watch.seconds - pressed[0]
    store.thaws.set()
    assert (ending.kind, ending.is_storage_away) == ("interrupted", True)
    assert seconds < 1.0 + 0.5, f"Ctrl-C took {seconds:.1f} s, and half a second is for a busy machine"
    assert len(list(tmp_path.glob("pesky.untold-*.jsonl"))) == 1
    assert loop.INTERRUPTED_READ_SECONDS + loop.INTERRUPTED_CLOSE_SECONDS < 1.0
