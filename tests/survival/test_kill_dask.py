"""Dask's workers, and the main process that has given them work, killed at any moment."""

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.config
import pytest
from distributed import LocalCluster
from survival.account import Account
from survival.programs import until

from pesky.store import Cause

EVALUATIONS = 24


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two workers; Dask does not try again by itself what a dead one was doing, so that pesky has to."""
    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "60s"}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
    ):
        yield cluster


def test_workers_of_dask_and_their_client_are_killed(cluster, start, tmp_path: Path, show):
    url = f"sqlite:///{tmp_path / 'study.db'}"  # what is stored, and when, is the same in every kind of database
    chance, account = random.Random(3), Account(url, tmp_path)
    arguments = ("main_process", url, tmp_path, EVALUATIONS, cluster.scheduler_address)
    main, following = start(*arguments), start(*arguments)
    main.go()
    kills = {"worker": 0, "main": 0}
    for victim in ("worker", "main", "worker"):
        account.await_moment(chance, results=chance.randint(1, 3))
        assert not main.is_over(), main.err.read_text()
        if victim == "main":
            main.kill()
            account.look()
            main = following
            main.go()
        else:
            pids = until(lambda: [nanny.pid for nanny in cluster.workers.values() if nanny.pid])
            os.kill(account.hold() if kills["main"] else chance.choice(pids), signal.SIGKILL)
            account.release()
        kills[victim] += 1
    assert f"{EVALUATIONS} evaluations is spent" in main.result()
    assert not main.family()
    attempts = [attempt for e in account.study.evaluations.values() for attempt in e.history]
    causes = Counter(attempt.cause.value for attempt in attempts)
    counts = {"kills": kills, "causes": dict(causes), **account.settle(EVALUATIONS)}
    show(counts)
    assert counts["lost"] == len(attempts) > 0
    assert all("KilledWorker" in attempt.error for attempt in attempts if attempt.cause is Cause.CRASHED)
    # Two may wait for one worker. What the killed client had is lost, or free at once on this machine.
    assert causes["crashed"] <= 2 * kills["worker"]
