"""Ctrl-C in a real run: nothing is lost, whether it is pressed once or twice."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from pesky.cli import exit_codes

SLOW = """\
import pathlib, time

def measure(params):
    pathlib.Path("begun").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.02)
    return {"f": params["x"], "c": 1.0}
"""


@pytest.fixture
def run(project):
    """A run whose measurement has begun, and ends once the file `go` is there."""
    project.measure(SLOW)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pesky", "run", "study.toml", "--evaluations", "2"],
        stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not (project.folder / "begun").exists() and time.monotonic() < end and process.poll() is None:
        time.sleep(0.05)
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()


def lines_until(process, text):
    """What the run prints, up to a line with that text."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return lines
    pytest.fail(f"{text!r} was never printed, but {lines!r}")


def test_the_first_waits_for_what_is_running_and_keeps_it(pesky, project, run):
    run.send_signal(signal.SIGINT)
    lines_until(run, "Asking no more; waiting for one measurement to end (Ctrl-C lets go of it).")
    (project.folder / "go").touch()
    rest, _ = run.communicate(timeout=60)
    assert run.returncode == exit_codes.INTERRUPTED
    assert "#0 all at" in rest
    assert "Interrupted; all that was measured is kept. `pesky run study.toml` goes on." in rest
    rows = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert [row["state"] for row in rows] == ["done"]


def test_the_second_lets_go_and_the_question_is_asked_again(pesky, project, run):
    run.send_signal(signal.SIGINT)
    lines_until(run, "Asking no more")
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode == exit_codes.INTERRUPTED
    (lost,) = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert lost["state"] == "lost"
    assert "lost" in pesky("status", "study.toml").stdout
    (project.folder / "go").touch()
    pesky("run", "study.toml", "--evaluations", 1, "--quiet")
    (done,) = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert (done["state"], done["params"], done["attempts"]) == ("done", lost["params"], 2)


def test_a_run_that_is_asked_to_end_lets_go_at_once(pesky, project, run):
    began = time.monotonic()
    run.terminate()
    run.communicate(timeout=60)
    assert run.returncode == exit_codes.TERMINATED
    assert time.monotonic() - began < 10
    (lost,) = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert (lost["state"], lost["cause"], lost["attempts"]) == ("lost", "released", 1)


def test_a_run_that_is_killed_leaves_nothing_behind_and_goes_on(pesky, project, run):
    run.kill()
    run.wait()
    (project.folder / "go").touch()
    pesky("run", "study.toml", "--evaluations", 1, "--quiet")
    (done,) = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert (done["state"], done["attempts"]) == ("done", 2)
