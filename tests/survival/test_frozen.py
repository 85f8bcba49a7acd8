"""A storage that does not answer, or has no room: it is said, and the run goes on when it does."""

import os
import signal
import sqlite3
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from stopwatch import Stopwatch
from survival.nursery import nursling
from survival.programs import Nursery, until
from survival.records import check, lines
from survival.test_outage import server  # noqa: F401 (fixture)

from pesky.store import State

EVALUATIONS = 30


def results(study) -> int:
    return sum(bool(e.outcomes) for e in study.evaluations.values())


def settle(study, runs: Nursery, pid: int, folder: Path) -> dict[str, object]:
    """Counts, after the run has ended and all is there."""
    until(lambda: not runs.lives(pid))
    assert f"{EVALUATIONS} evaluations is spent" in lines(folder, "ends")[-1][1]
    evaluations = list(study.evaluations.values())
    assert {e.state for e in evaluations} == {State.DONE}
    check(evaluations, folder)
    words = [line for line in runs.err.read_text().splitlines() if line.strip()]
    return {
        "evaluations": len(evaluations),
        "attempts": sum(e.attempts for e in evaluations),
        "words": len(words),
        "first": words[0][:90] if words else None,
    }


@pytest.mark.slow
def test_a_server_that_hangs_for_longer_than_a_lease(server, nursery, tmp_path: Path, show):  # noqa: F811
    url = server.get_uri()
    study, runs = nursling(storage=url), nursery()
    pid = runs.spawn(url=url, folder=str(tmp_path), evaluations=EVALUATIONS)
    until(lambda: results(study) >= 5)
    main = int((Path(server.pgdata) / "postmaster.pid").read_text().splitlines()[0])
    family = [psutil.Process(main), *psutil.Process(main).children(recursive=True)]
    for process in family:
        process.suspend()
    time.sleep(6.5)
    assert runs.lives(pid)
    said = runs.err.read_text()
    for process in reversed(family):
        process.resume()
    show(settle(study, runs, pid, tmp_path))
    assert "did not answer" in said or "does not answer" in said or "has not answered" in said, said


@pytest.mark.slow
def test_a_file_that_another_program_locks(nursery, tmp_path: Path, show):
    url = f"sqlite:///{tmp_path}/study.db"
    study, runs = nursling(storage=url), nursery()
    pid = runs.spawn(url=url, folder=str(tmp_path), evaluations=EVALUATIONS)
    until(lambda: results(study) >= 5)
    other = sqlite3.connect(tmp_path / "study.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    time.sleep(4.0)
    assert runs.lives(pid)
    assert "locked" in runs.err.read_text()
    other.execute("ROLLBACK")
    show(settle(study, runs, pid, tmp_path))


@pytest.mark.slow
def test_ctrl_c_while_a_file_is_locked(nursery, tmp_path: Path, show):
    url = f"sqlite:///{tmp_path}/study.db"
    study, runs = nursling(storage=url), nursery()
    pid = runs.spawn(url=url, folder=str(tmp_path), evaluations=EVALUATIONS)
    until(lambda: results(study) >= 5)
    other = sqlite3.connect(tmp_path / "study.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    time.sleep(1.5)
    with Stopwatch() as watch:
        os.kill(pid, signal.SIGINT)
        until(lambda: not runs.lives(pid))
    seconds = watch.seconds
    other.execute("ROLLBACK")
    untold = [line for path in tmp_path.glob("study.db.untold-*.jsonl") for line in lines(tmp_path, path.name)]
    show({"seconds until it ended": round(seconds, 2), "results in a file": len(untold)})
    assert seconds < 2.0, "a second, and another one for a busy machine"
    assert lines(tmp_path, "ends")[-1][1].startswith("interrupted")
    calls = [(params, outcomes) for params, outcomes in lines(tmp_path, "calls")]
    for path in tmp_path.glob("study.db.untold-*.jsonl"):
        study.recover(path)
    told = [(dict(e.params), dict(e.outcomes)) for e in study.evaluations.values() if e.outcomes]
    assert all(call in told for call in calls), "what was measured is told or in the file"


@pytest.fixture
def little_disk(tmp_path: Path):
    """A file system of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)], capture_output=True)
    if made.returncode:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_disk_that_is_full_for_a_while(little_disk: Path, nursery, tmp_path: Path, show):
    url = f"sqlite:///{little_disk}/study.db"
    study, runs = nursling(storage=url), nursery()
    pid = runs.spawn(url=url, folder=str(tmp_path), evaluations=EVALUATIONS)
    until(lambda: results(study) >= 5)
    with (little_disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while True:  # until there is no space left
            filler.write(b"x" * 4096)
    until(lambda: "full" in runs.err.read_text())
    time.sleep(1.0)
    assert runs.lives(pid)
    (little_disk / "filler").unlink()
    show(settle(study, runs, pid, tmp_path))
