"""Damped Newton steps against minima that are known, with curvatures that are right, wrong or missing."""

import math

import pytest
import torch

from pesky.numerics import newton


def rosenbrock(x):
    """The value, its gradient, and Gauss and Newton's curvature: without what makes it indefinite."""
    a, b = 1 - x[:, 0], 10 * (x[:, 1] - x[:, 0].square())
    jacobian = torch.zeros(len(x), 2, 2)
    jacobian[:, 0, 0], jacobian[:, 1, 0], jacobian[:, 1, 1] = -1.0, -20 * x[:, 0], 10.0
    residual = torch.stack([a, b], -1)
    gradient = (jacobian.mT @ residual[..., None])[..., 0]
    return 0.5 * residual.square().sum(-1), gradient, jacobian.mT @ jacobian


def search(function, start, low=-5.0, high=5.0, **given):
    """The minimum, and how many elements were evaluated at each step."""
    sizes = []

    def evaluate(x, some):
        sizes.append(len(some))
        return function(x)

    q = start.shape[-1]
    bounds = torch.full((q,), low), torch.full((q,), high)
    return newton.minimize(evaluate, start, *bounds, **({"steps": 40, "tolerance": 1e-10} | given)), sizes


def test_a_bent_valley_is_followed_to_its_end_and_who_is_there_is_not_evaluated_again():
    found, sizes = search(rosenbrock, torch.tensor([[-1.2, 1.0], [1.0, 1.0], [2.0, -1.0]]))
    torch.testing.assert_close(found.x, torch.ones(3, 2), rtol=0, atol=1e-4)
    assert float(found.values.max()) < 1e-8
    assert sizes[0] == 3
    assert max(sizes[1:]) == 2
    assert len(sizes) < 36


@pytest.mark.parametrize("factor", [0.05, 1.0, 50.0])
def test_a_curvature_that_is_far_too_small_or_too_large_leads_there_too(factor):
    def function(x):
        value, gradient, curvature = rosenbrock(x)
        return value, gradient, factor * curvature + 1e-3 * torch.eye(2)

    found, _ = search(function, torch.tensor([[-1.2, 1.0]]), steps=200)
    assert float(found.values[0]) < 1e-4


def test_a_minimum_at_the_bound_is_that_of_the_other_directions():
    matrix = torch.tensor([[2.0, 1.9], [1.9, 2.0]])

    def bowl(x):
        away = x - torch.tensor([3.0, 0.0])
        return 0.5 * (away @ matrix * away).sum(-1), away @ matrix, matrix.expand(len(x), 2, 2)

    found, _ = search(bowl, torch.tensor([[0.0, 0.0]]), low=-1.0, high=1.0)
    # of x = (1, y) the lowest has 1.9 (1 - 3) + 2 y = 0, beyond the other bound
    torch.testing.assert_close(found.x, torch.tensor([[1.0, 1.0]]))
    found, _ = search(bowl, torch.tensor([[0.0, 0.0]]), low=-2.5, high=2.5)
    torch.testing.assert_close(found.x, torch.tensor([[2.5, 0.475]]), rtol=0, atol=1e-4)


def test_a_rival_that_cannot_catch_up_is_given_up_and_one_that_can_is_not():
    def wells(x):
        """Parabolas around whole numbers, that at 2 a hundred lower."""
        well = x[:, 0].round()
        away = x[:, 0] - well
        value = 0.5 * away.square() - 100.0 * (well == 2) + 0.3 * away.pow(4)
        return value, (away + 1.2 * away.pow(3))[:, None], torch.full((len(x), 1, 1), 30.0)

    start = torch.tensor([[0.4], [2.4]])
    together, sizes = search(wells, start, rivals=2, tolerance=1e-6)
    apart, of_all = search(wells, start, tolerance=1e-6)
    assert sizes[newton.FIRST_STEPS + 1] == 1
    assert of_all[newton.FIRST_STEPS + 1] == 2
    torch.testing.assert_close(together.x[1], apart.x[1])


def test_what_is_no_number_is_not_gone_to():
    def cliff(x):
        value = torch.where(x[:, 0] < 1.0, torch.nan, (x[:, 0] - 1.5).square())
        gradient = torch.where(x < 1.0, math.nan, 2 * (x - 1.5))
        return value, gradient, torch.full((len(x), 1, 1), 0.1)

    found, _ = search(cliff, torch.tensor([[3.0], [0.0]]))
    assert float(found.x[0]) == pytest.approx(1.5, abs=1e-3)
    assert math.isnan(float(found.values[1]))


def test_a_direction_that_nothing_depends_on_stops_nobody():
    def evaluate(x: torch.Tensor, _: torch.Tensor):
        flat = torch.zeros_like(x[:, 0])
        gradient = torch.stack([2 * (x[:, 0] - 0.3), flat], -1)
        return (x[:, 0] - 0.3).square(), gradient, torch.diag(torch.tensor([2.0, 0.0])).expand(len(x), 2, 2).clone()

    start = torch.tensor([[0.9, 0.5], [0.0, 0.1]])
    found = newton.minimize(evaluate, start, torch.zeros(2), torch.ones(2), steps=20, tolerance=1e-8)
    torch.testing.assert_close(found.x, torch.stack([torch.full((2,), 0.3), start[:, 1]], -1), rtol=0, atol=1e-3)
