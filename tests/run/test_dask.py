"""Dask's executor needs no adapter; these are the properties of it that a study relies on."""

import importlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import dask.config
import pytest
from distributed import Client, KilledWorker, LocalCluster
from survival.nursery import nursling

from pesky.errors import PeskyError
from pesky.run.call import measure
from pesky.run.executors import submit
from pesky.store import Cause, State

LONG = 60.0
"""Seconds that no call here may take, however busy the machine."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.comm.timeouts.connect": "60s"}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def executor(client: Client) -> Executor:
    return client.get_executor(pure=False)


def until(condition: Callable[[], Any]) -> Any:
    """What the condition gives once it holds."""
    end = time.monotonic() + LONG
    while not (given := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return given


def test_functions_are_measured_by_workers(executor: Executor) -> None:
    here = os.getpid()
    future = executor.submit(measure, lambda params: {"f": 2 * params["x"], "is_away": os.getpid() != here}, {"x": 3})
    assert isinstance(future, Future)
    assert future.result(LONG).outcomes == {"f": 6.0, "is_away": True}
    error = executor.submit(measure, lambda params: 1 / 0, {}).result(LONG).error
    assert str(error).startswith("ZeroDivisionError: division by zero\n  test_dask.py")


def test_a_call_that_comes_after_the_client_was_closed_says_so(client: Client) -> None:
    """Also where a run looked a moment before: Dask's own error tells nobody what is kept."""
    closed = Client(client.scheduler_info()["address"])
    executor = closed.get_executor(pure=False)
    closed.close()
    with pytest.raises(PeskyError, match="Dask's client is closed"):
        submit(executor, lambda params: 1.0, {}, None)


def test_repeats_are_measured_again_unless_they_are_pure(client: Client, executor: Executor) -> None:
    def noisy(params: Any) -> float:
        return random.SystemRandom().random()

    def values(executor: Executor) -> set[float]:
        futures = [executor.submit(measure, noisy, {"x": 1}) for _ in range(3)]
        return {value for future in futures for value in (future.result(LONG).outcomes or {}).values()}

    assert len(values(executor)) == 3
    assert len(values(client.get_executor())) == 1  # the reason to say pure=False


def test_a_call_whose_worker_is_killed_is_run_again(executor: Executor, tmp_path: Path) -> None:
    path = str(tmp_path / "pids")

    def second_time(params: Any) -> int:
        with open(path, "a") as file:
            file.write(f"{os.getpid()}\n")
        if Path(path).read_text().count("\n") == 1:
            time.sleep(1000)
        return 7

    future = executor.submit(measure, second_time, {})
    pid = int(until(lambda: Path(path).exists() and Path(path).read_text().strip()))
    os.kill(pid, signal.SIGKILL)
    assert future.result(LONG).outcomes == {"": 7.0}
    assert Path(path).read_text().count("\n") == 2


def test_a_call_that_kills_its_workers_is_given_up(executor: Executor, tmp_path: Path) -> None:
    """After `allowed-failures` more tries than the first one."""
    path = str(tmp_path / "tries")

    def deadly(params: Any) -> None:
        with open(path, "a") as file:
            file.write("try\n")
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(KilledWorker):
        executor.submit(measure, deadly, {}).result(LONG)
    assert Path(path).read_text().count("\n") == 2


def test_a_function_that_workers_cannot_load_ends_the_run(
    executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask's workers fall silent over a module that they do not have, and the call would be waited for for ever."""
    (tmp_path / "only_here.py").write_text("def one(params):\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    one = importlib.import_module("only_here").one
    study = nursling(initial=50)
    with pytest.raises(PeskyError, match=r"could not be loaded by a worker of the executor: ModuleNotFoundError"):
        study.run(one, budget=3, executor=executor)
    assert [(e.state, e.cause, e.crashes) for e in study.evaluations.values()] == [(State.LOST, Cause.RELEASED, 0)]
    assert study.run(lambda params: 1.0, budget=3, workers=2, executor=executor).evaluations == 3


def test_a_call_that_is_canceled_is_asked_again(client: Client, executor: Executor, tmp_path: Path) -> None:
    """By whoever may do that to a cluster, as often as they like; Dask lets it run to its end, for nothing."""
    study, folder = nursling(initial=50), str(tmp_path)

    def fifth_time(params: Any) -> float:
        number = len(os.listdir(folder)) // 2 + 1
        Path(folder, f"{number} begun").touch()
        while number < 5 and not Path(folder, f"{number} canceled").exists():
            time.sleep(0.02)
        return 1.0

    def watch(progress: Any) -> None:
        number = progress.running[0].attempts if progress.running else 0
        if (tmp_path / f"{number} begun").exists() and not (tmp_path / f"{number} canceled").exists() and number < 5:
            client.cancel(list(executor._futures), force=True)  # pyright: ignore[reportAttributeAccessIssue]
            (tmp_path / f"{number} canceled").touch()

    assert study.run(fifth_time, budget=1, executor=executor, watch=watch).evaluations == 1
    (only,) = study.evaluations.values()
    assert (only.attempts, only.crashes) == (5, 0)
    assert [a.cause for a in only.history] == [Cause.RELEASED] * 4
