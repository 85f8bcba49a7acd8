"""Constraints on parameters: what is one, what it says, the way to JSON and back, and the answer to every mistake."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from pesky import Choice, Constraint, Integer, Problem, ProblemError, Real, Task
from pesky.problem.expression import DEEPEST, parsed

SPACE = {
    "x": Real(0, 1), "z": Real(0, 2), "n": Integer(1, 5), "kind": Choice(["a", "b"]), "learning rate": Real(0, 1),
}  # fmt: skip
AT = {"x": 0.3, "z": 1.7, "n": 4}


def declare(*constraints, **given):
    return Problem(SPACE, minimize="f", constraints=constraints, **given)


@pytest.mark.parametrize(
    "text",
    ["x", "x + z", "2*x - z/3", "x - z - n", "z / n / 2", "-x**2", "(-x)**2", "2**-n", "2**n**0.5", "-(x - 1) * -z",
     "((x))", "+x", "1.5e-1*x + .5 - 1_000", "x*(z + n*(x - 2)) / (1 + z**2)", "x+z-n*2"],
)  # fmt: skip
def test_arithmetic_is_that_of_python(text):
    expression = parsed(text)
    assert expression is not None
    assert expression(AT) == pytest.approx(eval(text, {}, AT), rel=1e-14)
    arrays = {name: np.array([value, value, 1.0]) for name, value in AT.items()}
    assert expression(arrays)[:2] == pytest.approx([eval(text, {}, AT)] * 2, rel=1e-14)
    assert pickle.loads(pickle.dumps(expression)) == expression


@pytest.mark.parametrize("text", ["x +", "x z", "(x", "x)", "", "x ** ", "sqrt(x)", "x[0]", "x; z", "x.y(1)", "1e5x"])
def test_what_is_no_arithmetic(text):
    assert parsed(text) is None


def test_arithmetic_without_a_value_is_none_and_raises_nothing():
    for text in ("1/(x - x)", "(x - 1)**0.5", "1e300**x**-9", "10**10**10"):
        assert not np.isfinite(parsed(text)({"x": 0.3}))  # pyright: ignore[reportOptionalCall]


@pytest.mark.parametrize(
    ("text", "outcome", "sense", "threshold"),
    [
        ("x + z <= 1", "x + z", "<=", 1.0),
        ("x <= 0.5", "x", "<=", 0.5),
        ("2*x - z/3 >= 1", "2*x - z/3", ">=", 1.0),
        ("1 <= x + z", "x + z", ">=", 1.0),
        ("x <= 2 * z", "x - 2 * z", "<=", 0.0),
        ("x >= z - n", "x - (z - n)", ">=", 0.0),
        ("x <= 1/2", "x", "<=", 0.5),
        ("learning rate * n <= 1", "learning rate * n", "<=", 1.0),
    ],
)
def test_a_constraint_on_parameters_is_known(text, outcome, sense, threshold):
    problem = declare(text)
    assert problem.constraints == problem.parameter_constraints == (Constraint(outcome, sense, threshold),)
    assert problem.outcomes == ("f",)
    assert dict(problem.tasks) == {"all": Task(["f"])}
    again = Problem.from_json(problem.to_json())
    assert again == problem
    assert "known" not in problem.to_dict()
    assert again.known == problem.known == replace(problem).known
    assert declare(Constraint(outcome, sense, threshold)).known == problem.known


def test_it_goes_with_outcomes_functions_and_tasks():
    problem = declare(
        "c >= 0", "x + z <= 1", "cost <= 3", known={"cost": lambda p: p["n"]}, tasks={"all": ["f", "c"]}, noise=0.0
    )
    assert problem.rows == ("f", "c", "x + z", "cost")
    assert problem.outcomes == ("f", "c")
    assert [each.outcome for each in problem.parameter_constraints] == ["x + z"]
    assert problem.to_dict()["known"] == {"cost": None}
    known = Problem.from_json(problem.to_json()).knowing({"cost": lambda p: 2.0 * p["n"]}).known
    assert known["cost"]({"n": 2}) == 4
    assert known["x + z"]({"x": 1, "z": 2}) == 3


@pytest.mark.parametrize("name", ["f1-score", "train/loss", "latency (ms)", "top-5", "x-offset", "c++", "a minus b"])
def test_names_that_are_no_arithmetic_are_names(name):
    assert declare(f"{name} <= 1").outcomes == ("f", name)


def test_what_a_task_or_a_function_is_said_to_give_is_an_outcome():
    assert declare("x + z <= 1", tasks={"all": ["f", "x + z"]}).outcomes == ("f", "x + z")
    assert declare("lat + mem <= 1", tasks={"all": Task(["f", "lat + mem"])}).outcomes == ("f", "lat + mem")
    problem = declare("x + z <= 1", known={"x + z": lambda p: 7.0})
    assert problem.known["x + z"]({}) == 7
    assert problem.parameter_constraints == ()


def test_a_problem_that_was_stored_when_these_were_outcomes_is_read_as_it_was():
    plain = declare("c >= 0").to_dict()
    stored = {
        **plain,
        "constraints": [{"outcome": name, "sense": "<=", "threshold": 1.0} for name in ("x", "x + z")],
        "tasks": {"all": {"outcomes": ["f", "x", "x + z"]}},
        "noise": {},
    }
    problem = Problem.from_dict(stored)
    assert problem.outcomes == ("f", "x", "x + z")
    assert Problem.from_json(problem.to_json()) == problem


MISTAKES = [
    (["x + q <= 1"], {}, ["'x + q <= 1'", "'q' is no parameter", "known="]),
    (["lat + mem <= 1"], {}, ["'lat', 'mem' are no parameters", "known="]),
    (["sqrt(x) <= 1"], {}, ["neither on an outcome nor on arithmetic", "known="]),
    (["x^2 <= 1"], {}, ["**", "known="]),
    (["kind + x <= 1"], {}, ["'kind' is a choice", "known="]),
    (["kind <= 1"], {}, ["'kind' is a choice"]),
    (["x is true"], {}, ["'x' is a parameter", "known="]),
    (["x <= 1/0"], {}, ["threshold was inf"]),
    ([], {"minimize": "x"}, ["'x' is a parameter and cannot be an outcome", "known="]),
    (["x <= 1"], {"tasks": {"all": ["f", "x"]}}, ["'x' is a parameter and cannot be an outcome"]),
    (["x >= 0.7", "x <= 0.2"], {}, ["contradict each other"]),
    (["(" * (DEEPEST + 1) + "x" + ")" * (DEEPEST + 1) + " <= 1"], {}, [f"more than {DEEPEST} levels", "known="]),
    (["-" * (DEEPEST + 1) + "x <= 1"], {}, [f"more than {DEEPEST} levels"]),
    (["+".join(["x"] * 600) + " <= 1"], {}, ["longer than 1000 characters", "known="]),
    ([], {"constraints": ["x <= 1"], "known": {"f": lambda p: 1.0}}, ["at least one outcome that is measured"]),
]


@pytest.mark.parametrize(("constraints", "given", "said"), MISTAKES, ids=[said[0] for _, _, said in MISTAKES])
def test_a_mistake_is_answered_in_words(constraints, given, said):
    with pytest.raises(ProblemError) as error:
        Problem(**{"parameters": SPACE, "minimize": "f", "constraints": constraints, **given})
    for part in said:
        assert part in str(error.value)
