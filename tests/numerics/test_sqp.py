"""Batched SQP on problems with known solutions."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from pesky.numerics import sqp
from pesky.test_functions.crescent import crescent_rows
from pesky.test_functions.toy import OPTIMUM, OPTIMUM_VALUE, toy_truth


def differentiated(function):
    """X (b, d) -> values (b, j) and gradients (b, j, d) of a function of each point."""

    def evaluate(x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().requires_grad_()
        values = function(x)
        gradients = [torch.autograd.grad(v.sum(), x, retain_graph=True, allow_unused=True)[0] for v in values.mT]
        return values.detach(), torch.stack([torch.zeros_like(x) if g is None else g for g in gradients], 1)

    return evaluate


def solve(function, start, lower, upper, **given):
    start = torch.atleast_2d(torch.as_tensor(start, dtype=torch.float64))
    d = start.shape[-1]
    low, high = (torch.full((d,), float(each)) for each in (lower, upper))
    return sqp.minimize(differentiated(function), start, low, high, **({"radius": 0.1, "steps": 60} | given))


def hs43(x: Tensor) -> Tensor:
    a, b, c, d = x.unbind(-1)
    f = a**2 + b**2 + 2 * c**2 + d**2 - 5 * a - 5 * b - 21 * c + 7 * d
    c1 = 8 - a**2 - b**2 - c**2 - d**2 - a + b - c + d
    c2 = 10 - a**2 - 2 * b**2 - c**2 - 2 * d**2 + a + d
    c3 = 5 - 2 * a**2 - b**2 - c**2 - 2 * a + b + d
    return torch.stack([f, c1, c2, c3], -1)


def hs22(x: Tensor) -> Tensor:
    a, b = x.unbind(-1)
    return torch.stack([(a - 2) ** 2 + (b - 1) ** 2, 2 - a - b, b - a**2], -1)


def rosenbrock(x: Tensor) -> Tensor:
    return (100 * (x[:, 1] - x[:, 0] ** 2) ** 2 + (1 - x[:, 0]) ** 2)[:, None]


def test_the_toy_problem_is_solved_from_near_its_optimum():
    found = solve(toy_truth, [[0.3, 0.5], [0.15, 0.35], [0.25, 0.3]], 0, 1, steps=25)
    torch.testing.assert_close(found.x, torch.tensor([OPTIMUM] * 3), rtol=0, atol=1e-5)
    torch.testing.assert_close(found.values[:, 0], torch.full((3,), OPTIMUM_VALUE), rtol=0, atol=1e-6)
    assert (found.violation < 1e-6).all()


@pytest.mark.parametrize(
    ("problem", "start", "optimum", "value"),
    [
        (hs43, [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, -1.0], -44.0),
        (hs22, [2.0, 2.0], [1.0, 1.0], 1.0),
        (rosenbrock, [-1.2, 1.0], [1.0, 1.0], 0.0),
    ],
    ids=["hs43", "hs22", "rosenbrock"],
)
def test_problems_of_hock_and_schittkowski(problem, start, optimum, value):
    found = solve(problem, start, -3, 3)
    torch.testing.assert_close(found.x[0], torch.tensor(optimum), rtol=0, atol=2e-3)
    assert found.values[0, 0].item() == pytest.approx(value, abs=1e-4)
    assert found.violation.item() < 1e-5


@pytest.mark.parametrize(
    ("problem", "start", "value", "steps"),
    [(hs43, [0.0, 0.0, 0.0, 0.0], -44.0, 5), (rosenbrock, [-1.2, 1.0], 0.0, 30)],
    ids=["hs43", "rosenbrock"],
)
def test_second_derivatives_spare_steps(problem, start, value, steps):
    at = torch.empty(0)

    def evaluate(x: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal at
        at = x
        return differentiated(problem)(x)

    def curvature(weights: Tensor, some: Tensor) -> Tensor:
        assert len(some) == len(weights) == len(at)
        hessian, own = torch.autograd.functional.hessian, zip(at, weights, strict=True)
        each = [hessian(lambda x, w=w: (w * problem(x[None])[0]).sum(), x) for x, w in own]
        return torch.stack([torch.as_tensor(matrix) for matrix in each])

    def error(how: sqp.Curvature | None) -> float:
        low, high = (torch.full((len(start),), end) for end in (-3.0, 3.0))
        found = sqp.minimize(evaluate, torch.tensor([start]), low, high, radius=0.1, steps=steps, curvature=how)
        return abs(found.values[0, 0].item() - value) + found.violation.item()

    assert error(curvature) < 0.02 * error(None)


def test_solutions_on_the_box_are_found():
    found = solve(lambda x: (x[:, 0] - 2 * x[:, 1] + (x[:, 2] - 0.3) ** 2)[:, None], [[0.5, 0.5, 0.9]], 0, 1, steps=30)
    torch.testing.assert_close(found.x[0], torch.tensor([0.0, 1.0, 0.3]), rtol=0, atol=1e-6)


def test_a_box_and_a_constraint_may_be_active_together():
    found = solve(lambda x: torch.stack([x.sum(-1), x[:, 0] + 3 * x[:, 1] - 1.5], -1), [[0.9, 0.9]], 0, 1, steps=30)
    torch.testing.assert_close(found.x[0], torch.tensor([0.0, 0.5]), rtol=0, atol=1e-6)


def test_contradictory_constraints_give_the_least_violation():
    """X >= 0.6 and x <= 0.4: anything between has the least total violation, 0.2."""
    found = solve(lambda x: torch.stack([x[:, 0] * 1e-3, x[:, 0] - 0.6, 0.4 - x[:, 0]], -1), [[0.05], [0.95]], 0, 1)
    assert ((found.x > 0.4 - 1e-4) & (found.x < 0.6 + 1e-4)).all()
    torch.testing.assert_close(found.violation, (found.x[:, 0] - 0.6).abs().maximum((found.x[:, 0] - 0.4).abs()))


def test_from_infeasible_starts_it_becomes_feasible():
    g = torch.Generator().manual_seed(0)
    found = solve(hs22, 4 * torch.rand(20, 2, generator=g) - 2, -3, 3)
    assert (found.violation < 1e-5).all()
    torch.testing.assert_close(found.values[:, 0], torch.ones(20), rtol=0, atol=1e-3)


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 10])
def test_it_is_never_worse_than_its_start(steps):
    g = torch.Generator().manual_seed(1)
    start = 2 * torch.rand(200, 2, generator=g) - 1
    wavy = lambda x: (torch.sin(9 * x[:, 0]) * torch.cos(7 * x[:, 1]) + x.square().sum(-1))[:, None]  # noqa: E731
    found = solve(wavy, start, -1, 1, steps=steps)
    assert (found.values <= wavy(start) + 1e-12).all()
    torch.testing.assert_close(found.values, wavy(found.x))


@pytest.mark.parametrize("steps", [1, 3, 10, 25])
def test_it_is_never_worse_than_its_start_in_merit(steps):
    """Neither the objective nor the violations priced at the elasticity, the highest price there is, has risen."""
    g = torch.Generator().manual_seed(2)
    start = torch.rand(300, 2, generator=g)
    found = solve(toy_truth, start, 0, 1, steps=steps)

    def merit(values: Tensor, price: float) -> Tensor:
        return values[:, 0] + price * (-values[:, 1:]).clamp(min=0).sum(-1)

    before = toy_truth(start)
    worse_when_dear = merit(found.values, 1.5 * sqp.ELASTICITY) > merit(before, 1.5 * sqp.ELASTICITY) + 1e-9
    worse_when_cheap = merit(found.values, 0.5) > merit(before, 0.5) + 1e-9
    assert not (worse_when_dear & worse_when_cheap).any()


def test_each_element_is_solved_by_itself():
    g = torch.Generator().manual_seed(3)
    start = torch.rand(5, 2, generator=g)
    whole = solve(toy_truth, start, 0, 1, steps=12, tolerance=0.0)
    for i in range(5):
        alone = solve(toy_truth, start[i : i + 1], 0, 1, steps=12, tolerance=0.0)
        torch.testing.assert_close(whole.x[i : i + 1], alone.x, rtol=0, atol=1e-9)


def test_the_elements_of_a_group_end_together_and_not_with_others():
    start = torch.tensor([[0.2, 0.4], [0.9, 0.9], [0.19, 0.41], [0.195, 0.405], [0.5, 0.1]])
    group = torch.tensor([0, 1, 0, 0, 1])
    together = solve(toy_truth, start, 0, 1, steps=30, tolerance=1e-3, group=group)
    for i in range(2):
        alone = solve(toy_truth, start[group == i], 0, 1, steps=30, tolerance=1e-3)
        torch.testing.assert_close(together.x[group == i], alone.x, rtol=0, atol=1e-12)
        torch.testing.assert_close(together.values[group == i], alone.values, rtol=0, atol=1e-12)
    # those that are done first would otherwise go on as long as the others
    everyone = solve(toy_truth, start, 0, 1, steps=30, tolerance=1e-3)
    assert (everyone.x - together.x)[group == 0].abs().max() > 1e-9


def test_the_scale_of_each_function_does_not_matter():
    start = torch.tensor([[0.3, 0.5], [0.7, 0.6]])
    units = torch.tensor([1e6, 1e-4, 30.0])
    plain = solve(toy_truth, start, 0, 1, steps=15, scale=torch.ones(2, 3))
    other = solve(lambda x: toy_truth(x) * units, start, 0, 1, steps=15, scale=units.expand(2, 3))
    torch.testing.assert_close(plain.x, other.x, rtol=0, atol=1e-9)
    torch.testing.assert_close(plain.values * units, other.values)
    torch.testing.assert_close(plain.violation, other.violation)


def test_values_that_are_not_finite_are_stepped_back_from():
    found = solve(lambda x: torch.log(x[:, :1] - 0.3), [[0.9]], 0, 1, steps=40)
    assert torch.isfinite(found.values).all()
    assert found.x.item() < 0.4


@pytest.mark.parametrize("slope", [1.0, 1e-2, 1e-4, 1e-8, 0.0])
def test_a_flat_objective_does_not_keep_a_start_infeasible(slope):
    found = solve(lambda x: torch.stack([slope * x.sum(-1), x[:, 0] - 0.8], -1), [[0.2, 0.5]], 0, 1, radius=0.05)
    assert found.violation.item() < 1e-6


def crescent_truth(U: Tensor) -> Tensor:
    """Of a region that is thin beside its length: near its tip two constraints nearly exclude each other."""
    return crescent_rows(torch.tensor([13.0, 0.0]) + U * torch.tensor([87.0, 100.0]))


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_the_tip_of_a_crescent_is_found_whatever_the_units_of_its_constraints(unit):
    start = torch.rand(20, 2, generator=torch.Generator().manual_seed(4))
    scale = torch.tensor([2e5, 3e3 * unit, 3e3 * unit]).expand(20, 3)
    found = solve(crescent_truth, start, 0, 1, radius=0.02, steps=40, tolerance=1e-9, scale=scale)
    tip = torch.tensor([(14.095 - 13) / 87, 0.8429607892 / 100])
    assert ((found.x - tip).abs() < 1e-4).all(-1).sum() >= 18


def test_what_is_not_worth_another_step_is_not_evaluated_again():
    evaluated = []

    def evaluate(x, which):
        evaluated.append(which.tolist())
        return (x - 0.5).pow(4).sum(-1, keepdim=True), (4 * (x - 0.5).pow(3))[:, None]

    start = torch.tensor([[0.1], [0.9]], dtype=torch.float64)
    zero = torch.zeros(1, dtype=torch.float64)
    found = sqp.minimize(
        evaluate,
        start,
        zero,
        zero + 1,
        radius=0.1,
        steps=4,
        worthwhile=lambda progress: np.array([True, progress.steps < 2]),
    )
    assert evaluated == [[0, 1], [0, 1], [0, 1], [0], [0]]
    assert abs(found.x[0, 0] - 0.5) < abs(found.x[1, 0] - 0.5) < 0.4
    assert found.beyond[0] == found.x[0]
    assert abs(found.beyond[1, 0] - 0.5) < abs(found.x[1, 0] - 0.5)


def test_a_step_of_a_quadratic_function_gains_what_it_was_to():
    """And nothing where it is not taken: the second function is no number beyond its start."""
    seen = []

    def evaluate(x, which):
        values = (x - 0.5).square().sum(-1, keepdim=True)
        return torch.where((which == 1)[:, None] & (x != 0.9), torch.nan, values), 2 * (x - 0.5)[:, None]

    def goes_on(progress):
        seen.append(progress)
        return np.full(2, progress.steps == 0)

    start, zero = torch.tensor([[0.1], [0.9]], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    curvature = lambda weights, which: torch.full((2, 1, 1), 2.0, dtype=torch.float64)  # noqa: E731
    sqp.minimize(evaluate, start, zero, zero + 1, radius=0.2, worthwhile=goes_on, curvature=curvature)
    before, after = seen
    assert (before.steps, after.steps) == (0, 1)
    np.testing.assert_allclose(before.expected, 0.12)
    gained = (before.values - after.values)[:, 0]
    np.testing.assert_allclose(gained, [0.12, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("gained", "following"),
    [(0.8, 0.5), (0.2, 0.2), (0.05, 0.2 * 0.5 / 0.95), (0.0, 0.1), (-1.0, 0.05), (-100.0, 0.02), (math.nan, 0.02)],
)
def test_how_long_the_next_step_may_be_by_the_share_of_what_was_expected(gained, following):
    tried = []

    def evaluate(x):
        tried.append(x.item())
        return x * 0 - (len(tried) > 1) * 0.2 * gained, torch.full((1, 1, 1), -1.0)

    start, zero = torch.zeros(1, 1), torch.zeros(1)
    sqp.minimize(evaluate, start, zero, zero + 1, radius=0.2, steps=2, curvature=lambda *_: torch.full((1, 1, 1), 1e-6))
    reached = 0.2 if gained > 0 else 0.0
    np.testing.assert_allclose(tried, [0.0, 0.2, reached + following], rtol=1e-5)


def test_a_hessian_that_is_positive_definite_stays_and_others_have_the_absolute_values_of_their_eigenvalues():
    hessians = np.stack([np.diag([2.0, 3.0]), np.diag([2.0, -3.0]), [[0.0, 2.0], [2.0, 0.0]], np.diag([1.0, 1e-9])])
    expected = np.stack([np.diag([2.0, 3.0]), np.diag([2.0, 3.0]), 2 * np.eye(2), np.diag([1.0, sqp.LEAST_CURVATURE])])
    np.testing.assert_allclose(sqp._positive(hessians.copy()), expected, atol=1e-12)
