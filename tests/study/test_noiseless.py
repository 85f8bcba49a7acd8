"""Outcomes whose noise nobody declared: whether they have any is found out."""

import math
from typing import Any

import torch

from pesky import GP, Problem, Real, Study
from pesky.model.hyper import is_noise_free


def measure(params: Any) -> dict[str, float]:
    x, y = params["x"], params["y"]
    return {"f": math.sin(2 * x) + y**2, "c": x + y - 0.6 + 0.2 * math.sin(3 * y)}


def study_of(count: int, scatter: float = 0.0, **given: Any) -> Study:
    """A study that was told values at points all over the square, with noise."""
    problem = Problem({"x": Real(0, 1), "y": Real(0, 1)}, minimize="f", constraints=["c >= 0"])
    study = Study(problem, **given)
    generator = torch.Generator().manual_seed(0)
    for x, y in torch.rand(count, 2, generator=generator, dtype=torch.float64).tolist():
        noise = scatter * torch.randn(2, generator=generator, dtype=torch.float64)
        values = measure({"x": x, "y": y})
        study.add({"x": x, "y": y}, {"f": values["f"] + float(noise[0]), "c": values["c"] + float(noise[1])})
    return study


def noiseless(study: Study) -> list[bool]:
    belief = study.belief()
    return is_noise_free(belief.noise, belief.amplitude).tolist()


def test_values_without_noise_are_believed_to_the_last_digits():
    study = study_of(16)
    assert noiseless(study) == [True, True]
    for point, most in ((study.evaluations[3].params, 1e-6), ({"x": 0.4, "y": 0.5}, 1e-2)):
        predicted = study.predict(point).outcomes["f"]
        assert predicted.deviation < most
        assert abs(predicted.mean - measure(point)["f"]) < max(3 * predicted.deviation, 1e-9)


def test_values_with_noise_are_not():
    assert noiseless(study_of(16, scatter=0.02)) == [False, False]


def test_two_values_that_differ_at_one_point_show_that_there_is_noise():
    study = study_of(16)
    here = study.evaluations[1].params
    study.add(here, {"f": measure(here)["f"] + 0.02, "c": measure(here)["c"]})
    assert noiseless(study) == [False, True]


def test_the_search_for_outliers_still_sees_the_noise_that_was_inferred():
    study = study_of(24)
    study.add({"x": 0.52, "y": 0.47}, {"f": 7.0, "c": measure({"x": 0.52, "y": 0.47})["c"]})
    assert [(each.evaluation, each.outcome) for each in study.outliers()] == [(24, "f")]
    assert noiseless(study) == [True, True]


def test_without_warps_as_well():
    assert noiseless(study_of(16, model=GP(warp=False))) == [True, True]


def test_chains_of_samples_sample_the_noise_as_ever():
    study = study_of(12, model=GP(hyperparameters="slice", samples=2))
    assert not torch.tensor(noiseless(study)).any()
