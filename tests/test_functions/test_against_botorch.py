"""The rows against BoTorch's problems of the same name, where both define the same."""

import pytest
import torch
from botorch.test_functions import multi_objective, synthetic
from botorch.test_functions.base import BaseTestProblem
from torch import Tensor

from pesky.test_functions import branin_disk, car_side_impact, speed_reducer
from pesky.test_functions.ackley10 import ackley10_rows
from pesky.test_functions.branin_disk import branin_disk_rows
from pesky.test_functions.car_side_impact import car_side_impact_rows
from pesky.test_functions.hartmann6 import hartmann6_rows
from pesky.test_functions.keane_bump import keane_bump_rows
from pesky.test_functions.pressure_vessel import pressure_vessel_rows
from pesky.test_functions.speed_reducer import speed_reducer_rows
from pesky.test_functions.spring import spring_rows
from pesky.test_functions.welded_beam import welded_beam_rows


def points(oracle: BaseTestProblem) -> Tensor:
    """Random points of BoTorch's box, which in places is another one than ours."""
    assert isinstance(oracle.bounds, Tensor)
    low, high = oracle.bounds
    return low + torch.rand(2000, len(low), generator=torch.Generator().manual_seed(0)) * (high - low)


def check(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_branin():
    oracle = synthetic.Branin()
    X = points(oracle)
    check(branin_disk_rows(X)[:, 0], oracle(X))


def test_hartmann6():
    oracle = synthetic.ConstrainedHartmann(dim=6)
    X = points(oracle)
    check(hartmann6_rows(X)[:, 0], oracle(X))
    check(hartmann6_rows(X)[:, 1:], oracle.evaluate_slack_true(X))


def test_pressure_vessel():
    oracle = synthetic.PressureVessel()
    X = points(oracle)
    X[:, :2] = (X[:, :2] / 0.0625).round() * 0.0625  # BoTorch rounds the thicknesses to these
    limits = torch.tensor([1.0, 1.0, 1296000.0, 240.0])
    check(pressure_vessel_rows(X)[:, 0], oracle(X))
    check(pressure_vessel_rows(X)[:, 1:], oracle.evaluate_slack_true(X) / limits)


def test_welded_beam():
    oracle = synthetic.WeldedBeamSO()
    X = points(oracle)
    rows, slack = welded_beam_rows(X), oracle.evaluate_slack_true(X)
    check(rows[:, 0], oracle(X))
    check(rows[:, [1, 2, 3, 4, 6]], slack[:, :5] / torch.tensor([13600.0, 30000.0, 1.0, 5.0, 0.25]))
    check(rows[:, 5], X[:, 0] - 0.125)  # a bound there
    # BoTorch multiplies the buckling load by 6 where the literature divides by 6
    check(36 * (rows[:, 7] + 1), slack[:, 5] / 6000 + 1)


def test_spring():
    oracle = synthetic.TensionCompressionString()
    X = points(oracle)
    rows, slack = spring_rows(X), oracle.evaluate_slack_true(X)
    check(rows[:, 0], oracle(X))
    # BoTorch cuts every row off below, we the second on both sides
    check(rows[:, [1, 3, 4]].clamp(min=-100), slack[:, [0, 2, 3]])
    check(rows[:, 2], slack[:, 1].clamp(max=100))


def test_spring_is_finite_and_infeasible_at_the_pole():
    d = torch.linspace(0.25, 1.3, 50)
    rows = spring_rows(torch.stack([d, d, torch.full_like(d, 15.0)], -1))
    assert bool(rows.isfinite().all())
    assert bool((rows[:, 1] < 0).all())


def test_speed_reducer():
    oracle = synthetic.SpeedReducer()
    X = points(oracle)
    limits = torch.tensor([1.0, 1, 1, 1, 1100, 850, 40, 5, 12, 1, 1])
    check(speed_reducer_rows(X)[:, 0], oracle(X))
    check(speed_reducer_rows(X)[:, 1:], oracle.evaluate_slack_true(X) / limits)


def test_car_side_impact():
    oracle = multi_objective.CarSideImpact()
    X = points(oracle)
    rows, theirs = car_side_impact_rows(X), oracle(X)
    violation = rows[:, 1:].clamp(max=0).abs().sum(-1)  # their last objective
    force, velocity = 4 - rows[:, 8], (9.9 - rows[:, 9] + 15.7 - rows[:, 10]) / 2
    check(torch.stack([rows[:, 0], force, velocity, violation], -1), theirs)


def test_keane_bump():
    oracle = synthetic.KeaneBumpFunction(dim=10)
    X = points(oracle)
    check(keane_bump_rows(X)[:, 0], oracle(X))
    check(keane_bump_rows(X)[:, 1:], oracle.evaluate_slack_true(X) / torch.tensor([1.0, 75.0]))


def test_ackley():
    oracle = synthetic.Ackley(dim=10, bounds=[(-5.0, 10.0)] * 10)
    X = points(oracle)
    check(ackley10_rows(X)[:, 0], oracle(X))


@pytest.mark.parametrize(
    ("benchmark", "oracle"),
    [
        (branin_disk(), synthetic.Branin()),
        (speed_reducer(), synthetic.SpeedReducer()),
        (car_side_impact(), multi_objective.CarSideImpact()),
    ],
    ids=["branin", "speed-reducer", "car-side-impact"],
)
def test_boxes(benchmark, oracle):
    low, high = oracle.bounds.tolist()
    parameters = benchmark.problem.parameters.values()
    assert [real.low for real in parameters] == low
    assert [real.high for real in parameters] == high
