"""Workers that do not see each other's processes: what lives is left alone, also behind the same host name."""

import os
import subprocess
from pathlib import Path

import pytest
from survival.nursery import nursling
from survival.programs import until
from survival.records import check, lines

from pesky.store import State

CONTAINER = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


def can_contain() -> bool:
    """Whether a process may have processes of its own here."""
    try:
        return subprocess.run([*CONTAINER, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not can_contain(), reason="needs the right to make a PID namespace")
def test_a_live_worker_in_a_container_is_not_taken_for_dead(nursery, tmp_path: Path, show, monkeypatch):
    url = f"sqlite:///{tmp_path}/study.db"
    monkeypatch.setenv("PESKY_TESTS_SLOW", "[4.0, 4.0]")
    inside, study = nursery(*CONTAINER), nursling(storage=url)
    given = {"url": url, "folder": str(tmp_path), "lease": 60.0, "workers": 1}
    inside.spawn(**given, evaluations=1)
    until(lambda: any(e.state is State.RUNNING for e in study.evaluations.values()))
    worker = str(study.evaluations[0].worker)
    monkeypatch.setenv("PESKY_TESTS_SLOW", "[0.01, 0.02]")
    outside = nursery()
    pid = outside.spawn(**given, evaluations=5)
    until(lambda: not outside.lives(pid))
    evaluations = list(study.evaluations.values())
    show({"worker in a container": worker.split(":")[:2], "attempts": [e.attempts for e in evaluations]})
    assert not os.path.exists(f"/proc/{worker.split(':')[1]}") or int(worker.split(":")[1]) < 300
    assert [e.attempts for e in evaluations] == [1] * 5
    assert {e.state for e in evaluations} == {State.DONE}
    check(evaluations, tmp_path)
    assert len(lines(tmp_path, "calls")) == 5
