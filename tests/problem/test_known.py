"""Known outcomes of a problem: what is left to measure, the way to JSON and back, and the answer to every mistake."""

# pyright: reportArgumentType=false
# Wrong types are among the mistakes.

import copy
import functools
import json
import math
import sys
from dataclasses import replace

import pytest

from pesky import Constraint, Problem, ProblemError, Real, Task
from pesky.problem.known import Imported

SQUARE = {"x": Real(0, 1), "y": Real(0, 1)}


def add(params):
    return params["x"] + params["y"]


def declare(**changes):
    given = {"parameters": SQUARE, "minimize": "cost", "constraints": ["c >= 0", "size <= 3"], "known": {"cost": add}}
    return Problem(**{**given, **changes})


def test_what_is_known_stays_a_row_and_is_not_measured():
    problem = declare(known={"cost": add, "size": lambda p: 2 * p["x"]}, noise=0.5)
    assert problem.rows == ("cost", "c", "size")
    assert problem.confidences == (0.95, 0.95)
    assert problem.outcomes == ("c",)
    assert dict(problem.tasks) == {"all": Task(["c"])}
    assert dict(problem.noise) == {"c": 0.5}
    assert problem.known["cost"]({"x": 1.0, "y": 2.0}) == 3.0
    assert problem.grounds == ("c",)
    assert declare(known={"size": add}).grounds == ("cost",)


def test_a_task_may_learn_its_failures_beside_what_is_known():
    problem = declare(tasks={"run": Task(["c", "size"], failures="learn")})
    assert problem.rows == ("cost", "c", "size", "run succeeds")
    assert problem.informs("run") == ("c", "size", "run succeeds")


def test_an_import_path_is_resolved_when_it_is_needed():
    problem = Problem(SQUARE, minimize="f", constraints=["c >= 0"], known={"c": "math:fsum"})
    assert problem.known["c"]([1.0, 2.0]) == 3.0
    missing = Problem(SQUARE, minimize="f", constraints=["c >= 0"], known={"c": "pesky_nowhere:price"})
    with pytest.raises(ProblemError, match=r"'pesky_nowhere:price' could not be imported .*give the function itself"):
        missing.known["c"]({})
    number = Problem(SQUARE, minimize="f", constraints=["c >= 0"], known={"c": "math:pi"})
    with pytest.raises(ProblemError, match=r"'math:pi' is 3\.14.*: expected a function"):
        number.known["c"]({})


@pytest.mark.parametrize(
    ("function", "path"),
    [
        (math.fsum, "math:fsum"),
        ("prices:Table.total", "prices:Table.total"),
        (Imported("prices:total"), "prices:total"),
        (lambda params: 1.0, None),
        (functools.partial(pow, 2), None),
        ([].count, None),
    ],
)
def test_json_has_the_import_path_where_there_is_one(function, path):
    problem = declare(known={"cost": function})
    text = problem.to_json()
    assert json.loads(text)["known"] == {"cost": path}
    again = Problem.from_json(text)
    assert again == problem
    assert hash(again) == hash(problem)
    assert again.to_json() == text
    assert again.outcomes == problem.outcomes
    assert again.difference(problem) == []


def test_a_function_of_a_script_or_of_another_function_has_no_import_path(monkeypatch):
    def local(params):
        return 1.0

    assert declare(known={"cost": local}).to_dict()["known"] == {"cost": None}
    monkeypatch.setattr(sys.modules["__main__"], "add", add, raising=False)
    monkeypatch.setattr(add, "__module__", "__main__")
    assert declare().to_dict()["known"] == {"cost": None}


def test_a_function_that_was_not_stored_is_missed_only_when_it_is_needed():
    problem = Problem.from_json(declare(known={"cost": lambda p: 1.0}).to_json())
    assert problem.outcomes == ("c", "size")
    with pytest.raises(ProblemError, match=r"'cost' is not here.*Study\(problem, storage=\.\.\.\)"):
        problem.known["cost"]({"x": 0.0, "y": 0.0})


def test_what_a_text_names_is_never_imported(tmp_path, monkeypatch):
    """A text may be anybody's; what the author of a program writes is that author's."""
    (tmp_path / "pesky_trap.py").write_text("raise SystemExit('it was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    problem = Problem.from_json(declare(known={"cost": "pesky_trap:total"}).to_json())
    with pytest.raises(ProblemError, match=r"'cost' is not here: it was 'pesky_trap:total' when it was stored"):
        problem.known["cost"]({"x": 0.0, "y": 0.0})
    assert problem.to_dict()["known"] == {"cost": "pesky_trap:total"}
    assert "pesky_trap" not in sys.modules


def test_functions_are_given_again():
    problem = Problem.from_json(declare(known={"cost": lambda p: 1.0}).to_json())
    again = problem.knowing({"cost": add})
    assert again == problem
    assert again.known["cost"] is add
    with pytest.raises(ProblemError, match=r"unknown known outcome 'cots'.*Did you mean 'cost'"):
        problem.knowing({"cots": add})


def test_without_known_outcomes_the_text_is_what_it_was():
    problem = Problem(SQUARE, minimize="cost")
    assert "known" not in problem.to_dict()
    assert Problem.from_dict(problem.to_dict()) == problem


def test_which_outcomes_are_known_makes_a_difference_and_how_does_not():
    problem = declare()
    assert problem == declare(known={"cost": "prices:total"})
    assert problem.difference(declare(known={"cost": math.fsum})) == []
    measured = declare(known=None)
    assert measured != problem
    assert "known outcome 'cost' is new" in measured.difference(problem)
    assert "known outcome 'cost' is gone" in problem.difference(measured)
    assert {problem: "found"}[declare(known={"cost": lambda p: 0.0})] == "found"
    assert copy.deepcopy(problem) == replace(problem) == problem
    assert replace(problem).known["cost"] is add


MISTAKES = [
    ({"known": {"cots": add}}, ["unknown outcome 'cots'", "Did you mean 'cost'?"]),
    ({"known": [add]}, ["known", "expected a mapping"]),
    ({"known": {"cost": 3}}, ["'cost' was 3", "a function", "'prices:total'"]),
    ({"known": {"cost": None}}, ["'cost' was None", "a function"]),
    ({"known": {"cost": "total"}}, ["'cost' was 'total'", "import path", "'prices:total'"]),
    ({"constraints": ["c is true"], "known": {"c": add}}, ["'c' is a yes or no", "'c >= 0'"]),
    ({"constraints": [], "known": {"cost": add}}, ["'cost' is all", "at least one outcome that is measured"]),
    ({"tasks": {"run": ["cost", "c", "size"]}}, ["the task 'run' measures 'cost', which is known", "leave it out"]),
    ({"tasks": {"run": ["c"]}}, ["no task measures the outcome 'size'"]),
    ({"noise": {"all succeeds": 0}}, ["unknown outcome 'all succeeds'", 'failures = "random"']),
    ({"noise": {"cost": 0}}, ["noise", "'cost' is known and has none", "leave it out"]),
    (
        {"constraints": ["c >= 0", Constraint("all succeeds", ">=", 0)], "known": {"all succeeds": add},
         "tasks": {"all": Task(["cost", "c"], failures="learn")}},
        ["'all succeeds'", "that task's own success"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MISTAKES, ids=[said[0] for _, said in MISTAKES])
def test_a_mistake_is_answered_in_words(changes, said):
    with pytest.raises(ProblemError) as error:
        declare(**changes)
    for part in said:
        assert part in str(error.value)
