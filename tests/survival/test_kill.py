"""Main processes and their children, killed at any moment: nothing that was told is lost, and the budget is exact."""

import random
import time
from pathlib import Path

import psutil
import pytest
from survival.account import Account
from survival.programs import until

EVALUATIONS, KILLS, MOST = 60, 6, 20


@pytest.mark.slow
def test_the_main_process_is_killed_again_and_again(url: str, start, tmp_path: Path, record_property):
    """The next one loads while the last one works; half of the dead are not buried: only their leases tell."""
    moments, account = random.Random(1), Account(url, tmp_path)
    following = start("main_process", url, tmp_path, EVALUATIONS)
    kills = lost = 0
    while kills < KILLS or (not lost and kills < MOST):
        main, following = following, start("main_process", url, tmp_path, EVALUATIONS)
        main.go()
        time.sleep(moments.uniform(0.0, 2.0))
        assert not main.is_over(), main.err.read_text()
        main.kill(is_buried=moments.random() < 0.5)
        kills += 1
        until(lambda main=main: not main.family())
        lost += account.running()
    following.go()
    assert "60 evaluations is spent" in following.result()
    assert not following.family()
    counts = {"kills": kills, "running when killed": lost, **account.settle(EVALUATIONS)}
    print(f"\n{url.split(':')[0]}, main process: {counts}")
    record_property("counts", counts)
    assert counts["asked again"] + counts["failed"] > 0
    assert counts["attempts"] - EVALUATIONS + counts["failed"] >= lost


@pytest.mark.slow
def test_child_processes_are_killed_again_and_again(url: str, start, tmp_path: Path, record_property):
    moments, account = random.Random(2), Account(url, tmp_path)
    main = start("main_process", url, tmp_path, EVALUATIONS)
    main.go()
    kills = 0
    while not main.is_over():
        time.sleep(moments.uniform(0.0, 0.5))
        account.look()
        children = [process for process in main.family() if process.pid != main.process.pid]
        if children and kills < 2 * KILLS:
            child = moments.choice(children)
            try:
                child.kill()
            except psutil.NoSuchProcess:  # it ended by itself
                continue
            kills += 1
    assert "60 evaluations is spent" in main.result()
    assert not main.family()
    counts = {"kills": kills, **account.settle(EVALUATIONS)}
    print(f"\n{url.split(':')[0]}, children: {counts}")
    record_property("counts", counts)
    assert kills == 2 * KILLS
    assert 0 < counts["attempts"] - EVALUATIONS + counts["failed"] <= kills
