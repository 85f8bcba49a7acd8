"""Children that hang, die, fork and start programs: each harms its own call alone, and none outlives its parent."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from pathlib import Path
from typing import Any

import psutil
import pytest

from pesky.errors import PeskyError
from pesky.run.processes import Processes, WorkerDied

LONG = 60.0
"""Seconds that no call here may take, however busy the machine."""


@pytest.fixture
def two() -> Iterator[Processes]:
    processes = Processes(2)
    yield processes
    processes.kill()


@pytest.fixture
def one() -> Iterator[Processes]:
    processes = Processes(1)
    yield processes
    processes.kill()


def until(condition: Callable[[], Any]) -> Any:
    """What the condition gives once it holds."""
    end = time.monotonic() + LONG
    while not (given := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return given


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def pids(path: Path, count: int) -> list[int]:
    """The process ids that functions have written, a line each."""
    lines = until(lambda: path.exists() and (each := path.read_text().split("\n")[:-1]) and len(each) >= count and each)
    return [int(line) for line in lines]


def hang(path: Path) -> Callable[[Any], Any]:
    """A function that starts a program, writes both process ids to the path, and hangs."""
    text = str(path)

    def hanging(params: Any) -> None:
        program = subprocess.Popen(["sleep", "1000"])
        with open(text, "a") as file:
            file.write(f"{os.getpid()}\n{program.pid}\n")
        time.sleep(1000)

    return hanging


# -- calls -------------------------------------------------------------------------------------------------------------


def test_closures_and_lambdas_are_measured(two: Processes) -> None:
    factor = 3.0
    reports = [two.call(lambda params: {"f": factor * params["x"], "ok": True}, {"x": x}) for x in range(5)]
    assert [future.result(LONG).outcomes for future in reports] == [{"f": 3.0 * x, "ok": True} for x in range(5)]
    outcomes, error, *_ = two.call(lambda params: 1 / 0, {}).result(LONG)
    assert outcomes is None
    assert str(error).startswith("ZeroDivisionError: division by zero\n  test_processes.py:")
    assert "in <lambda>: outcomes, error, *_ = two.call(lambda params: 1 / 0" in str(error)


def test_plain_calls_return_and_raise(two: Processes) -> None:
    assert list(two.map(lambda x, y: x + y, [1, 2], [3, 4])) == [4, 6]
    with pytest.raises(ZeroDivisionError, match="division by zero") as caught:
        two.submit(lambda: 1 / 0).result(LONG)
    assert "test_processes.py" in caught.value.__notes__[0]
    with pytest.raises(SystemExit):
        two.submit(lambda: sys.exit(3)).result(LONG)


def test_what_cannot_be_sent_is_an_error(one: Processes) -> None:
    lock = threading.Lock()
    with pytest.raises(PeskyError, match=r"the function .*<lambda> cannot be sent to another process \(TypeError"):
        one.call(lambda params: lock.locked(), {})
    with pytest.raises(PeskyError, match=r"the arguments .* cannot be sent"):
        one.submit(len, lock)
    with pytest.raises(TypeError, match="cannot pickle"):
        one.submit(lambda: threading.Lock()).result(LONG)
    report = one.call(lambda params: {"f": threading.Lock()}, {}).result(LONG)
    assert (report.others or {})["f"].startswith("returned 'f' = <unlocked _thread.lock")

    def fail() -> None:
        class Odd(Exception):
            def __init__(self, first: int, second: int) -> None:
                super().__init__("odd")

        raise Odd(1, 2)

    with pytest.raises(RuntimeError, match="Odd: odd"):
        one.submit(fail).result(LONG)


def test_what_cannot_be_loaded_is_an_error(one: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And modules that the parent can import can be imported, also once the children run."""
    assert one.submit(abs, -1).result(LONG) == 1
    (tmp_path / "beside.py").write_text("def double(params): return 2 * params['x']")
    monkeypatch.syspath_prepend(tmp_path)
    import beside  # pyright: ignore[reportMissingImports]

    (tmp_path / "beside.py").rename(tmp_path / "elsewhere.py")
    with pytest.raises(PeskyError, match=r"could not be loaded in a child process: ModuleNotFoundError: .*beside"):
        one.call(beside.double, {"x": 2}).result(LONG)
    (tmp_path / "elsewhere.py").rename(tmp_path / "beside.py")
    assert one.call(beside.double, {"x": 2}).result(LONG).outcomes == {"": 4.0}
    monkeypatch.delitem(sys.modules, "beside")


def test_children_are_light_and_alone(one: Processes) -> None:
    """Nothing of pesky is imported; no thread is in the way of a fork; no terminal reaches the session."""
    names, threads, session = one.submit(lambda: (list(sys.modules), threading.active_count(), os.getsid(0))).result(
        LONG
    )
    assert not {"torch", "numpy", "pesky", "asyncio"} & set(names)
    assert threads == 1 or sys.platform != "linux"
    assert session != os.getsid(0)


def test_children_are_used_again(two: Processes) -> None:
    used = {future.result(LONG) for future in [two.submit(os.getpid) for _ in range(30)]}
    assert len(used) <= 2
    assert os.getpid() not in used


def test_a_function_is_loaded_once(one: Processes, tmp_path: Path) -> None:
    loads = str(tmp_path / "loads")

    class Function:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)
            with open(loads, "a") as file:
                file.write(f"{self.factor}\n")

        def __call__(self, params: dict[str, float]) -> float:
            return self.factor * params["x"]

    function = Function(2.0)
    for x in range(5):
        assert one.call(function, {"x": x}).result(LONG).outcomes == {"": 2.0 * x}
    function.factor = 3.0  # what was changed meanwhile is sent anew
    assert one.call(function, {"x": 1}).result(LONG).outcomes == {"": 3.0}
    assert Path(loads).read_text() == "2.0\n3.0\n"
    for factor in range(4, 40):  # more than a child remembers
        assert one.call(Function(factor), {"x": 1}).result(LONG).outcomes == {"": factor}
    assert one.call(function, {"x": 2}).result(LONG).outcomes == {"": 6.0}


def test_calls_take_little_time(two: Processes) -> None:
    """Thousands a second on an idle machine; slower than this is no dispatch but a bug."""
    wait([two.call(lambda params: 1.0, {}) for _ in range(4)], LONG)
    began = time.monotonic()
    futures = [two.call(lambda params: params["x"], {"x": x}) for x in range(300)]
    assert [future.result(LONG).outcomes for future in futures] == [{"": x} for x in range(300)]
    assert time.monotonic() - began < 6


def test_prints_go_to_standard_error(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def speak(params: Any) -> int:
        print("printed")
        print("complained", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGKILL)  # nothing is flushed any more
        return 1

    with Processes(1) as processes, pytest.raises(WorkerDied):
        processes.call(speak, {}).result(LONG)
    out, err = capfd.readouterr()
    assert out == ""
    assert set(err.split()) == {"printed", "complained"}
    with (
        (tmp_path / "log").open("w") as file,
        Processes(1, output=file) as processes,
        pytest.raises(WorkerDied),
    ):
        processes.call(speak, {}).result(LONG)
    assert set((tmp_path / "log").read_text().split()) == {"printed", "complained"}


# -- time-outs ---------------------------------------------------------------------------------------------------------


def timed_out(processes: Processes, function: Callable[[Any], Any], path: Path) -> list[int]:
    """The process ids that a function wrote before its time was up."""
    for timeout in (0.5, 2.0, 8.0):  # a busy machine may need longer
        report = processes.call(function, {}, timeout=timeout).result(LONG)
        assert report[:3] == (None, f"time-out: took longer than {timeout:g} s", timeout)
        if path.exists():
            break
    return pids(path, 1)


def test_a_time_out_kills_the_function_and_its_programs(one: Processes, tmp_path: Path) -> None:
    started = timed_out(one, hang(tmp_path / "pids"), tmp_path / "pids")
    assert len(started) == 2
    until(lambda: all(is_gone(pid) for pid in started))
    assert one.call(lambda params: 1, {}, timeout=LONG).result(LONG).outcomes == {"": 1.0}


def test_a_time_out_is_final(one: Processes, tmp_path: Path) -> None:
    path = str(tmp_path / "pids")

    def stubborn(params: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Path(path).write_text(f"{os.getpid()}\n")
        time.sleep(1000)

    (started,) = timed_out(one, stubborn, tmp_path / "pids")
    assert is_gone(started)


def test_a_time_out_leaves_time_to_clean_up(one: Processes, tmp_path: Path) -> None:
    """The program that the function waits for is told, too, and has a moment."""
    note = tmp_path / "note"
    begun = tmp_path / "begun"
    program = f"trap 'sleep 0.2; echo clean > {note}; exit' TERM; touch {begun}; while :; do sleep 0.05; done"
    assert one.call(lambda params: subprocess.run(["sh", "-c", program]), {}, timeout=1.0).result(LONG).error
    assert note.exists() or not begun.exists()


def test_loading_takes_no_time(one: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "heavy.py").write_text("import time; time.sleep(1.0)\ndef value(params): return 1")
    monkeypatch.syspath_prepend(tmp_path)
    import heavy  # pyright: ignore[reportMissingImports]

    assert one.call(heavy.value, {}, timeout=0.9).result(LONG).outcomes == {"": 1.0}
    monkeypatch.delitem(sys.modules, "heavy")


# -- deaths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("die", "how"),
    [
        (lambda params: os._exit(3), "ended by itself, with exit status 3"),
        (lambda params: os.kill(os.getpid(), signal.SIGSEGV), "was killed by SIGSEGV"),
        (
            lambda params: os.kill(os.getpid(), signal.SIGKILL),
            r"was killed by SIGKILL \(by hand, or for lack of memory",
        ),
    ],
)
def test_a_death_fails_its_own_call_alone(two: Processes, tmp_path: Path, die: Any, how: str) -> None:
    begun, release = str(tmp_path / "begun"), str(tmp_path / "release")

    def patient(params: Any) -> int:
        Path(begun).touch()
        while not Path(release).exists():
            time.sleep(0.01)
        return 7

    other = two.call(patient, {})
    until(Path(begun).exists)
    for _ in range(2):  # what replaces the dead may die as well
        with pytest.raises(WorkerDied, match=how):
            two.call(die, {}).result(LONG)
    assert two.call(lambda params: 1, {}).result(LONG).outcomes == {"": 1.0}
    Path(release).touch()
    assert other.result(LONG).outcomes == {"": 7.0}


def test_a_function_that_forks_and_returns_twice_has_one_result(one: Processes) -> None:
    """The second process would answer the next call in the place of the first, with a result of another point."""

    def twice(params: Any) -> float:
        if os.fork() == 0:
            time.sleep(params["late"])
        return params["x"]

    for late in (0.0, 0.2):
        calls = [one.call(twice, {"x": float(x), "late": late}) for x in range(6)]
        assert [call.result(LONG).outcomes for call in calls] == [{"": float(x)} for x in range(6)]
    assert [one.submit(lambda x: os.fork() and x, x + 1).result(LONG) for x in range(3)] != [0, 0, 0]


def test_an_answer_to_another_call_is_passed_over(one: Processes) -> None:
    """Whatever gets hold of the connection: answers carry the number of the call that they answer."""

    def meddles(params: Any) -> float:
        import gc
        from multiprocessing.connection import Connection

        (line,) = [each for each in gc.get_objects() if isinstance(each, Connection)]
        line.send((0, ("report", {"": -1.0}, None, 0.0)))
        return params["x"]

    for x in (1.0, 2.0, 3.0):
        assert one.call(meddles, {"x": x}).result(LONG).outcomes == {"": x}


def test_a_death_is_seen_though_a_fork_holds_the_line(one: Processes, tmp_path: Path) -> None:
    path = str(tmp_path / "pids")

    def fork(params: Any) -> None:
        pid = os.fork()
        if pid == 0:
            time.sleep(1000)
        Path(path).write_text(f"{pid}\n")
        os._exit(4)

    with pytest.raises(WorkerDied, match="exit status 4"):
        one.call(fork, {}).result(LONG)
    until(lambda: all(is_gone(pid) for pid in pids(tmp_path / "pids", 1)))


def test_a_death_between_calls_harms_none(one: Processes) -> None:
    pid = one.submit(os.getpid).result(LONG)
    os.kill(pid, signal.SIGKILL)
    until(lambda: is_gone(pid))
    assert one.submit(os.getpid).result(LONG) != pid


SCRIPT = """
import os, subprocess, sys, time
from beside import offset
from pesky.run.processes import Processes

print("run", flush=True)

class Scale:
    def __init__(self, factor): self.factor = factor

def scaled(params): return Scale(2).factor * params["x"] + offset

def greedy(params):
    program = subprocess.Popen(["sleep", "1000"])
    with open(sys.argv[1], "a") as file: file.write(f"{os.getpid()}\\n{program.pid}\\n")
    sum(range(10**13))  # never lets another thread run

processes = Processes(2)
print(processes.call(scaled, {"x": 5}).result().outcomes, flush=True)
calls = [processes.call(greedy, {}) for _ in range(2)]
if sys.argv[2] == "wait": time.sleep(1000)
while not os.path.exists(sys.argv[1]) or open(sys.argv[1]).read().count("\\n") < 4: time.sleep(0.01)
"""


@pytest.mark.parametrize("ending", ["wait", "leave"])
def test_children_die_with_a_script(tmp_path: Path, ending: str) -> None:
    """By kill -9, or at the script's end without a shutdown; and the script is not run again in the children."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("offset = 1")
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "pids"), ending]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd="/", text=True) as script:
        started = pids(tmp_path / "pids", 4)
        if ending == "wait":
            assert not any(is_gone(pid) for pid in started)
            script.kill()
        out, _ = script.communicate(timeout=LONG)
    assert out.splitlines() == ["run", "{'': 11.0}"]
    assert script.returncode == (-signal.SIGKILL if ending == "wait" else 0)
    until(lambda: all(is_gone(pid) for pid in started))


# -- what comes back ---------------------------------------------------------------------------------------------------


RETURNS = """
import resource
from pesky.run.processes import Processes
with Processes(1) as processes:
    processes.call(lambda params: 1.0, {}).result()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = processes.call(lambda params: {"f": 1.0, "note": "x" * 3 * 10**8}, {}).result()
    assert report.outcomes == {"f": 1.0}, report
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads kilobytes")
def test_a_text_of_300_megabytes_costs_nothing() -> None:
    """Here: whoever returns it has it in memory."""
    assert float(subprocess.check_output([sys.executable, "-c", RETURNS])) < 20  # it was 900


def test_an_answer_that_is_too_long_is_refused_before_it_is_read(one: Processes, monkeypatch: Any) -> None:
    monkeypatch.setattr("pesky.run.process.MOST", 10_000)
    report = one.call(lambda params: {"f": 1.0, "notes": [each * 5000 for each in "abcde"]}, {}).result(LONG)
    assert report[:2] == (None, "the answer was longer than 10000 bytes: expected less")
    assert one.call(lambda params: 2.0, {}).result(LONG).outcomes == {"": 2.0}
    assert len(one.submit(lambda: "x" * 10**6).result(LONG)) == 10**6  # whoever asks for that wants it


def test_a_function_that_closes_the_standard_streams_leaves_them_to_the_next(tmp_path: Path) -> None:
    def close(params: Any) -> float:
        for descriptor in range(3):
            os.close(descriptor)
        return 1.0

    def close_objects(params: Any) -> float:
        sys.stdin.close(), sys.stdout.close(), sys.stderr.close()
        return 2.0

    def speak(params: Any) -> float:
        print("heard")
        print("too", file=sys.stderr)
        assert sys.stdin.read() == ""
        subprocess.run(["echo", "and programs"], check=True)
        return 3.0

    with open(tmp_path / "out", "w+b") as out, Processes(1, output=out) as processes:
        for function, value in ((close, 1.0), (speak, 3.0), (close_objects, 2.0), (speak, 3.0)):
            assert processes.call(function, {}).result(LONG)[:2] == ({"": value}, None)
    assert (tmp_path / "out").read_text().split() == ["heard", "too", "and", "programs"] * 2


# -- ends --------------------------------------------------------------------------------------------------------------


def test_kill_ends_all_at_once(tmp_path: Path) -> None:
    processes = Processes(2)
    running = [processes.call(hang(tmp_path / "pids"), {}) for _ in range(2)]
    waiting = [processes.call(lambda params: 1, {}) for _ in range(3)]
    started = pids(tmp_path / "pids", 4)
    processes.kill()
    until(lambda: all(is_gone(pid) for pid in started))
    for future in running:
        with pytest.raises(WorkerDied, match="stopped by `kill`"):
            future.result(0)
    for future in waiting:
        with pytest.raises(CancelledError):
            future.result(0)
    with pytest.raises(RuntimeError, match="shut down"):
        processes.submit(abs, 1)
    processes.kill()


def test_kill_may_come_at_any_time() -> None:
    """Also while children are being started, and from a callback."""
    for pause in (0.0, 0.0, 0.02, 0.1):
        processes = Processes(2)
        futures = [processes.submit(time.sleep, 1000) for _ in range(3)]
        time.sleep(pause)
        processes.kill()
        assert all(future.done() for future in futures)
    processes = Processes(1)
    future = processes.submit(abs, 1)
    future.add_done_callback(lambda _: processes.kill())
    assert future.result(LONG) == 1
    until(lambda: not any(keeper.is_alive() for keeper in processes._keepers))


def test_shutdown_waits_for_the_calls_and_the_exits(tmp_path: Path) -> None:
    note = str(tmp_path / "note")

    def register(params: Any) -> int:
        import atexit

        atexit.register(Path(note).touch)
        return 1

    with Processes(1) as processes:
        futures = [processes.call(register, {}) for _ in range(3)]
    assert [future.result(0).outcomes for future in futures] == [{"": 1.0}] * 3
    assert Path(note).exists()


def test_shutdown_can_cancel_what_waits(tmp_path: Path) -> None:
    begun = str(tmp_path / "begun")

    def slow(params: Any) -> int:
        Path(begun).touch()
        time.sleep(0.3)
        return 1

    processes = Processes(1)
    first, second, third = (processes.call(slow, {}) for _ in range(3))
    third.cancel()
    until(Path(begun).exists)
    processes.shutdown(cancel_futures=True)
    assert first.result(0).outcomes == {"": 1.0}
    assert second.cancelled()
    assert third.cancelled()


def test_nothing_is_left_over() -> None:
    def situation() -> tuple[int, int, int]:
        gc.collect()
        me = psutil.Process()
        return me.num_fds(), threading.active_count(), len(me.children(recursive=True))

    def sometimes(params: dict[str, int]) -> int:
        if params["x"] % 10 == 3:
            os._exit(1)
        if params["x"] % 25 == 5:
            time.sleep(1000)
        return params["x"]

    before = situation()
    with Processes(2) as processes:
        futures = [processes.call(sometimes, {"x": x}, 0.3 if x % 25 == 5 else None) for x in range(50)]
        wait(futures, LONG)
        # two for each child, and a process that sees to its end, and two threads
        during = situation()
        assert during[0] <= before[0] + 4
        assert during[1] <= before[1] + 2
        assert during[2] <= before[2] + 4
    assert sum(future.exception() is None for future in futures) == 45
    assert situation() == before


@pytest.mark.parametrize("count", [0, -1])
def test_there_is_at_least_one_process(count: int) -> None:
    with pytest.raises(PeskyError, match=f"the number of processes was {count}: expected 1 or more"):
        Processes(count)
