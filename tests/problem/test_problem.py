"""The problem: what it says about itself, the way to JSON and back, and the answer to every mistake."""

# pyright: reportArgumentType=false
# Wrong types are among the mistakes.

import copy
import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pesky import Choice, Constraint, Integer, PeskyError, Problem, ProblemError, Real, Resource, Task

X = {"x": Real(0, 1)}
LEARN = Task(["f", "c", "all succeeds"], failures="learn")


def network() -> Problem:
    return Problem(
        parameters={
            "learning_rate": Real(1e-5, 1e-1, log=True),
            "units": Integer(10, 500),
            "activation": Choice(["relu", "sigmoid"]),
        },
        minimize="error",
        constraints=["latency_ms <= 2", Constraint("latency_ms", ">=", 0.1, confidence=0.8), "size <= 7.5"],
        tasks={"train": Task(["error", "size"], cost=3600), "profile": ["latency_ms"]},
        noise={"latency_ms": 0.2, "size": 0},
    )


def test_rows_are_the_objective_then_each_constrained_outcome_once():
    problem = network()
    assert problem.objective == "error"
    assert problem.sign == 1
    assert problem.rows == ("error", "latency_ms", "size")
    assert problem.outcomes == ("error", "latency_ms", "size")
    assert problem.confidences == (0.95, 0.8, 0.95)
    assert [constraint.direction for constraint in problem.constraints] == [-1, 1, -1]


def test_maximize_turns_the_sign():
    problem = Problem(X, maximize="yield")
    assert (problem.objective, problem.sign) == ("yield", -1)


def test_without_tasks_everything_is_measured_together():
    problem = Problem(X, minimize="f", constraints=["c >= 0"])
    assert dict(problem.tasks) == {"all": Task(["f", "c"], cost=1)}


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (None, {"f": None, "c": None}),
        (0, {"f": 0.0, "c": 0.0}),
        (0.5, {"f": 0.5, "c": 0.5}),
        ({"c": 0.1}, {"f": None, "c": 0.1}),
        ({"f": None, "c": 0}, {"f": None, "c": 0.0}),
    ],
)
def test_noise_is_kept_for_each_outcome(noise, expected):
    assert dict(Problem(X, minimize="f", constraints=["c >= 0"], noise=noise).noise) == expected


def test_a_problem_is_frozen_hashable_and_survives_copies():
    problem = network()
    assert {problem: "found"}[network()] == "found"
    assert copy.deepcopy(problem) == pickle.loads(pickle.dumps(problem)) == copy.copy(problem) == problem
    with pytest.raises(FrozenInstanceError):
        problem.minimize = "size"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError):
        problem.parameters["units"] = Integer(1, 2)  # pyright: ignore[reportIndexIssue]


def test_what_is_given_can_change_afterwards():
    parameters, outcomes = dict(X), ["f"]
    problem = Problem(parameters, minimize="f", tasks={"measure": outcomes})
    parameters["y"] = Real(0, 1)
    outcomes.append("g")
    assert list(problem.parameters) == ["x"]
    assert problem.tasks["measure"].outcomes == ("f",)


def test_names_may_have_blanks_inside_and_any_letters():
    problem = Problem({"größe in µm": Real(0, 1)}, minimize="top-1 error", tasks={"訓練 🚀": ["top-1 error"]})
    assert Problem.from_json(problem.to_json()) == problem


def test_any_text_may_be_an_option():
    separators = Problem({"separator": Choice(["\t", ";", "\x01"])}, minimize="f")
    assert Problem.from_json(separators.to_json()) == separators


def test_plain_data_may_be_in_the_short_forms():
    given = {
        "parameters": {"x": {"type": "real", "low": 0, "high": 1}},
        "maximize": "f",
        "constraints": ["c <= 1", {"outcome": "c", "sense": ">=", "threshold": 0}],
        "tasks": {"both": ["f", "c"]},
        "noise": 0,
    }
    expected = Problem(X, maximize="f", constraints=["c <= 1", "c >= 0"], tasks={"both": ["f", "c"]}, noise=0)
    assert Problem.from_dict(given) == expected


NAMES = st.text(st.characters(exclude_characters="<>=", exclude_categories=["C", "Z"]), min_size=1)
OUTCOMES = NAMES.map("§{}".format)
"""No arithmetic, and no parameter."""
FINITE = st.floats(allow_nan=False, allow_infinity=False)
REALS = st.builds(
    lambda bounds, log: Real(*bounds, log=log),
    st.lists(st.floats(1e-9, 1e9), min_size=2, max_size=2, unique=True).map(sorted),
    st.booleans(),
)
INTEGERS = st.builds(
    lambda bounds, log: Integer(*bounds, log=log),
    st.lists(st.integers(1, 10**12), min_size=2, max_size=2, unique=True).map(sorted),
    st.booleans(),
)
CHOICES = st.lists(st.text() | st.integers() | FINITE | st.booleans(), min_size=2, unique=True).map(Choice)
CONSTRAINTS = st.builds(Constraint, OUTCOMES, st.sampled_from([">=", "<="]), FINITE, st.floats(0.01, 0.99))


@st.composite
def problems(draw) -> Problem:
    direction = draw(st.sampled_from(["minimize", "maximize"]))
    constraints = draw(st.lists(CONSTRAINTS, max_size=3, unique_by=lambda constraint: constraint.outcome))
    parameters = draw(st.dictionaries(NAMES.map("p{}".format), REALS | INTEGERS | CHOICES, min_size=1, max_size=4))
    noise = draw(st.none() | st.floats(0, 10))
    objective = {direction: draw(OUTCOMES)}
    coupled = Problem(parameters, constraints=constraints, noise=noise, **objective)
    cost = draw(st.floats(1e-3, 1e6))
    tasks = {f"measure {outcome}": Task([outcome], cost) for outcome in coupled.outcomes}
    separate = Problem(parameters, constraints=constraints, noise=noise, tasks=tasks, **objective)
    return draw(st.sampled_from([coupled, separate]))


@given(problems())
def test_json_and_back_changes_nothing(problem):
    text = problem.to_json()
    again = Problem.from_json(text)
    assert again == problem
    assert hash(again) == hash(problem)
    assert again.to_json() == text
    assert list(again.parameters) == list(problem.parameters)
    assert Problem.from_dict(problem.to_dict()) == problem


@given(CONSTRAINTS)
def test_a_constraint_reads_its_own_text(constraint):
    parsed = Constraint.parse(str(constraint))
    assert (parsed.outcome, parsed.sense, parsed.threshold) == (
        constraint.outcome,
        constraint.sense,
        constraint.threshold,
    )


@pytest.mark.parametrize("text", ["latency_ms <= 2", "yield >= 0.9", "top-1 error <= -1e-07"])
def test_a_constraint_gives_its_text_back(text):
    assert str(Constraint.parse(text)) == text


def test_a_constraint_may_be_written_without_blanks():
    assert Constraint.parse(" latency_ms<=2e0 ") == Constraint("latency_ms", "<=", 2)


def test_numpy_numbers_become_plain_ones():
    problem = Problem(
        {
            "x": Real(np.float64(0), np.int64(1)),
            "n": Integer(np.int64(1), np.int32(5)),
            "c": Choice(np.arange(3)),
        },
        minimize="f",
    )
    assert json.loads(problem.to_json())["parameters"]["c"] == {"type": "choice", "options": [0, 1, 2]}


def declare(**changes):
    """A problem of one parameter, `f` to minimize and `c >= 0`, with the given arguments changed."""
    return lambda: Problem(**{"parameters": X, "minimize": "f", "constraints": ["c >= 0"], **changes})


MISTAKES = [
    # bounds
    (lambda: Real(1, 0), ["a real number from 1 to 0", "low < high"]),
    (lambda: Real(1, 1), ["low < high", "leave out"]),
    (lambda: Real(float("nan"), 1), ["low", "nan", "finite number"]),
    (lambda: Real(0, float("inf")), ["high", "inf", "finite number"]),
    (lambda: Real(0, 10**400), ["high", "finite number"]),
    (lambda: Real(-1.7e308, 1.7e308), ["overflows", "narrow"]),
    (lambda: Real("0", 1), ["low", "'0'", "finite number"]),
    (lambda: Real(False, 1), ["low", "False", "finite number"]),
    (lambda: Real(0, 1, log=True), ["log scale", "low > 0"]),
    (lambda: Real(0, 1, log="yes"), ["log", "True or False"]),
    (lambda: Integer(5, 2), ["a whole number from 5 to 2", "low < high"]),
    (lambda: Integer(0.5, 2), ["low", "0.5", "whole number"]),
    (lambda: Integer(0, True), ["high", "True", "whole number"]),
    (lambda: Integer(0, 5, log=True), ["log scale", "low > 0"]),
    (lambda: Integer(0, 10**13), ["high", "10**12"]),
    # options
    (lambda: Choice([]), ["at least two options"]),
    (lambda: Choice(["relu"]), ["relu", "at least two options", "leave out"]),
    (lambda: Choice(["a", "b", "a"]), ["all differ"]),
    (lambda: Choice([1, True]), ["all differ", "1 == 1.0 == True"]),
    (lambda: Choice("relu"), ["'relu'", "expected a list"]),
    (lambda: Choice(3), ["3", "expected a list"]),
    (lambda: Choice("a", "b"), ["'a', 'b'", "expected one list", "write Choice(['a', 'b'])"]),  # pyright: ignore
    (lambda: Real(0, 10**400), ["high was 1000", "00...00", "expected a finite"]),
    (lambda: Integer(0, 10**400), ["high was 1000", "00...00", "expected at most"]),
    (lambda: Choice(["a", None]), ["None", "expected a text"]),
    (lambda: Choice([1.0, float("nan")]), ["nan", "finite"]),
    (lambda: Choice(["a", "\ud800"]), [r"'\ud800'", "written as UTF-8"]),
    # constraints
    (
        lambda: Constraint.parse("latency_ms < 2"),
        ["latency_ms < 2", "does not parse", "Write 'latency_ms <= 2'"],
    ),
    (lambda: Constraint.parse("latency_ms"), ["does not parse", "'latency_ms is true'"]),
    (lambda: Constraint.parse("c is yes"), ["does not parse", "Write 'c is true'."]),
    (lambda: Constraint.parse(" it is on is  No "), ["does not parse", "Write 'it is on is false'."]),
    (lambda: Constraint.parse("c is 1"), ["does not parse", "Write 'c is true'."]),
    (lambda: Constraint.parse("c = yes"), ["does not parse", "Write 'c is true'."]),
    (lambda: Constraint.parse("latency_ms <= fast"), ["does not parse", "'fast' is no number"]),
    (lambda: Constraint.parse("0 <= x <= 1"), ["does not parse", "'x >= 0' and 'x <= 1'"]),
    (lambda: Constraint.parse("2 > c"), ["does not parse", "Write 'c <= 2'"]),
    (lambda: Constraint.parse("c == 2"), ["does not parse", "never equals"]),
    (lambda: Constraint.parse("<= 2"), ["does not parse", "like 'latency_ms <= 2'"]),
    (lambda: Constraint.parse("c <= nan"), ["threshold", "nan", "finite number"]),
    (lambda: Constraint("c", "<", 2), ["'c'", "'<'", "'>=', '<=' or 'is'"]),
    (lambda: Constraint("c", "<=", float("inf")), ["'c'", "threshold", "inf"]),
    (lambda: Constraint("c", "<=", 2, confidence=1), ["c <= 2", "confidence", "between 0 and 1"]),
    (lambda: Constraint("c", "<=", 2, confidence=95), ["95", "between 0 and 1"]),
    (lambda: Constraint("", "<=", 2), ["outcome", "''", "expected a name"]),
    (declare(constraints=["c >= 0", "c >= 0.0"]), ["'c >= 0'", "twice"]),
    (declare(constraints=["c >= 2", "c <= 1"]), ["c >= 2", "c <= 1", "contradict"]),
    (declare(constraints="c >= 0"), ["constraints", "'c >= 0'", "expected a list"]),
    (declare(constraints=[3]), ["constraint", "3", "expected"]),
    # tasks
    (lambda: Task([]), ["outcomes", "at least one"]),
    (lambda: Task(["f", "f"]), ["none twice"]),
    (lambda: Task("f"), ["'f'", "expected a list"]),
    (lambda: Task(["f"], cost=0), ["cost was 0", "above 0"]),
    (lambda: Task(["f"], cost=float("nan")), ["cost", "nan", "finite number"]),
    (declare(tasks={"train": ["f", "cc"]}), ["'train'", "unknown outcome 'cc'", "'f', 'c'"]),
    (declare(tasks={"train": ["f"]}), ["no task measures", "'c'", "'train'"]),
    (declare(tasks={}), ["no task measures", "'f'"]),
    (declare(tasks=["f", "c"]), ["tasks", "expected a mapping"]),
    (declare(tasks={"all": "f"}), ["'all'", "'f'", "expected a list"]),
    (lambda: Task(["f"], cost="dear"), ["cost was 'dear'", 'or "measured"']),
    (lambda: Task(["f"], failures="ignore"), ["failures was 'ignore'", '"record", "learn" or "random"']),
    (lambda: Task(["f"], timeout=0), ["timeout was 0", "above 0 of seconds"]),
    (
        declare(constraints=["c >= 0", "all succeeds >= 0"], tasks={"all": LEARN}),
        ["'all succeeds'", "that task's own success", "rename"],
    ),
    # resources
    (lambda: Resource([]), ["tasks", "at least one"]),
    (lambda: Resource(["all"], slots=0), ["slots was 0", "at least 1"]),
    (lambda: Resource(["all"], slots=1.5), ["slots was 1.5", "a whole number"]),
    (declare(resources={"gpu": ["al"]}), ["'gpu'", "unknown task 'al'", "Did you mean 'all'?"]),
    (
        declare(tasks={"a": ["f"], "b": ["c"]}, resources={"gpu": ["a"]}),
        ["no resource runs the task 'b'", "'gpu'"],
    ),
    (declare(resources={"gpu": {"tasks": ["all"], "slot": 1}}), ["'gpu'", "Did you mean 'slots'?"]),
    # yes or no
    (lambda: Constraint("c", "is", 1), ["'c'", "1", "True or False"]),
    (declare(constraints=["f is true"]), ["f is true", "objective cannot be a yes or no"]),
    (declare(constraints=["c is true", "c >= 0"]), ["'c is true'", "c >= 0", "one constraint"]),
    (declare(constraints=["c is true"], noise={"c": 0.1}), ["noise", "'c'", "a yes or no", "0.1", "expected 0"]),
    # noise
    (declare(noise=-1), ["noise", "-1", "0 or above"]),
    (declare(noise=float("nan")), ["noise", "nan", "finite number"]),
    (declare(noise="loud"), ["noise", "'loud'", "finite number"]),
    (declare(noise={"d": 1}), ["noise", "unknown outcome 'd'", "'f', 'c'"]),
    # the problem as a whole
    (declare(parameters={}), ["parameters", "at least one"]),
    (declare(parameters=[Real(0, 1)]), ["parameters", "expected a mapping"]),
    (declare(parameters={"x": (0, 1)}), ["'x'", "(0, 1)", "Real(low, high)"]),
    (declare(parameters={3: Real(0, 1)}), ["parameters", "3", "expected a name"]),
    (declare(minimize=None), ["minimize", "maximize", "expected the objective's name"]),
    (declare(maximize="g"), ["minimize was 'f'", "maximize was 'g'", "one of them"]),
    (declare(minimize=3), ["objective", "3", "expected a name"]),
    # names that a terminal would not show but obey, from a storage as well
    (
        declare(parameters={"x\x1b[2J": Real(0, 1)}),
        ["a key of", r"'x\x1b[2J'", "can be printed", r"leave out the '\x1b'"],
    ),
    (declare(minimize="f\x07"), ["objective", r"'f\x07'", "can be printed"]),
    (declare(tasks={"a\tb": ["f", "c"]}), [r"'a\tb'", "can be printed"]),
    (declare(constraints=["c\u202e >= 0"]), [r"'c\u202e'", "can be printed"]),
    (lambda: Task(["f\x9b2J"]), [r"'f\x9b2J'", "can be printed"]),
    (
        lambda: Problem.from_dict({"parameters": X, "minimize": "f", "tasks": {"\ud800": ["f"]}}),
        [r"'\ud800'", "printed"],
    ),
    # plain data
    (lambda: Problem.from_json("{"), ["not JSON", "to_json"]),
    (lambda: Problem.from_json("[]"), ["expected a mapping"]),
    (lambda: Problem.from_dict({"minimize": "f"}), ["'parameters'", "missing"]),
    (lambda: Problem.from_dict({"parmeters": {}}), ["unknown key 'parmeters'", "Did you mean 'parameters'?"]),
    (declare(parameters={"x": {"type": "reel"}}), ["'x'", "'reel'", "Did you mean 'real'?"]),
    (declare(parameters={"x": {"low": 0}}), ["'x'", "unknown type None", "'integer'"]),
    (declare(parameters={"x": {"type": "real", "low": 0}}), ["'x'", "'high'", "missing"]),
    (declare(parameters={"x": {"type": "real", "low": 0, "hi": 1}}), ["'x'", "unknown key 'hi'"]),
]


@pytest.mark.parametrize(
    ("text", "wanted"), [("converged is true", True), ("  melt down IS False ", False), ("is it is true", True)]
)
def test_a_yes_or_no_is_written_as_text(text, wanted):
    constraint = Constraint.parse(text)
    assert constraint.is_yes_no
    assert constraint.threshold is wanted
    assert constraint.direction == (1 if wanted else -1)
    assert Constraint.parse(str(constraint)) == constraint


def test_success_is_a_condition_where_failures_are_learnt():
    problem = Problem(
        {"x": Real(0, 1)},
        minimize="f",
        constraints=["c >= 0", "ok is true"],
        tasks={"a": Task(["f", "ok"], failures="learn"), "b": ["c"]},
    )
    assert problem.rows == ("f", "c", "ok", "a succeeds")
    assert problem.outcomes == ("f", "c", "ok")
    assert problem.yes_no == {"ok"}
    assert problem.informs("a") == ("f", "ok", "a succeeds")
    assert problem.informs("b") == ("c",)
    assert problem.confidences == (0.95, 0.95, 0.95)


def test_everything_about_tasks_and_resources_survives_json():
    problem = Problem(
        {"x": Real(0, 1)},
        minimize="f",
        constraints=["c >= 0", "ok is false"],
        tasks={"a": Task(["f"], "measured", "learn", 5), "b": Task(["c", "ok"], cost=2)},
        resources={"gpu": Resource(["a"], slots=3), "cpu": ["a", "b"]},
    )
    assert Problem.from_json(problem.to_json()) == problem
    assert problem.difference(Problem.from_json(problem.to_json())) == []


def test_problems_that_measure_the_same_in_another_way_do_not_differ():
    def made(**given):
        return Problem({"x": Real(0, 1)}, minimize="f", tasks={"a": Task(["f"], **given)}, resources={"r": ["a"]})

    assert made().difference(made(cost=5, timeout=3)) == []
    assert made().difference(made(failures="learn")) == ["task a: f (failures: record) became f (failures: learn)"]


def test_differences_are_said_in_words():
    before = Problem({"x": Real(0, 1), "k": Choice(["a", 1])}, minimize="f", constraints=["ok is true", "c <= 1"])
    after = Problem(
        {"x": Real(0, 2, log=False), "k": Choice(["a", "1"]), "n": Integer(0, 3)},
        maximize="f",
        constraints=["ok >= 1", Constraint("c", "<=", 1, confidence=0.9)],
        noise={"f": 0.1},
    )
    assert before.difference(after) == [
        "parameter x: from 0 to 1 became from 0 to 2",
        "parameter k: one of a, 1 became one of a, 1",
        "parameter 'n' is new: whole numbers from 0 to 3",
        "objective: minimize f became maximize f",
        "constraint 'ok is true' is gone",
        "constraint c <= 1: confidence 0.95 became confidence 0.9",
        "constraint 'ok >= 1' is new: confidence 0.95",
        "declared noise of 'f' is new: 0.1",
    ]
    assert "declared noise of 'f' is gone" in after.difference(before)


@pytest.mark.parametrize(("mistake", "said"), MISTAKES, ids=[" ".join(said)[:40] for _, said in MISTAKES])
def test_a_mistake_is_answered_in_words(mistake, said):
    with pytest.raises(ProblemError) as raised:
        mistake()
    message = str(raised.value)
    assert all(part in message for part in said), message
    assert isinstance(raised.value, PeskyError | ValueError)
