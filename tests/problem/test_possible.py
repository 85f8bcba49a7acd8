"""Constraints on parameters that hold nowhere or everywhere: said where it is certain, and never where it is not."""

import random
from dataclasses import replace

import pytest

from pesky import Choice, Constraint, Integer, Outcome, Problem, ProblemError, Real
from pesky.problem.expression import parsed
from pesky.problem.possible import hold_nowhere, holds_everywhere, holds_within, range_of

SPACE = {"x": Real(0, 1), "y": Integer(0, 10), "z": Real(-2, 3), "n": Integer(1, 7, step=3), "k": Choice(["a", "b"])}
TEXTS = ["x + y", "x - z*y", "-z**2", "z**3 / (1 + x)", "2**-n", "x**0.5", "z**0.5", "1 / z", "(z - x)**2 * n", "z**-2",
         "x**y", "z**y", "1e300**y * z", "y / n - z / (x + 0.1)", "(x + 1)**(z - x)"]  # fmt: skip


def problem(*constraints: str) -> Problem:
    return Problem(SPACE, minimize="f", constraints=constraints)


@pytest.mark.parametrize("text", TEXTS)
def test_no_value_leaves_its_range(text):
    expression, draw = parsed(text), random.Random(0)
    assert expression is not None
    for _ in range(50):
        box, point = {}, {}
        for name in ("x", "y", "z", "n"):
            low, high = sorted(draw.uniform(SPACE[name].low, SPACE[name].high) for _ in range(2))
            box[name], point[name] = (low, high), draw.uniform(low, high)
        low, high = range_of(expression, box)
        value = float(expression(point))
        slack = 1e-12 * abs(value) if abs(value) < 1e300 else 0.0
        assert value != value or low - slack <= value <= high + slack


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        (["x + y >= 40"], r"no point of the space satisfies 'x \+ y >= 40': x \+ y is from 0 to 11\. Widen"),
        (["x <= 2", "x >= 2"], "satisfies 'x >= 2': x is from 0 to 1"),
        (
            ["x + z <= -1", "x - z <= 0.5", "x <= 1"],
            r"'x \+ z <= -1' and 'x - z <= 0.5' and 'x <= 1'\. Widen",
        ),
        (["y >= 3.2", "y <= 3.8"], "'y >= 3.2' and 'y <= 3.8'"),  # between two whole numbers
        (["n >= 5", "n <= 6"], "'n >= 5' and 'n <= 6'"),  # and between two steps
        (["x**2 <= -0.1"], r"'x\*\*2 <= -0.1'"),
    ],
)
def test_what_holds_nowhere_is_refused(constraints, said):
    with pytest.raises(ProblemError, match=said):
        problem(*constraints)


@pytest.mark.parametrize(
    "constraints",
    [
        ["x <= 0"],
        ["x + y >= 11"],
        ["x - z >= 0.3", "x - z <= 0.3"],
        ["y >= 3", "y <= 3"],
        ["n >= 7"],
        ["(x - z)**2 + (x - 0.5)**2 <= 1e-9"],
        ["(z + 5)**0.5 >= 1.7"],
        ["1/z >= 1e9"],
    ],
)
def test_what_may_hold_is_taken(constraints):
    assert problem(*constraints).parameter_constraints


def test_what_was_stored_is_read_all_the_same():
    stored = problem("x <= 2").to_dict()
    stored["constraints"] = [{"outcome": "x", "sense": ">=", "threshold": 2.0}]
    assert Problem.from_dict(stored).parameter_constraints == (Constraint("x", ">=", 2.0),)


def test_what_holds_everywhere_is_known():
    for text, holds in (("x <= 1", True), ("x**2 + y >= 0", True), ("x <= 0.99", False), ("z**2 - z >= -1", False)):
        (constraint,) = problem(text).constraints
        expression = parsed(constraint.outcome)
        assert expression is not None
        assert holds_everywhere(constraint, expression, SPACE) is holds
        assert not hold_nowhere({constraint: expression}, SPACE)


FRACTION, DURATION = Outcome("c", 0, 1), Outcome("c", low=0)


def limited(constraint: str, *outcomes: Outcome) -> Problem:
    return Problem(SPACE, minimize="f", constraints=[constraint], outcomes=outcomes)


@pytest.mark.parametrize(
    ("constraint", "declared", "said"),
    [
        ("c >= 2", FRACTION, "no value satisfies 'c >= 2': c is from 0 to 1, as the problem declares. Write both"),
        ("c <= -0.1", FRACTION, "'c <= -0.1': c is from 0 to 1"),
        ("c <= -1", DURATION, "'c <= -1': c is from 0, as"),
        ("c >= 1", Outcome("c", high=0), "'c >= 1': c is to 0, as"),
        ("f >= 2", Outcome("f", 0, 1), "'f >= 2': f is from 0 to 1"),
    ],
)
def test_a_limit_beyond_the_declared_range_is_refused(constraint, declared, said):
    with pytest.raises(ProblemError, match=said):
        limited(constraint, declared)
    stored = limited(constraint).to_dict() | {"outcomes": {declared.name: declared.to_plain()}}
    assert Problem.from_dict(stored).ranges == {declared.name: declared}


@pytest.mark.parametrize(
    ("constraint", "declared", "holds"),
    [
        ("c >= 1", FRACTION, False),
        ("c <= 0", FRACTION, False),
        ("c <= 1", FRACTION, True),
        ("c <= 2", FRACTION, True),
        ("c >= 0", DURATION, True),
        ("c <= 1e300", DURATION, False),
        ("c >= -1", Outcome("c", high=0), False),
    ],
)
def test_a_limit_within_the_declared_range_is_taken(constraint, declared, holds):
    problem = limited(constraint, declared)
    assert holds_within(problem.constraints[0], problem.ranges) is holds
    assert replace(problem, constraints=["c >= 9"]).ranges == problem.ranges  # as `what_if` does
