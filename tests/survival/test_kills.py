"""Kills of a run whose failures are learnt: none of them is one. PESKY_KILLS=100 are a hundred."""

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from survival.nursery import nursling
from survival.programs import until
from survival.records import check, lines

from pesky import Study
from pesky.store import State
from pesky.store.transitions import HISTORY

KILLS = int(os.environ.get("PESKY_KILLS", "16"))
WAYS = {"SIGKILL": 0.5, "SIGTERM": 0.3, "Ctrl-C twice": 0.2}


@pytest.mark.slow
def test_kills_teach_nothing(url: str, nursery, tmp_path: Path, show):
    chance, runs = random.Random(5), nursery()
    study = nursling(storage=url)
    given = {"url": url, "folder": str(tmp_path), "evaluations": 400}
    kills: Counter[str] = Counter()
    began = time.monotonic()
    while kills.total() < KILLS:
        pid = runs.spawn(**given)
        until(lambda pid=pid: not runs.lives(pid) or measures(pid, study))
        time.sleep(chance.uniform(0.0, 0.3))
        assert runs.lives(pid), (lines(tmp_path, "ends")[-1:], runs.err.read_text())
        (way,) = chance.choices(list(WAYS), list(WAYS.values()))
        end(pid, way)
        until(lambda pid=pid: not runs.lives(pid))
        kills[way] += 1
        now = study.evaluations.values()
        assert not [e for e in now if e.state is State.FAILED]
        assert not any(e.crashes for e in now)
    count = len(study.evaluations) + 5
    pid = runs.spawn(**given | {"evaluations": count})
    until(lambda: not runs.lives(pid))
    assert f"{count} evaluations is spent" in lines(tmp_path, "ends")[-1][1]
    evaluations = list(study.evaluations.values())
    causes = Counter(attempt.cause.value for e in evaluations for attempt in e.history)
    show(
        {
            "kills": dict(kills),
            "evaluations": len(evaluations),
            "attempts": sum(e.attempts for e in evaluations),
            "ended attempts": dict(causes),
            "most attempts at one": max(e.attempts for e in evaluations),
            "failed": sum(e.state is State.FAILED for e in evaluations),
            "seconds": round(time.monotonic() - began, 1),
        }
    )
    assert [e.id for e in evaluations] == list(range(count))
    assert {e.state for e in evaluations} == {State.DONE}
    check(evaluations, tmp_path)
    learnt = study.observations()
    assert learnt.y[1][learnt.mask[1]].tolist() == [1.0] * count, "every success, and no failure, is learnt"
    # all that was asked again was let go of or lost, and said so
    assert all(len(e.history) >= min(e.attempts - 1, HISTORY) for e in evaluations)
    assert {"SIGTERM", "Ctrl-C twice"} < set(kills)
    assert causes["released"] > 0


def measures(pid: int, study: Study) -> bool:
    """Whether the run of this process has an evaluation in hand."""
    running = [e for e in study.evaluations.values() if e.state is State.RUNNING]
    return any(str(e.worker).split(":")[1] == str(pid) for e in running)


def end(pid: int, way: str) -> None:
    """The run, killed or asked to end."""
    if way == "SIGTERM":
        os.kill(pid, signal.SIGTERM)
    elif way == "SIGKILL":
        os.kill(pid, signal.SIGKILL)
    else:
        os.kill(pid, signal.SIGINT)
        time.sleep(0.05)
        with suppress(ProcessLookupError):  # the first one was enough
            os.kill(pid, signal.SIGINT)
