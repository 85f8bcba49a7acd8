"""`min_probability` holds for every question, and the initial design gives way to data of one's own."""

import math

import pytest
from study.quick import quick

from pesky import Choice, DataError, Problem, ProblemError, Real, Study
from pesky.answer.prediction import predict
from pesky.run.budget import Exhausted
from pesky.strategy.explain import known_before

UNIT = {"x": Real(0, 1), "y": Real(0, 1)}
PROBLEM = Problem(UNIT, minimize="f", constraints=["c >= 0"], noise=0.0)


def cliff(params) -> dict[str, float]:
    """The better the closer to the cliff, beyond which c falls steeply."""
    x, y = params["x"], params["y"]
    return {"f": -x - 0.5 * y, "c": 0.7 - x - 0.3 * y}


def probability_before(s: Study, id_: int) -> float:
    """That all constraints held there, as far as was known when it was asked."""
    e = s.evaluations[id_]
    found = predict(s.inferred(known_before(s.evaluations.values(), e)), s.space.encode(e.params))
    return math.prod(found.probabilities.values())


@pytest.mark.parametrize("initial", [0, 3])
def test_every_question_is_as_safe_as_was_asked_the_first_ones_too(initial: int):
    """With one safe row, the initial design asked a point far beyond the limit."""
    s = Study(PROBLEM, min_probability=0.99, initial=initial)
    s.add({"x": 0.1, "y": 0.1}, cliff({"x": 0.1, "y": 0.1}))
    for _ in range(6):
        e = s.ask()
        assert probability_before(s, e.id) >= 0.99 - 1e-3
        told = cliff(e.params)
        s.tell(e, told)
        assert told["c"] > -0.05
    assert max(float(e.params["x"]) for e in s.evaluations.values()) > 0.2  # it moves towards the edge, by steps


def test_an_option_that_was_never_tried_is_as_safe_too():
    s = quick(
        Problem({**UNIT, "kind": Choice(["a", "b"])}, minimize="f", constraints=["c >= 0"], noise=0.0),
        min_probability=0.9,
        initial=0,
    )
    for i in range(8):
        params = {"x": i / 10, "y": 0.1, "kind": "a"}
        s.add(params, cliff(params))
    e = s.ask()
    assert probability_before(s, e.id) >= 0.9 - 1e-3


def test_without_data_it_cannot_hold_and_says_so():
    s = Study(PROBLEM, min_probability=0.99)
    with pytest.raises(DataError, match=r"min_probability was 0.99, and no value of 'c' is known.*study.add"):
        s.ask()
    s.add({"x": 0.1, "y": 0.1}, {"f": 1.0})
    with pytest.raises(DataError, match="no value of 'c' is known"):
        s.ask()
    assert len(s.evaluations) == 1


def test_where_no_point_is_as_safe_nothing_is_asked():
    s = Study(PROBLEM, min_probability=0.99)
    for x in (0.1, 0.5, 0.9):
        s.add({"x": x, "y": 0.5}, {"f": x, "c": -1.0 - x})
    with pytest.raises(Exhausted, match=r"probability 0.99 that min_probability asks for: lower it"):
        s.ask()


def test_no_initial_points_need_data_of_ones_own():
    s = quick(initial=0)
    with pytest.raises(DataError, match=r"initial was 0, and nothing is measured: add data"):
        s.ask()
    s.add({"x": 0.5, "y": 0.5}, {"f": 1.0, "c": 1.0})
    assert s.ask().kind != "initial"
    assert Study(PROBLEM, rule="random", initial=0).ask().kind != "initial"
    with pytest.raises(ProblemError, match="initial was -1"):
        quick(initial=-1)


def test_data_of_some_outcomes_are_enough_to_begin_with():
    s = quick(initial=0)
    s.add({"x": 0.5, "y": 0.5}, {"c": 1.0})
    s.tell(s.ask(), {"f": 1.0, "c": 1.0})
    assert s.recommend().expected == pytest.approx(1.0, abs=0.5)


def test_an_answer_that_is_not_as_safe_is_not_asked_and_that_is_said(caplog: pytest.LogCaptureFixture):
    s = quick(PROBLEM, min_probability=0.99, initial=0)
    for x in (0.1, 0.4, 0.6):
        s.add({"x": x, "y": 0.1}, cliff({"x": x, "y": 0.1}))
    e = s.ask(confirm=True)
    assert probability_before(s, e.id) >= 0.99 - 1e-3
    assert e.kind != "confirming"
    assert "and min_probability is 0.99: another one is asked" in caplog.text
