import math

import pytest
import torch
from scipy.optimize import minimize

from pesky import Study
from pesky.space import Space
from pesky.test_functions import toy
from pesky.test_functions.toy import OPTIMUM, OPTIMUM_VALUE, toy_truth


def unit_grid(steps: int) -> torch.Tensor:
    line = torch.linspace(0, 1, steps, dtype=torch.float64)
    return torch.cartesian_prod(line, line)


def test_optimum_satisfies_the_conditions_of_a_constrained_minimum():
    u = torch.tensor(OPTIMUM, dtype=torch.float64, requires_grad=True)
    _, c1, c2 = toy_truth(u.unsqueeze(0))[0]
    (slope,) = torch.autograd.grad(c1, u)
    assert abs(c1.item()) < 1e-15
    assert c2.item() > 1
    # The gradient of the objective (1, 1) is a positive multiple of the active constraint's.
    assert slope[0].item() == pytest.approx(slope[1].item(), abs=1e-13)
    assert slope[0].item() > 0


def test_no_feasible_point_of_a_dense_grid_is_lower():
    rows = toy_truth(unit_grid(1501))
    feasible = rows[(rows[:, 1:] >= 0).all(-1), 0]
    assert feasible.min().item() >= OPTIMUM_VALUE
    assert feasible.min().item() == pytest.approx(OPTIMUM_VALUE, abs=2e-3)


def test_optimum_is_the_best_that_local_searches_find():
    def c(x):
        return toy_truth(torch.as_tensor(x).unsqueeze(0))[0, 1:].numpy()

    ends = [
        minimize(
            sum,
            start.numpy(),
            bounds=[(0, 1), (0, 1)],
            constraints={"type": "ineq", "fun": c},
            method="SLSQP",
            options={"ftol": 1e-14},
        ).x
        for start in unit_grid(6)
    ]
    feasible = [sum(x) for x in ends if c(x).min() >= -1e-11]
    assert min(feasible) == pytest.approx(OPTIMUM_VALUE, abs=1e-10)


def test_truth_at_a_point_computed_by_hand():
    (row,) = toy_truth(torch.tensor([[0.5, 0.25]], dtype=torch.float64)).tolist()
    assert row == pytest.approx([0.75, 0.5 * math.sin(-math.pi / 2) - 0.5, 1.1875])


def test_utility_gap():
    benchmark = toy()
    optimum = torch.tensor(OPTIMUM, dtype=torch.float64)
    assert benchmark.utility_gap(optimum) < 1e-15
    inside = optimum + 0.01
    assert benchmark.is_feasible(inside)
    assert benchmark.utility_gap(inside) == pytest.approx(0.02)
    # A violation of 1e-9 is one: the point counts as the worst of the square.
    outside = optimum - 1e-9
    assert not benchmark.is_feasible(outside)
    assert benchmark.utility_gap(outside) == pytest.approx(2 - OPTIMUM_VALUE)


def test_worst_value_is_the_largest_on_the_square():
    assert toy_truth(unit_grid(11))[:, 0].max().item() == toy().worst_value


def test_evaluates_without_noise_by_name():
    benchmark = toy(confidence=0.9)
    values = benchmark.evaluate({"x1": 0.5, "x2": 0.25}, torch.Generator())
    assert values == pytest.approx({"f": 0.75, "c1": -1.0, "c2": 1.1875})
    assert benchmark.problem.confidences == (0.9, 0.9)
    assert dict(benchmark.problem.noise) == {"f": 0.0, "c1": 0.0, "c2": 0.0}
    assert Space.of(benchmark.problem).dim == 2


def test_a_study_runs_it_and_its_params_have_a_gap():
    benchmark = toy()
    study = Study(benchmark.problem, rule="random")
    assert study.run(benchmark.evaluate, 4).failed == 0
    params = study.recommend().params
    assert benchmark.utility_gap(params) == benchmark.utility_gap(study.space.encode(params))
