"""A study that is started anew while others work on it: nobody's results end up in the wrong one."""

import random
import time
from pathlib import Path

import pytest
from survival.nursery import nursling
from survival.programs import until
from survival.records import lines

from pesky.study.set_aside import set_aside

GENERATIONS, RUNS = 3, 2


@pytest.mark.slow
def test_a_study_is_started_anew_again_and_again(url: str, nursery, tmp_path: Path, show, monkeypatch):
    """Each time with another seed, so that the same numbers are of other points."""
    monkeypatch.setenv("PESKY_TESTS_SLOW", "[0.02, 0.3]")
    chance, runs = random.Random(6), nursery()
    seen, ended = 0, 0
    given = {"url": url, "folder": str(tmp_path), "evaluations": 500, "lease": 30.0, "workers": 2}
    for generation in range(GENERATIONS):
        study = nursling(storage=url, seed=generation)
        pids = [runs.spawn(**given, seed=generation) for _ in range(RUNS)]
        until(lambda study=study: sum(bool(e.outcomes) for e in study.evaluations.values()) >= 6)
        time.sleep(chance.uniform(0.0, 0.3))
        before = list(study.evaluations.values())
        seen += sum(bool(e.outcomes) for e in before)
        set_aside(study.store, study.name)  # as `pesky run --fresh` does, with measurements in flight
        nursling(storage=url, seed=generation + 1)
        for pid in pids:
            until(lambda pid=pid: not runs.lives(pid))
            ended += 1
        ends = [how for _, how in lines(tmp_path, "ends")]
        assert len(ends) == ended
        assert all(how.startswith("StudyGone") for how in ends), ends
    assert not nursling(storage=url).evaluations
    calls = [(params, outcomes) for params, outcomes in lines(tmp_path, "calls")]
    told = lines(tmp_path, "told")
    assert all((params, outcomes) in calls for _, _, params, outcomes in told), "a result is at another point"
    rescued = [line for path in tmp_path.glob("*.untold-*.jsonl") for line in lines(tmp_path, path.name)]
    show(
        {
            "generations": GENERATIONS,
            "runs": ended,
            "results": seen,
            "calls": len(calls),
            "results that came too late and are in files": len(rescued),
        }
    )
    assert len({identity for identity, *_ in told}) == GENERATIONS
