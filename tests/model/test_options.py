"""Options that were hardly tried are as different from the others as these are from each other."""

import pytest
import torch

from pesky import Choice, Problem, Real, Study
from pesky.model.hyper import Hyperparameters
from pesky.model.options import FEW, as_others
from pesky.observations import Observations

ACIDS = ("HCl", "H2SO4", "HNO3", "citric")
OFFSET = dict(zip(ACIDS, (0.0, 3.0, -2.0, 1.0), strict=True))


def observed(options: list[int], y: list[float], kind: str = "gaussian") -> Observations:
    """One row: a real column, and one for each of four options."""
    X = torch.zeros(1, len(options), 5, dtype=torch.float64)
    X[0, :, 0] = torch.linspace(0, 1, len(options), dtype=torch.float64)
    X[0, range(len(options)), [1 + k for k in options]] = 1.0
    values, one = torch.tensor([y], dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    there = torch.ones(1, len(options), dtype=torch.bool)
    return Observations(X, values, there, 0.01 * one, one, 0 * one, one, (kind,))


def hyper(*lengthscale: float) -> Hyperparameters:
    one = torch.ones(1, dtype=torch.float64)
    return Hyperparameters(torch.tensor([lengthscale], dtype=torch.float64), one, 0.01 * one, 0 * one)


def taken(o: Observations, *lengthscale: float) -> list[float]:
    return as_others("matern52", o, hyper(*lengthscale), [slice(1, 5)]).lengthscale[0].tolist()


def test_an_option_that_was_never_tried_has_the_mean_of_those_that_were():
    o = observed([0, 1, 2] * FEW, [0.1, 0.3, 0.2] * FEW)
    assert taken(o, 0.4, 2.0, 4.0, 8.0, 0.6) == pytest.approx([0.4, 2.0, 4.0, 8.0, 4.0])


def test_a_single_option_tells_nothing_of_how_different_options_are():
    h = hyper(0.4, 2.0, 0.6, 0.6, 0.6)
    assert as_others("matern52", observed([0] * 6, [0.1] * 6), h, [slice(1, 5)]) is h


@pytest.mark.parametrize(("value", "is_alike"), [(0.2, True), (9.0, False)])
def test_of_one_that_was_tried_once_its_value_decides(value, is_alike):
    o = observed([*[0, 1, 2] * FEW, 3], [*[0.1, 0.3, 0.2] * FEW, value])
    assert (taken(o, 4.0, 2.0, 4.0, 8.0, 0.6)[-1] == pytest.approx(4.0)) is is_alike


def test_of_a_yes_or_no_the_latent_function_has_no_values_to_ask():
    h = (4.0, 2.0, 4.0, 8.0, 0.6)
    assert taken(observed([0, 1, 2] * FEW, [1.0] * 9, "probit"), *h)[-1] == pytest.approx(4.0)
    assert taken(observed([*[0, 1, 2] * FEW, 3], [1.0] * 10, "probit"), *h) == pytest.approx(list(h))


def test_what_is_best_with_the_others_is_where_an_untried_one_is_expected_to_be_good():
    """Options that are different by a constant: without those of the others it was guessed to be as good everywhere."""
    problem = Problem({"x": Real(0, 1), "acid": Choice(ACIDS)}, maximize="f")

    def f(x: float, acid: str) -> float:
        return 80 - 100 * (x - 0.3) ** 2 + OFFSET[acid]

    study = Study(problem, seed=0)
    for i, acid in enumerate(ACIDS[:3] * 5):
        x = (i * 0.382) % 1
        study.add({"x": x, "acid": acid}, {"f": f(x, acid)})
    for x in (0.05, 0.3, 0.6, 0.9):
        found = study.predict({"x": x, "acid": "citric"}).outcomes["f"]
        assert found.interval[0] <= f(x, "citric") <= found.interval[1]
        assert found.deviation < 10
    assert "No value of f is known with acid = citric" in study.recommend().advice
    study.add({"x": 0.3, "acid": "citric"}, {"f": f(0.3, "citric")})
    assert "citric" not in study.recommend().advice
