"""Problems and values that anybody may have written: each is read or refused in words, in time linear in its length."""

import json
import time
from typing import Any

import pytest

from pesky import Choice, Constraint, Integer, Outcome, Problem, Real, Resource, Task
from pesky.errors import DataError, PeskyError, ProblemError
from pesky.problem.expression import parsed
from pesky.problem.reading import read_outcome, read_value
from pesky.problem.values import check_kinds, check_params
from pesky.problem.wording import how_to_write
from pesky.study.columns import is_like
from pesky.study.optuna_reading import names_of
from pesky.study_file.function import CallError, Function

PLAIN = Problem(
    {"x": Real(0, 1), "n": Integer(1, 9, step=2), "k": Choice(["a", "b"])},
    minimize="f",
    constraints=["g <= 2", "ok is true", "x + n <= 8"],
    tasks={"t": Task(["f", "g"], cost=2, failures="learn", timeout=5, parameters=["x"]), "u": Task(["ok"])},
    noise={"f": 0.1},
    resources={"r": Resource(["t", "u"], 2)},
    outcomes=[Outcome("f", low=0, high=3)],
).to_dict()
LONG = [
    "1" * 16_000 + "a",
    " " * 60_000 + "b",
    "a" + " " * 60_000 + "b",
    "a" + " " * 60_000,
    "(" * 60_000,
    "[" * 60_000,
    "-" * 60_000 + "x",
    "x**" * 20_000 + "x",
    "1e5" * 20_000,
    "1." * 30_000,
    "a <= " * 12_000,
    "a." * 30_000 + "!",
    "< " * 30_000,
    "9" * 60_000,
    "is " * 20_000,
]
VALUES: list[Any] = [None, True, -1, 10**400, -(10**400), 10**5000, 1e308, float("nan"), float("inf"), "", "x"]
VALUES += ["\x1b]0;owned\x07", "\ud800", "\u202eabc", "a\nb", b"x", [], [[]], ["x"], [None], [10**400], {}, {"x": 1}]
VALUES += [{"low": 1}, {"type": "real"}, {"type": ["real"]}, {"": None}, {"outcomes": [10**400]}, "x <= 1", *LONG]


def places(plain: Any, at: tuple[Any, ...] = ()):
    """Where anything is in plain data."""
    yield at
    for key in plain if isinstance(plain, dict) else range(len(plain)) if isinstance(plain, list) else ():
        yield from places(plain[key], (*at, key))


def changed(plain: Any, at: tuple[Any, ...], value: Any) -> Any:
    """The same with another value there."""
    if not at:
        return value
    inner = changed(plain[at[0]], at[1:], value)
    if isinstance(plain, dict):
        return {**plain, at[0]: inner}
    return [inner if i == at[0] else each for i, each in enumerate(plain)]


def tried(read: Any, *given: Any) -> Any:
    """What is read; None where it is refused in words, and not too many of them."""
    try:
        return read(*given)
    except PeskyError as error:
        if len(str(error)) > 2000:
            raise AssertionError("too long") from error
        return None


@pytest.mark.parametrize("at", [*places(PLAIN)], ids=str)
def test_a_stored_problem_with_anything_in_any_place_is_read_or_refused_in_words(at):
    began = time.process_time()
    for value in VALUES:
        problem = tried(Problem.from_dict, changed(PLAIN, at, value))
        assert problem is None or Problem.from_json(problem.to_json()).difference(problem) == []
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, '{"parameters": ' + "9" * 5000 + "}", "NaN", '"', ""]
)
def test_what_is_no_json_of_a_problem_is_refused_in_words(text):
    with pytest.raises(ProblemError):
        Problem.from_json(text)


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_texts_are_parsed_in_time_linear_in_their_length(text):
    began = time.process_time()
    for each in (text, f"{text} <= 1", f"1 <= {text}", f"{text} is true", f"x <= 1 {text}"):
        tried(Constraint.parse, each)
        tried(lambda text: Problem({"x": Real(0, 1)}, minimize="f", constraints=[text]), each)
        tried(parsed, each)
    tried(Function.parse, text, "")
    tried(read_value, "x", Real(0, 1), text)
    tried(lambda text: read_outcome("f", text, is_yes_no=False), text)
    is_like(text, "f (mm)")
    names_of([text])
    how_to_write(text[:1000])
    assert time.process_time() - began < 2


@pytest.mark.parametrize("huge", [10**400, 10**5000], ids=["400 digits", "5000 digits"])
def test_a_number_beyond_all_floats_is_refused_in_words(huge):
    space = {"x": Real(0, 1)}
    with pytest.raises(DataError, match="the parameter 'x' was"):
        check_kinds(space, {"x": huge})
    with pytest.raises(DataError, match="the parameter 'x' was"):
        check_params(space, {"x": huge})
    with pytest.raises(DataError, match="the parameter 'x' was"):
        read_value("x", space["x"], huge)
    for declare in (lambda: Real(0, huge), lambda: Choice([1, huge]), lambda: Integer(0, huge), lambda: Real(-huge, 0)):
        with pytest.raises(ProblemError, match=r"digits|\.\.\."):
            declare()
    with pytest.raises(ProblemError, match="low was"):
        Problem.from_json(json.dumps(PLAIN).replace('"low": 0.0', '"low": 1' + "0" * 400))


@pytest.mark.parametrize("text", ["1_0", "1_000.5", "1e1_0", "-_1"])
def test_an_underscore_is_part_of_no_number(text):
    for read in (
        lambda: read_value("x", Real(0, 100), text),
        lambda: read_value("n", Integer(0, 100), text),
        lambda: read_value("k", Choice([1, 10]), text),
        lambda: read_outcome("f", text, is_yes_no=False),
        lambda: Constraint.parse(f"f <= {text}"),
    ):
        with pytest.raises(PeskyError, match=r"expected|does not parse"):
            read()
    with pytest.raises(DataError, match="A number is written without '_': write 10"):
        read_value("x", Real(0, 100), "1_0")


@pytest.mark.parametrize("text", ["1.2.3kB", ".kB", "1..2 %"])
def test_what_only_looks_like_a_number_with_a_unit_is_refused_in_words(text):
    with pytest.raises(DataError, match="expected a number"):
        read_outcome("f", text, is_yes_no=False)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("toy.measure", "toy:measure"),
        ("./toy.py:measure", "toy:measure"),
        ("a/b.py:f", "a.b:f"),
        ("a.b.f", "a.b:f"),
        ("toy.py.f", "toy:f"),
    ],
)
def test_what_was_meant_by_a_function_is_said(text, meant):
    with pytest.raises(CallError, match=f"did you mean '{meant}'"):
        Function.parse(text, "")
