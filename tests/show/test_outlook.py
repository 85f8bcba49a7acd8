"""What is believed at many points is what `Study.predict` says of each of them."""

import numpy as np
import pytest
import torch
from show.studies import found

from pesky.answer.outlook import outlook_at
from pesky.show.slices import line, plane


@pytest.mark.parametrize("name", ["plain", "mixed", "known"])
def test_it_is_what_is_predicted_at_each_point(name: str):
    findings = found(name)
    inferred, study = findings.inferred, findings.study
    U = study.space.sobol(3, seed=1)
    outlook = outlook_at(inferred, U)
    for i, u in enumerate(U):
        expected = study.predict(study.space.decode(u))
        for outcome, each in expected.outcomes.items():
            assert outlook.mean[outcome][i] == pytest.approx(each.mean)
            assert (outlook.low[outcome][i], outlook.high[outcome][i]) == pytest.approx(each.interval)
        for text, p in expected.probabilities.items():
            assert outlook.probabilities[text][i] == pytest.approx(p)


def test_all_hold_at_once_no_more_often_than_any_of_them():
    outlook = outlook_at(found("mixed").inferred, found("mixed").study.space.sobol(16, seed=1), with_intervals=False)
    assert (outlook.feasible <= np.min([*outlook.probabilities.values()], axis=0) + 1e-9).all()
    assert not outlook.low


def test_a_line_goes_through_the_point_along_one_parameter():
    findings = found("plain")
    found_line = line(findings.inferred, {"x": 0.25, "y": 0.5}, "x")
    (along,), mean = found_line.along, found_line.outlook.mean["f"]
    assert along[0] == 0
    assert along[-1] == 1
    here = findings.study.predict({"x": float(along[7]), "y": 0.5}).outcomes["f"].mean
    assert mean[7] == pytest.approx(here)


def test_lines_along_whole_numbers_and_options_have_each_of_them():
    inferred, at = found("mixed").inferred, {"rate": 1e-3, "units": 2, "kind": "none"}
    assert line(inferred, at, "units").along[0].tolist() == list(range(1, 10))
    kinds = line(inferred, at, "kind")
    assert kinds.along[0].tolist() == [0, 1, 2]
    expected = [found("mixed").study.predict({**at, "kind": kind}) for kind in ("relu", "tanh", "none")]
    assert kinds.outlook.mean["accuracy"] == pytest.approx([each.outcomes["accuracy"].mean for each in expected])
    rates = line(inferred, at, "rate").along[0]
    assert np.allclose(np.diff(np.log(rates)), np.log(rates[1] / rates[0]))


def test_a_plane_has_the_second_parameter_within_the_first():
    findings = found("plain")
    found_plane = plane(findings.inferred, {"x": 0.0, "y": 0.0}, ["x", "y"])
    x, y = found_plane.along
    grid = found_plane.outlook.mean["f"].reshape(len(x), len(y))
    here = findings.study.predict({"x": float(x[3]), "y": float(y[5])}).outcomes["f"].mean
    assert grid[3, 5] == pytest.approx(here)


def test_many_points_are_the_same_as_few(monkeypatch: pytest.MonkeyPatch):
    import pesky.answer.outlook as module

    inferred, U = found("plain").inferred, torch.rand(7, 2)
    whole = outlook_at(inferred, U)
    monkeypatch.setattr(module, "CHUNK", 3)
    parts = outlook_at(inferred, U)
    assert np.allclose(whole.mean["f"], parts.mean["f"])
    assert np.allclose(whole.high["c"], parts.high["c"])
    assert np.allclose(whole.feasible, parts.feasible)
