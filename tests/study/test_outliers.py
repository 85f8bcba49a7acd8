"""Values that all others contradict: found, said once, left out of every answer, believed where they are repeated."""

import logging
import math

import pytest
import torch

from pesky import GP, Problem, Real, Study
from pesky.model import Belief, GaussianProcess
from pesky.observations import Observations

SPACE = {"x": Real(0, 1), "y": Real(0, 1)}
ERROR = Problem(SPACE, minimize="error")
PLAIN = GP(warp=False)
WRONG = 9
"""The evaluation that is told wrong: one in the middle of the others."""


def truth(x: float, y: float) -> float:
    return 0.02 + 0.008 * math.sin(4 * x) + 0.004 * y


def rows(wrong: float | None = 0.9, n: int = 20) -> list[dict[str, float]]:
    """Points in turn of a lattice, with values about 0.02 and little noise, and one value that is wrong."""
    g = torch.Generator().manual_seed(1)
    U = torch.quasirandom.SobolEngine(2, scramble=True, seed=4).draw(n, dtype=torch.float64)
    U[WRONG] = torch.tensor([0.52, 0.47])
    noise = 5e-4 * torch.randn(n, generator=g, dtype=torch.float64)
    told = [{"x": x, "y": y, "error": truth(x, y) + e} for (x, y), e in zip(U.tolist(), noise.tolist(), strict=True)]
    if wrong is not None:
        told[WRONG]["error"] = wrong
    return told


def again(study: Study, belief: Belief, o: Observations) -> Belief:
    """An earlier belief, given all data that there are by now."""
    own = study._inference
    return own.condition(belief, own.observations_like(o, study._snapshot()))


def data_of(belief: object) -> int:
    """How many values a belief is of."""
    assert isinstance(belief, GaussianProcess)
    return int(belief.mask.sum())


def told(data: list[dict[str, float]], problem: Problem = ERROR, **given) -> Study:
    study = Study(problem, rule="random", **given)
    study.add(data)
    return study


def test_one_value_of_a_half_among_fiftieths_bends_nothing():
    study, without = told(rows()), told([row for i, row in enumerate(rows()) if i != WRONG])
    here = {"x": 0.3, "y": 0.6}
    found, expected = (each.predict(here).outcomes["error"] for each in (study, without))
    assert found.mean == pytest.approx(expected.mean, abs=1e-5)
    assert found.deviation == pytest.approx(expected.deviation, rel=0.3)
    assert found.mean == pytest.approx(truth(**here), abs=2e-3)
    (outlier,) = study.outliers()
    assert (outlier.evaluation, outlier.outcome, outlier.value, outlier.others) == (WRONG, "error", 0.9, 19)
    assert outlier.expected == pytest.approx(truth(0.52, 0.47), abs=2e-3)
    assert outlier.deviation < 3e-3
    assert study.predict(study.evaluations[WRONG].params).outcomes["error"].mean < 0.05


def test_an_outlier_is_said_once(caplog):
    study = told(rows(), model=PLAIN)
    study.predict({"x": 0.3, "y": 0.6})
    study.add({"x": 0.8, "y": 0.6}, {"error": truth(0.8, 0.6)})
    study.belief()
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(said) == 1
    assert f"evaluation #{WRONG}: error = 0.9 does not fit the other 19 values (expected 0.02" in said[0]
    assert f"study.exclude({WRONG})" in said[0]


def test_every_value_can_be_trusted():
    study = told(rows(), model=GP(outliers=False, warp=False))
    assert study.outliers() == ()
    assert abs(study.predict({"x": 0.5, "y": 0.55}).outcomes["error"].mean - truth(0.5, 0.55)) > 0.1


def test_a_value_that_is_measured_twice_is_believed_and_one_that_is_contradicted_there_is_not():
    data = rows()
    assert told([*data, {**data[WRONG], "error": 0.91}], model=PLAIN).outliers() == ()
    (outlier,) = told([*data, {**data[WRONG], "error": 0.029}], model=PLAIN).outliers()
    assert outlier.value == 0.9


@pytest.mark.parametrize("given", [{"noise": 0.0}, {"constraints": ["error <= 0.5"], "noise": {"error": 0.0}}])
def test_what_is_measured_without_noise_is_believed(given):
    assert told(rows(), Problem(SPACE, minimize="error", **given)).outliers() == ()


def test_few_values_contradict_none_and_nothing_has_no_outlier():
    few = rows()[WRONG - 4 : WRONG + 5]
    assert told(few).outliers() == ()
    assert Study(ERROR).outliers() == ()


def test_a_value_at_the_edge_of_all_may_be_beyond_a_cliff():
    data = rows(None)
    corner = max(range(len(data)), key=lambda i: data[i]["x"] + data[i]["y"])
    data[corner]["error"] = 0.9
    assert told(data).outliers() == ()


def test_the_best_of_all_is_not_doubted_before_something_was_measured_close_by():
    data = rows(-0.5)
    assert told(data).outliers() == ()
    x, y = data[WRONG]["x"] + 0.02, data[WRONG]["y"] - 0.02
    study = told([*data, {"x": x, "y": y, "error": truth(x, y)}])
    assert [each.evaluation for each in study.outliers()] == [WRONG]
    assert WRONG not in study.best().evaluations
    assert study.best().expected > 0


def test_an_outlier_of_one_outcome_leaves_the_others_of_its_evaluation():
    problem = Problem(SPACE, minimize="cost", constraints=["error <= 0.5"])
    study = told([{**row, "cost": row["x"] + 0.1 * row["y"]} for row in rows()], problem, model=PLAIN)
    assert [(each.evaluation, each.outcome) for each in study.outliers()] == [(WRONG, "error")]
    counts = study._inference.of(study._snapshot()).observations.mask.sum(-1).tolist()
    assert counts == [20, 19]
    assert study.predict(study.evaluations[WRONG].params).probabilities["error <= 0.5"] > 0.99


def test_a_verdict_depends_on_the_data_alone(tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = told(rows()[:9], storage=url, model=PLAIN)
    study.belief()
    study.add(rows()[9:])
    study.belief()
    assert study._inference.left_out
    assert study._inference.left_out[0].value == study.outliers()[0].value
    assert Study.load(url, model=PLAIN).outliers() == study.outliers()


def test_what_is_corrected_or_excluded_is_no_outlier():
    study = told(rows(), model=PLAIN)
    before = study.belief(), study.inferred().observations
    study.correct(WRONG, {"error": 0.028}, "a slip of the pen")
    assert data_of(again(study, *before)) == 20
    assert study.outliers() == ()
    study.correct(WRONG, {"error": 0.9}, "no, it was not")
    assert len(study.outliers()) == 1
    study.exclude(WRONG, "it was")
    assert study.outliers() == ()


def test_a_question_keeps_what_was_left_out_and_a_quick_one_leaves_it_out_too():
    study = told(rows(), initial=1, model=PLAIN)
    e = study.ask()
    assert study.explain(e).left_out == study._inference.left_out
    assert "error = 0.9 does not fit the other 19 values" in str(study.explain(e))
    study.tell(e, {"error": truth(float(e.params["x"]), float(e.params["y"]))})
    before = study.belief(), study.inferred().observations
    assert data_of(again(study, *before)) == 20
