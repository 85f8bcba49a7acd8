"""Values in words."""

import pytest

from pesky.cli.words import duration, first_line, is_feasible
from pesky.problem import Problem, Real, Task
from pesky.store import Evaluation, State


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.0 s"), (0.04, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min 00 s"),
        (3599, "59 min 59 s"), (3600, "1 h 00 min"), (86400, "24 h 00 min"), (200000, "2 d 7 h"),
    ],
)  # fmt: skip
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_of_an_error_the_first_line_is_shown():
    assert first_line("\nValueError: a\n  b") == "ValueError: a"
    assert first_line(None) == ""


TWO = Problem(
    {"x": Real(0, 1)},
    minimize="f",
    constraints=["c <= 1", "ok is false"],
    tasks={"a": Task(["f", "c"], failures="learn"), "b": Task(["ok"]), "all": Task(["f", "c", "ok"])},
)


@pytest.mark.parametrize(
    ("task", "state", "outcomes", "expected"),
    [
        ("all", State.DONE, {"f": 0, "c": 1, "ok": 0}, True),
        ("all", State.DONE, {"f": 0, "c": 1.1, "ok": 0}, False),
        ("all", State.DONE, {"f": 0, "c": 1, "ok": 1}, False),
        ("a", State.DONE, {"f": 0, "c": 1}, None),
        ("a", State.DONE, {"f": 0, "c": 2}, False),
        ("a", State.FAILED, {}, False),
        ("b", State.FAILED, {}, None),
        ("b", State.PENDING, {}, None),
    ],
)
def test_feasible_is_what_was_measured_to_be_so(task, state, outcomes, expected):
    assert is_feasible(Evaluation(0, task, {"x": 0.5}, state=state, outcomes=outcomes), TWO) is expected
