"""Dask's executor needs no adapter; these are the properties of it that a study relies on."""

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

from pesky.study.call import measure

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
