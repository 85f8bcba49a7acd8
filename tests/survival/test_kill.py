"""`kill -9` of everything that takes part, again and again: what was told stays, and the budget is met exactly."""

import json
import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from dask.distributed import LocalCluster
from survival.programs import Program, until
from survival.small import small

from pesky.store import State

EVALUATIONS, ROUNDS = 24, 3


class Witness:
    """What the storage has shown so far, and whether it ever took any of that back."""

    def __init__(self, url: str, log: Path) -> None:
        self.study, self.log = small(storage=url), log
        self.told: dict[int, dict[str, float]] = {}

    def look(self) -> int:
        """How many results there are; those that were there before must be there unchanged."""
        now = {e.id: dict(e.outcomes) for e in self.study.evaluations.values() if e.outcomes}
        assert {id_: now.get(id_) for id_ in self.told} == self.told
        self.told = now
        return len(now)

    def await_more(self, count: int, program: Program) -> None:
        """Nothing, once there are so many more results and something is being measured, or the program is done."""
        before = self.look()
        until(lambda: program.is_over() or (self.look() >= before + count and self._is_measuring()))

    def _is_measuring(self) -> bool:
        return any(e.state is State.RUNNING for e in self.study.evaluations.values())

    def conclude(self, kills: dict[str, int], record: Callable[[str, Any], None], where: str) -> None:
        """Every promise, after the end: each result once, the budget met, what was lost asked again."""
        self.look()
        evaluations = list(self.study.evaluations.values())
        assert [e.id for e in evaluations] == list(range(EVALUATIONS))
        assert {e.state for e in evaluations} == {State.DONE}
        calls = [json.loads(line) for line in self.log.read_text().splitlines()]
        values = [call["f"] for call in calls]
        assert len(set(values)) == len(values)
        for e in evaluations:
            assert [call["params"] for call in calls if call["f"] == e.outcomes["f"]] == [dict(e.params)]
        again = [e for e in evaluations if e.attempts > 1]
        seen = {
            "killed": kills,
            "results": len(evaluations),
            "budget": EVALUATIONS,
            "asked again": len(again),
            "attempts": sum(e.attempts for e in evaluations),
            "calls completed": len(calls),
        }
        print(f"\n{where}: {seen}")
        record("kills", seen)
        assert again


def kill(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        os.kill(process.pid, signal.SIGKILL)


@pytest.mark.slow
def test_the_main_process_and_its_workers_are_killed(url: str, start, tmp_path: Path, record_property):
    chance, log = random.Random(url), tmp_path / "calls"
    log.touch()
    witness, kills = Witness(url, log), {"main": 0, "workers": 0}
    for _ in range(ROUNDS):
        program: Program = start("runner", url, EVALUATIONS, log)
        program.go()
        witness.await_more(chance.randint(1, 3), program)
        children = [process for process in program.family() if process.pid != program.process.pid]
        if children:
            kill(chance.choice(children))
            kills["workers"] += 1
        witness.await_more(chance.randint(1, 3), program)
        program.kill()
        kills["main"] += 1
        until(lambda program=program: not program.family())  # its children have died with it
    last = start("runner", url, EVALUATIONS, log)
    last.go()
    assert f"{EVALUATIONS} evaluations done" in last.result()
    witness.conclude(kills, record_property, url.split(":")[0])
    assert not last.family()


@pytest.mark.slow
def test_a_dask_worker_and_the_main_process_are_killed(url: str, start, tmp_path: Path, record_property):
    chance, log = random.Random(url), tmp_path / "calls"
    log.touch()
    witness, kills = Witness(url, log), {"main": 0, "dask workers": 0}
    cluster: Any
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="") as cluster:
        for is_last in (False, True):
            program: Program = start("runner", url, EVALUATIONS, log, cluster.scheduler_address)
            program.go()
            for _ in range(2):
                witness.await_more(chance.randint(1, 3), program)
                nannies = [nanny for nanny in cluster.workers.values() if nanny.pid]
                kill(psutil.Process(chance.choice(nannies).pid))
                kills["dask workers"] += 1
            if not is_last:
                witness.await_more(1, program)
                program.kill()
                kills["main"] += 1
            else:
                assert f"{EVALUATIONS} evaluations done" in program.result()
    witness.conclude(kills, record_property, f"{url.split(':')[0]}, Dask")
