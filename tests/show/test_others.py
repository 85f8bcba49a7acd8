"""The numbers of limits, parallel coordinates and calibration."""

from typing import Any

import numpy as np
import pytest
import torch
from show.studies import found, made, started

from pesky import Choice, Integer, Problem, Real
from pesky.answer.prediction import predict
from pesky.answer.what_if import Price
from pesky.show import Findings, calibration, limits, parallel
from pesky.show.calibration import coverage
from pesky.show.forecasts import Forecast, forecasts_of
from pesky.show.parallel import groups, height_of, marks
from pesky.study import Tradeoff


def test_limits_are_the_studys_tradeoffs():
    prices = [
        Price(-1.0, 0.1, 0.01, (0.05, 0.11), True),
        Price(0.0, 0.2, 0.01, (0.15, 0.21), True),
        Price(1.0, 0.3, 0.2, (0.0, 0.5), False),
    ]
    expected = Tradeoff("c >= 0", "f", tuple(prices))
    findings = Findings(made("infeasible"))
    findings.__dict__.update(inferred=None, tradeoffs=(expected,))  # which take seconds
    figure: Any = limits(findings)
    unsure = next(trace for trace in figure.data if trace.name == "nothing is known to hold")
    sure = next(trace for trace in figure.data if trace.name == "expected of the answer")
    assert list(unsure.x) == [each.threshold for each in expected.prices if not each.is_confident]
    assert list(sure.y) == [each.expected for each in expected.prices if each.is_confident]
    assert figure.layout.shapes[0].x0 == 0
    high, low = figure.data[:2]  # skewed intervals stay so
    assert list(zip(low.y, high.y, strict=True)) == [each.interval for each in expected.prices if each.is_confident]


def test_points_are_shaded_by_the_objective_the_best_last():
    points = found("plain").points
    shades = groups(points, "f", 1)
    values = [p.told["f"] for each in shades for p in each]
    assert values == sorted((p.told["f"] for p in points if p.is_feasible), reverse=True)
    assert groups([p for p in points if not p.is_feasible], "f", 1) == []


def test_every_point_is_a_line_through_its_parameters():
    figure: Any = parallel(found("mixed"))
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    ends = sum(y is None for trace in lines for y in trace.x)
    assert ends == len(found("mixed").points)
    assert height_of(Real(1, 100, log=True), 10.0) == pytest.approx(0.5)
    assert height_of(Choice(["a", "b", "c"]), "c") == 1
    assert height_of(Choice(["a", "b", "c"]), "z") is None


def test_axes_of_parallel_coordinates_say_what_is_between_and_which_are_logarithmic():
    assert marks(Real(1e-5, 1e-1, log=True)) == [(1e-5, 0.0), (pytest.approx(1e-3), pytest.approx(0.5)), (1e-1, 1.0)]
    assert [value for value, _ in marks(Integer(1, 9))] == [1, 5, 9]
    assert marks(Integer(0, 1)) == [(0, 0.0), (1, 1.0)]
    assert marks(Choice(["a", "b", "c"])) == [("a", 0.0), ("b", 0.5), ("c", 1.0)]
    figure: Any = parallel(found("mixed"))
    assert list(figure.layout.xaxis.ticktext) == ["rate<br>(log)", "units", "kind"]


def test_forecasts_are_what_was_predicted_before():
    findings = found("infeasible")
    forecasts, chances = forecasts_of(findings)
    assert [(each.evaluation, each.outcome) for each in forecasts] == [(1, "f"), (1, "c"), (2, "f"), (2, "c")]
    assert chances == []
    before = findings.moments[0].inferred
    expected = predict(before, findings.study.space.encode({"x": 0.5})).outcomes["f"]
    # without noise a measurement is the function's value
    assert (forecasts[0].low, forecasts[0].high) == pytest.approx(expected.interval, rel=1e-3)
    assert forecasts[0].value == 0.5


def test_forecasts_rest_on_all_that_was_told_before_at_however_few_moments():
    few, many = (forecasts_of(Findings(made("infeasible"), moments=count))[0] for count in (1, 3))
    assert [each.evaluation for each in few] == [each.evaluation for each in many]
    assert [each.median for each in few] == pytest.approx([each.median for each in many])
    assert [each.low for each in few] == pytest.approx([each.low for each in many])


def test_calibration_says_of_each_outcome_how_many_values_were_expected():
    figure: Any = calibration(Findings(made("infeasible"), moments=1))
    forecasts, _ = forecasts_of(Findings(made("infeasible"), moments=1))
    for outcome in ("f", "c"):
        own = [each for each in forecasts if each.outcome == outcome]
        share = sum(each.low <= each.value <= each.high for each in own) / len(own)
        assert f"{outcome} {share:.0%}".replace("%", " %") + f" of {len(own)}" in figure.layout.title.text


def test_a_yes_or_no_has_the_probability_that_was_given_to_a_yes():
    findings = Findings(made("mixed"), moments=3)
    _, chances = forecasts_of(findings)
    told = {e.id: e.outcomes["converged"] for e in findings.evaluations.values() if "converged" in e.outcomes}
    assert chances
    assert all(each.is_yes == bool(told[each.evaluation]) and 0 < each.probability < 1 for each in chances)
    _, others = forecasts_of(Findings(made("mixed"), moments=1))
    few, many = ({each.evaluation: each.probability for each in some} for some in (others, chances))
    assert few == pytest.approx(many, abs=1e-3)  # hyperparameters are given


def test_values_below_are_shares_of_the_distribution_whichever_way_is_better():
    for sense, goal in ((">=", "minimize"), ("<=", "maximize")):
        given: Any = {goal: "f"}
        study = started(Problem({"x": Real(0, 1)}, constraints=[f"c {sense} 0"], **given))
        for x, low in ((0.4, 0.0), (0.5, -50.0)):
            study.add({"x": x}, {"f": low, "c": low})
        forecasts, _ = forecasts_of(Findings(study, moments=2))
        assert [each.outcome for each in forecasts] == ["f", "c"]
        assert all(each.value < each.low <= each.median <= each.high for each in forecasts)
        assert all(each.share_below < 0.05 for each in forecasts)


def test_coverage_of_even_shares_is_the_level():
    shares = (torch.arange(1000) + 0.5) / 1000
    own = [Forecast(i, "f", 0.0, 0.0, 0.0, 0.0, float(each)) for i, each in enumerate(shares)]
    levels = np.linspace(0, 1, 11)
    assert coverage(own, levels) == pytest.approx(levels, abs=0.002)
    narrow = [Forecast(i, "f", 0.0, 0.0, 0.0, 0.0, 0.999) for i in range(5)]
    assert coverage(narrow, levels)[9] == 0
