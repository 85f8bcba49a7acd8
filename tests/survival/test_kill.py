"""Main processes and their children, killed at any moment: nothing that was told is lost, and the budget is exact."""

import os
import random
import signal
from pathlib import Path

import pytest
from survival.account import Account
from survival.programs import until

EVALUATIONS, KILLS = 30, int(os.environ.get("PESKY_KILLS", "3"))


def test_the_main_process_is_killed_again_and_again(url: str, start, tmp_path: Path, show):
    """The next one loads while the last one works. Half of the dead are not buried: only their leases tell."""
    chance, account = random.Random(1), Account(url, tmp_path)
    following = start("main_process", url, tmp_path, EVALUATIONS)
    kills, lost = 0, set()
    while kills < KILLS or (not lost and kills < 10):
        main, following = following, start("main_process", url, tmp_path, EVALUATIONS)
        main.go()
        account.await_moment(chance, results=chance.randint(0, 4))
        assert not main.is_over(), main.err.read_text()
        main.kill(is_buried=chance.random() < 0.5)
        kills += 1
        until(lambda main=main: not main.family())
        lost |= account.running()
    following.go()
    assert f"{EVALUATIONS} evaluations is spent" in following.result()
    assert not following.family()
    counts = {"kills": kills, "running when killed": len(lost), **account.settle(EVALUATIONS)}
    show(counts)
    assert 0 < len(lost) <= counts["lost"]
    assert counts["failed"] == 0, "to be killed is no failure of what was measured"


@pytest.mark.slow
def test_child_processes_are_killed_again_and_again(url: str, start, tmp_path: Path, show):
    chance, account = random.Random(2), Account(url, tmp_path)
    main = start("main_process", url, tmp_path, EVALUATIONS)
    main.go()
    kills = 0
    while kills < 2 * KILLS:
        account.await_moment(chance, results=chance.randint(1, 3))
        assert not main.is_over(), main.err.read_text()
        children = [process for process in main.family() if process.pid != main.process.pid]
        if children:
            chance.choice(children).kill()
            kills += 1
    os.kill(account.hold(), signal.SIGKILL)  # the others may have had nothing to do
    account.release()
    assert f"{EVALUATIONS} evaluations is spent" in main.result()
    assert not main.family()
    counts = {"kills": kills + 1, **account.settle(EVALUATIONS)}
    show(counts)
    assert counts["lost"] > 0
