"""What a function returns or raises may be anything, wherever it ran: a child process, Dask, or a job of Slurm."""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import dask.config
import pytest
import submitit
from distributed import Client, LocalCluster

from pesky import Choice, Problem, Study, Task
from pesky.run.processes import Processes
from pesky.run.slurm import SlurmExecutor
from pesky.store import State
from pesky.study.export import as_dict

EVIL = "\x1b]0;owned\x07\x9b31m\x1b[2J\x00\u202e"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def hostile(params: dict[str, Any]) -> Any:
    """What the case does that the parameter names."""
    import os
    import threading

    class Trap:
        """Ends the process that makes it again of what it was pickled to."""

        def __reduce__(self) -> Any:
            return os._exit, (1,)

        def __repr__(self) -> str:
            return EVIL

    class Unsendable(Exception):
        def __init__(self, lock: Any, more: Any) -> None:
            super().__init__(EVIL)
            self.lock = lock

    class Text(str):
        def __reduce__(self) -> Any:
            return os._exit, (1,)

        def __str__(self) -> Any:
            return self

    match params["case"]:
        case "huge":
            return {"f": 1.0, "note": "x" * 10**8, "more": [["y" * 10**5] * 1000] * 1000}
        case "integer":
            return {"f": 1.0, "note": 1 << 10**6}
        case "lock":
            return {"f": 1.0, "note": threading.Lock()}
        case "trap":
            return {"f": 1.0, "note": Trap(), "in": [Trap()], Text("text"): Text("t")}
        case "escapes":
            return {"f": 1.0, EVIL: EVIL, "note": {EVIL: [EVIL]}}
        case "others":
            return {"g": 1.0, EVIL: 2.0}
        case "a trap alone":
            return Trap()
        case "nothing":
            return None
        case "a text":
            return {"f": Text("1.0")}
        case "not finite":
            return {"f": float("nan")}
        case "many":
            return {str(number): 1.0 for number in range(10**5)}
        case "raises escapes":
            raise ValueError(EVIL)
        case "raises much":
            raise ValueError("x" * 10**8)
        case "raises what cannot be sent":
            raise Unsendable(threading.Lock(), 1)
        case "exits":
            raise SystemExit(EVIL)


FINE = ["huge", "integer", "lock", "trap", "escapes"]
FAILS = {
    "others": "returned no 'f': it gave 'g'",
    "a trap alone": "expected a mapping from outcomes to numbers",
    "nothing": "is a `return` missing?",
    "a text": "expected a number",
    "not finite": "expected a finite number",
    "many": "returned 100000 names",
    "raises escapes": "ValueError",
    "raises much": "ValueError: xxx",
    "raises what cannot be sent": "Unsendable",
    "exits": "SystemExit",
}


def processes(folder: Path) -> Iterator[Executor]:
    with Processes(2) as executor:
        yield executor


def dask_cluster(folder: Path) -> Iterator[Executor]:
    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "60s"}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor(pure=False)


def slurm(folder: Path) -> Iterator[Executor]:
    jobs = submitit.AutoExecutor(folder / "jobs", cluster="local")
    jobs.update_parameters(timeout_min=60, name=f"'; touch owned; {EVIL}".replace("\x00", ""))
    with SlurmExecutor(jobs, poll=0.05) as executor:
        yield executor


@pytest.mark.parametrize("executors", [processes, dask_cluster, slurm])
def test_what_comes_back_is_a_value_or_a_failure_in_words(
    executors: Callable[[Path], Iterator[Executor]], tmp_path: Path
) -> None:
    cases = [*FINE, *FAILS]
    problem = Problem({"case": Choice(cases)}, minimize="f", noise=0.0, tasks={"all": Task(["f"], failures="learn")})
    study = Study(problem, rule="random", storage=f"sqlite:///{tmp_path / 'study.db'}")
    for case in cases:
        study.enqueue({"case": case})
    for executor in executors(tmp_path):
        study.run(hostile, budget=len(cases), workers=2, executor=executor, keep_going=True)
    assert [e.params["case"] for e in study.evaluations.values()] == cases
    for e in study.evaluations.values():
        case = str(e.params["case"])
        assert e.attempts == 1, (case, e.history)
        assert not OBEYED.search(f"{e.error}"), case
        assert len(kept := json.dumps(as_dict(e), ensure_ascii=False)) < 300_000, case
        assert not OBEYED.search(kept), case
        if case in FINE:
            assert (e.state, dict(e.outcomes)) == (State.DONE, {"f": 1.0}), (case, e.error)
        else:
            assert e.state is State.FAILED, case
            assert FAILS[case] in str(e.error), (case, e.error)
    assert not (tmp_path / "owned").exists()
