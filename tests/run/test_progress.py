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
from pesky import Budget, Problem, Progress, Real, Task
from pesky.run import display
from pesky.run.best import best_measured, is_exact, name_of_best
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
    assert str(progress(evaluations=40)) == "1 of 40 evaluations, best f 3 as measured, 30 s"
    assert str(progress(seconds=60)) == "1 evaluation, best f 3 as measured, 30 s, about 30 s left"
    assert str(progress(cost=7)) == "1 evaluation, cost 0 of 7, best f 3 as measured, 30 s"
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


def best_in(problem: Problem, *told: dict[str, float] | str) -> tuple[Any, str]:
    """A study of these results at x = 0.1, 0.2, and so on, as its line of progress has it."""
    s = quick(problem, rule="random")
    for i, each in enumerate(told, 1):
        e = s.ask(params={"x": i / 10})
        s.fail(e, each) if isinstance(each, str) else s.tell(e, each)
    line = str(progress_of(s, s.evaluations, Budget(evaluations=9), time.monotonic(), None, "waiting", 0.0))
    return s, line.split(", ")[1]


def test_a_success_by_chance_counts_as_measured_and_is_called_so():
    tasks = {"run": Task(["f"], failures="random")}
    results = ({"f": 0.0}, "diverged", {"f": -1.0}, "diverged", "diverged")
    s, said = best_in(Problem({"x": Real(0, 1)}, minimize="f", tasks=tasks, noise=0.0), *results)
    assert best_measured(s.problem, s.evaluations.values()) == -1.0  # where nobody knows that it would succeed again
    assert not s.best().is_confident
    assert (said, is_exact(s.problem)) == ("best f -1 as measured", False)


def test_the_luckiest_of_noisy_values_counts_as_measured_and_is_called_so():
    problem = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0"], noise={"f": 1.0, "c": 0.0})
    told = ({"f": f, "c": 1.0} for f in (0.5, 0.4, -2.0, 0.6, 0.5))
    s, said = best_in(problem, *told)
    assert best_measured(s.problem, s.evaluations.values()) == -2.0 < s.best().expected
    assert (said, is_exact(problem)) == ("best f -2 as measured", False)


def test_without_noise_and_chance_it_is_the_best_measured_point():
    tasks = {"run": Task(["f", "c"], failures="learn")}
    problem = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0"], tasks=tasks, noise=0.0)
    s, said = best_in(problem, {"f": 1.0, "c": 1.0}, {"f": -1.0, "c": -1.0}, {"f": 0.5, "c": 0.0}, "diverged")
    assert best_measured(problem, s.evaluations.values()) == s.best().expected == 0.5
    assert (said, is_exact(problem)) == ("best f 0.5", True)
    assert name_of_best(exact=True) != name_of_best(exact=False)
