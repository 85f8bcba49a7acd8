"""Whose process it was: a live one is never taken for dead, whatever the names are."""

import os
import subprocess
import sys
import time

import pytest
from study.quick import measure, quick

from pesky import host
from pesky.run import leases
from pesky.run.leases import is_dead, worker_name
from pesky.store import MemoryStore, State


def test_a_process_that_ended_is_dead_and_one_that_lives_is_not():
    child = subprocess.Popen(
        [sys.executable, "-c", "from pesky.run.leases import worker_name; print(worker_name(), flush=True); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    name = child.stdout.readline().strip()
    assert not is_dead(name)
    child.kill()
    while host.began(child.pid) is not None:  # it is not buried yet: its number is still taken
        time.sleep(0.01)
    assert is_dead(name)
    child.communicate()
    assert is_dead(name)


def test_a_number_that_another_process_has_now_is_not_the_same_process():
    *start, began = worker_name().split(":")
    assert not is_dead(":".join([*start, began]))
    assert is_dead(":".join([*start, str(int(began) - 1)]))


@pytest.mark.parametrize("part", ["boot", "processes"])
def test_processes_that_are_counted_elsewhere_are_never_dead(monkeypatch, part):
    """As after the machine was started anew, or in another container with the same host name."""
    machine, _, token, place, began = worker_name().split(":")
    gone = f"{machine}:999999999:{token}:{place}:{began}"
    assert is_dead(gone)
    monkeypatch.setattr(leases.host, "processes", lambda: f"another {part}")
    assert not is_dead(gone)
    assert not is_dead(worker_name())


@pytest.mark.parametrize("name", ["", "ada@desk", "desk:999999999:ab", "desk:x:ab:12:34", "::::", "a:b:c:d:e:f:g"])
def test_names_of_any_other_kind_are_left_alone(name):
    assert not is_dead(name)


def test_where_nobody_can_tell_processes_apart_leases_alone_decide(monkeypatch):
    monkeypatch.setattr(leases.host, "processes", lambda: None)
    name = worker_name()
    assert len(name.split(":")) == 3
    assert not is_dead(name)


@pytest.mark.skipif(
    subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode != 0
    if os.path.exists("/usr/bin/unshare")
    else True,
    reason="needs the right to make a PID namespace",
)
def test_a_worker_in_another_pid_namespace_keeps_its_evaluation():
    code = "from pesky.run.leases import worker_name; print(worker_name())"
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert name.split(":")[0] == worker_name().split(":")[0]
    assert host.began(int(name.split(":")[1])) != name.split(":")[4]  # by number alone it would be dead
    assert not is_dead(name)


def test_a_clock_that_is_set_back_does_not_prolong_a_lease():
    now = [1e9]
    s = quick(storage=MemoryStore(clock=lambda: now[0]))
    s.ask(worker="gone", lease=5)
    now[0] -= 3600
    assert s.evaluations[0].state is State.RUNNING
    now[0] += 5.5
    assert s.evaluations[0].state is State.LOST


def test_sqlite_has_a_clock_that_nobody_sets(tmp_path, monkeypatch):
    """Once a storage is there, nobody asks what time it is: what the machine's clock says makes no difference."""
    url = f"sqlite:///{tmp_path}/study.db"
    s = quick(storage=url)
    asked = s.ask(worker="w", lease=60)
    monkeypatch.setattr("pesky.store.sql.clock.clock_of", lambda dialect: 1 / 0)
    later = quick(storage=url)
    assert later.evaluations[0].state is State.RUNNING
    second = later.ask(worker="w", lease=60)
    assert 0 <= second.asked - asked.asked < 30


def test_a_machine_that_was_started_anew_has_another_clock(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/study.db"
    quick(storage=url).ask(worker="w", lease=600)
    before = quick(storage=url).evaluations[0].expires or 0.0
    monkeypatch.setattr("pesky.host.boot", lambda: "another")
    monkeypatch.setattr("pesky.host.steady", lambda: 1.0)
    again = quick(storage=url)
    assert again.evaluations[0].state is State.RUNNING
    assert abs((again.ask(worker="w", lease=600).expires or 0.0) - before) < 60


def test_a_run_frees_what_its_machine_lost_and_not_what_lives_elsewhere():
    s = quick()
    elsewhere = s.ask(worker="other-machine:1:ab:0123456789ab:77", lease=0.4)
    ending = s.run(measure, budget=2)
    assert ending.evaluations == 2
    assert s.evaluations[elsewhere.id].history[0].error == "its worker stopped renewing the lease"
