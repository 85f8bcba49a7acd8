"""The pictures of a belief show the study's own numbers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from show.studies import found, made

from pesky.errors import DataError
from pesky.show import belief
from pesky.show.axes import axis, coordinate, coordinates, grid
from pesky.show.belief import view_of
from pesky.show.maps import SIDES, numbered
from pesky.show.solution import density, solution_of
from pesky.show.theme import GREY
from pesky.strategy.facts import left_to_learn


def named(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def test_the_line_is_what_is_expected_and_the_limit_is_the_constraints():
    figure = belief(found("infeasible"))
    study = made("infeasible")
    expected = named(figure, "expected")[0]
    for x, y in list(zip(expected.x, expected.y, strict=True))[::20]:
        assert study.predict({"x": float(x)}).outcomes["f"].mean == pytest.approx(y)
    (limit,) = named(figure, "limit")
    assert list(limit.y) == [0, 0]
    assert list(limit.x) == [0, 1]


def test_measured_points_are_where_they_are_and_say_whether_they_hold():
    figure = belief(found("infeasible"))
    failing = named(figure, "measured: does not hold")
    objective, constraint = failing[0], failing[1]
    assert list(objective.x) == [0.1, 0.5, 0.9] == list(objective.y)
    assert list(constraint.y) == pytest.approx([-5.1, -5.5, -5.9])
    assert not [x for trace in named(figure, "measured: holds") for x in trace.x]


def test_two_parameters_are_a_map_with_points_and_the_answer():
    figure = belief(found("plain"))
    first = figure.data[0]
    answer = made("plain").recommend()
    star = named(figure, "the answer" if answer.is_confident else "most probably feasible")[0]
    assert (star.x[0], star.y[0]) == (answer.params["x"], answer.params["y"])
    z = np.asarray(first.z)[3, 5]
    assert made("plain").predict({"x": float(first.x[5]), "y": float(first.y[3])}).outcomes["f"].mean == pytest.approx(
        z
    )
    assert sum(len(trace.x) for trace in figure.data[:6] if (trace.name or "").startswith("measured")) == 4


def test_points_are_called_by_the_ids_of_their_evaluations_wherever_they_are():
    figure: Any = belief(found("mixed"), ["rate", "units"])
    ids = {point.ids[0] for point in found("mixed").points}
    numbers = {int(text) for trace in figure.data for text in (trace.text or ()) if text}
    assert numbers
    assert numbers <= ids
    assert max(numbers) > len(ids)  # which the count of the points is not
    hovers = [text for trace in figure.data if trace.hovertext for text in trace.hovertext if str(text).startswith("#")]
    assert hovers
    assert not [text for text in hovers if "point" in text]


def test_numbers_are_beside_their_points_within_the_map_and_apart_from_each_other():
    view = view_of(found("plain"), ["x", "y"])
    corner = replace(view.points[0], ids=(90,), params={"x": 1.0, "y": 2.0})
    edge = replace(view.points[0], ids=(91,), params={"x": 1.0, "y": 0.0})
    assert numbered(replace(view, points=(corner, edge))) == {(90,): "bottom left", (91,): "middle left"}
    crowd = tuple(replace(corner, ids=(i,), params={"x": 0.5 + i / 1000, "y": 0.0}) for i in range(20))
    assert 0 < len(numbered(replace(view, points=crowd))) <= len(SIDES)


def test_open_points_are_seen_in_the_legend_of_a_map():
    figure: Any = belief(found("apart"))
    (first, *_) = named(figure, "measured: open")
    assert (first.marker.color, first.marker.line.color) == ("white", GREY)


def test_options_are_written_whole_and_drawn_each_by_itself():
    figure: Any = belief(found("mixed"))
    (kinds,) = {tuple(axis.ticktext) for axis in figure.select_xaxes() if axis.ticktext}
    assert kinds == ("relu", "tanh", "none")
    assert not [each for each in figure.data if each.type == "scatter" and len(each.x) == 3 and "lines" in each.mode]
    assert sum(trace.type == "bar" for trace in figure.data) == 4  # whether all hold and x*, of two parameters
    assert not [each for each in figure.layout.annotations if "hold" in each.text]
    assert {"all<br>hold", "where<br>x* is"} <= {axis.title.text for axis in figure.select_yaxes()}


def test_only_where_points_are_paler_it_says_so():
    lines: Any = belief(found("plain"), ["x"])
    maps: Any = belief(found("mixed"), ["rate", "units"])
    assert "paler" in lines.layout.title.text
    assert "paler" not in maps.layout.title.text


def test_others_are_where_they_are_told_to_be():
    view = view_of(found("plain"), ["x"], {"y": 1.5})
    mean = view.slices[0].outlook.mean["c"][0]
    assert made("plain").predict({"x": 0.0, "y": 1.5}).outcomes["c"].mean == pytest.approx(mean)
    figure: Any = belief(found("plain"), ["x"], {"y": 1.5})
    assert "at y = 1.5" in figure.layout.title.text


@pytest.mark.parametrize(("parameters", "at"), [(["z"], None), ([], None), (["x", "x"], None), (["x"], {"y": 9})])
def test_what_there_is_not_is_refused(parameters, at):
    with pytest.raises(DataError, match="expected"):
        belief(found("plain"), parameters, at)


def test_axes_have_scales_bounds_and_options():
    parameters = made("mixed").problem.parameters
    rate, units, kind = (axis(name, each) for name, each in parameters.items())
    assert rate["type"] == "log"
    assert rate["range"] == pytest.approx([-5, -1])
    assert units["range"] == [0.5, 9.5]
    assert kind["ticktext"] == ["relu", "tanh", "none"]
    assert coordinate(parameters["kind"], "none") == 2
    assert coordinate(parameters["kind"], "gone") is None
    assert coordinate(parameters["rate"], -1.0) is None
    assert coordinates(parameters["units"], grid(parameters["units"], 61)).tolist() == list(range(1, 10))
    flag = made("unconstrained").problem.parameters["d"]
    assert axis("d", flag)["ticktext"] == ["True", "False"]


def test_densities_are_where_the_samples_are():
    inferred = found("mixed").inferred
    solution = solution_of(inferred)
    assert float(solution.weight.sum()) == pytest.approx(1)
    kinds = density(solution, inferred, ["kind"], 61)
    own = solution.X[:, inferred.space.columns_of(["kind"])].argmax(-1)
    shares = np.array([float(solution.weight[own == i].sum()) for i in range(3)])
    assert kinds == pytest.approx(shares / shares.max())
    plane = density(solution, inferred, ["rate", "kind"], 33)
    assert plane.shape == (33, 3)
    assert plane.max() == pytest.approx(1)
    assert left_to_learn(inferred.space, solution.X, solution.weight).keys() == {"rate", "units", "kind"}
