"""How a run goes is shown: in a terminal, in a notebook, in a log, or not at all."""

import logging
import os
import pty
import re
import subprocess
import sys
import time
from typing import Any

import pytest
from study.quick import COUPLED, measure, quick

import pesky
from pesky import Budget, Problem, Progress, Real
from pesky.run import display
from pesky.run.best import best_measured
from pesky.run.progress import progress_of
from pesky.store import Evaluation, State

PROGRAM = """
import logging
import pesky
logging.getLogger("pesky").setLevel(logging.INFO)
logging.getLogger("pesky").addHandler(logging.FileHandler("log"))
study = pesky.Study(pesky.Problem({"x": pesky.Real(0, 1)}, minimize="f"), rule="random")
study.run(lambda p: p["x"], pesky.Budget(evaluations=4))
print("over")
"""


def seen_in_a_terminal(program, folder):
    """What a program writes to a terminal."""
    near, far = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", program], cwd=folder, stdout=far, stderr=far, stdin=far) as process:
        os.close(far)
        written = b""
        try:
            while piece := os.read(near, 4096):
                written += piece
        except OSError:  # how Linux says that nobody has the other end any more
            pass
        process.wait(60)
    os.close(near)
    return written.decode()


def test_a_terminal_has_one_line_that_is_written_anew(tmp_path):
    text = seen_in_a_terminal(PROGRAM, tmp_path)
    # blanks take away what is left of a longer line
    assert re.search(r"is spent \(4 evaluations done\) *\r\nover\r\n$", text)
    assert text.count("\n") == 2
    assert text.startswith("\r0 of 4 evaluations, deciding")
    assert (tmp_path / "log").read_text() == ""


def test_progress_false_is_silent(tmp_path):
    quiet = PROGRAM.replace("evaluations=4)", "evaluations=4), progress=False")
    assert seen_in_a_terminal(quiet, tmp_path) == "over\r\n"


def test_a_notebook_has_one_line_too(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr(display, "LINE_SECONDS", 0.0)
    quick(rule="random").run(measure, 4)
    written = capsys.readouterr().out
    assert written.count("\n") == 1
    assert "\r4 of" not in written  # a bare number is a cost
    assert re.search(r"\r3 evaluations, cost \S+ of 4, best f ", written)


def test_elsewhere_there_is_a_log(caplog, monkeypatch):
    monkeypatch.setattr(display, "LOG_SECONDS", 0.0)
    with caplog.at_level(logging.INFO, "pesky"):
        quick(rule="random").run(measure, Budget(evaluations=4))
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith("0 of 4 evaluations, deciding")
    assert said[-1] == "the budget of 4 evaluations is spent (4 evaluations done)"
    caplog.clear()
    monkeypatch.setattr(display, "LOG_SECONDS", 10.0)
    with caplog.at_level(logging.INFO, "pesky"):
        quick(rule="random").run(measure, 4)
    assert len(caplog.records) == 1  # not a line for each evaluation


def test_a_run_that_shows_nothing_new_does_not_look(monkeypatch):
    looks = []
    monkeypatch.setattr("pesky.run.loop.progress_of", lambda *given: looks.append(given))
    quick(rule="random").run(measure, 6, progress=True)
    assert looks == []  # there is no terminal here, and no ten seconds have passed


def progress(**given):
    s = quick(rule="random")
    s.add({"x": 0.5, "y": 0.0}, {"f": 3.0, "c": 1.0})
    return progress_of(s, s.evaluations, Budget(**given), time.monotonic() - 30, None, "waiting", 0.0)


def test_it_prints_well():
    assert str(progress(evaluations=40)) == "1 of 40 evaluations, best f 3, 30 s"
    assert str(progress(seconds=60)) == "1 evaluation, best f 3, 30 s, about 30 s left"
    assert str(progress(cost=7)) == "1 evaluation, cost 0 of 7, best f 3, 30 s"
    assert pesky.Progress is Progress


@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_the_best_is_the_best_that_was_measured_to_hold(sense):
    goal: Any = {sense: "f"}
    problem = Problem({"x": Real(0, 1)}, constraints=["c >= 0", "k <= 1"], known={"k": lambda p: 2 * p["x"]}, **goal)

    def told(id_, x, **outcomes):
        return Evaluation(id_, "all", {"x": x}, state=State.DONE, outcomes=outcomes)

    each = [
        told(0, 0.1, f=5.0, c=1.0), told(1, 0.2, f=4.0), told(2, 0.2, c=0.0), told(3, 0.3, f=1.0, c=-1.0),
        told(4, 0.9, f=0.0, c=1.0), told(5, 0.4, c=1.0),
    ]  # fmt: skip
    assert best_measured(problem, each) == (4.0 if sense == "minimize" else 5.0)
    assert best_measured(problem, each[3:]) is None
    assert best_measured(COUPLED, []) is None
