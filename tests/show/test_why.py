"""Why a question was asked: gains as a decision computes them, from what was known then."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from show.studies import found, made

from pesky.errors import DataError
from pesky.show import why
from pesky.show.why import _said, question, questions, reasons_of
from pesky.store import State
from pesky.strategy.explain import known_before


def test_the_last_question_is_the_last_that_was_worth_something():
    asked = question(found("plain"))
    assert asked is not None
    assert asked.id == max(made("plain").evaluations)
    assert question(found("one")) is None


def test_what_ended_later_was_still_awaited():
    findings = found("plain")
    second = sorted(findings.evaluations.values(), key=lambda e: e.id)[1]
    (before,) = known_before(findings.evaluations.values(), second).values()
    assert before.outcomes  # it was told before the second one was asked
    last = question(findings)
    assert last is not None
    earlier = made("plain").evaluations[last.id - 1]
    as_if = type(earlier)(**{**vars(last), "asked": math.nextafter(earlier.ended or 0, 0)})
    awaited = known_before(findings.evaluations.values(), as_if)[earlier.id]
    assert awaited.state is State.PENDING
    assert not awaited.outcomes


def test_gains_are_about_those_that_were_kept_and_the_star_is_at_the_question():
    findings = found("plain")
    asked = question(findings)
    assert asked is not None
    reasons = reasons_of(findings, asked)
    kept: Any = (asked.why or {})["values"]
    figure: Any = why(findings)
    stars = [trace for trace in figure.data if trace.name == "asked"]
    for gains, star in zip(reasons.gains, stars, strict=True):
        here = np.abs(gains.along - float(asked.params[gains.parameter])).argmin()
        # hyperparameters are given: what is computed anew is what was computed then
        assert gains.per_cost["all"][here] == pytest.approx(kept["all"], rel=1e-3)
        assert star.x[0] == pytest.approx(float(asked.params[gains.parameter]))
        assert star.y[0] == pytest.approx(gains.per_cost["all"][here])


def test_lines_of_tasks_and_parameters_differ_and_all_parameters_are_named():
    findings = found("plain")
    figure: Any = why(findings)
    looks = {trace.name: (trace.line.color, trace.line.dash) for trace in figure.data if "lines" in trace.mode}
    assert {"all", "x of x*", "y of x*"} <= looks.keys()
    assert len({*looks.values()}) == len(looks)
    asked = question(findings)
    assert asked is not None
    many = replace(asked, params={f"p{i}": 0.5 for i in range(8)})
    assert "p5 = 0.5 and 2 more" in _said(findings, replace(reasons_of(findings, asked), asked=many))


def test_information_is_never_below_nothing():
    findings = found("plain")
    asked = question(findings)
    assert asked is not None
    assert all((each.per_cost["all"] >= 0).all() for each in reasons_of(findings, asked).gains)


def test_what_is_not_known_is_as_it_was_kept():
    findings = found("plain")
    asked = question(findings)
    assert asked is not None
    left = reasons_of(findings, asked).left
    assert {each.evaluation: dict(each.each) for each in left} == {
        e.id: e.why["left"] for e in findings.evaluations.values() if e.why and "left" in e.why
    }


def test_any_question_can_be_explained_along_any_parameter():
    findings = found("plain")
    first = min(questions(findings))
    figure: Any = why(findings, ["y"], evaluation=first)
    assert f"#{first}: all at" in figure.layout.title.text
    (star,) = [trace for trace in figure.data if trace.name == "asked"]
    assert star.x[0] == pytest.approx(float(findings.evaluations[first].params["y"]))
    with pytest.raises(DataError, match=f"evaluation 0 was not chosen .* like {first}"):
        why(findings, evaluation=0)
    with pytest.raises(DataError, match="no question was yet"):
        why(found("one"), evaluation=0)
    with pytest.raises(DataError, match="why: unknown parameter 'z'"):
        why(findings, ["z"])
