"""Batched sequential separable programs on problems with known solutions, and the programs against those of `sqp`."""

import numpy as np
import pytest
import torch
from torch import Tensor

from pesky.numerics import quadratic, separable
from pesky.test_functions.toy import OPTIMUM_VALUE, toy_truth


def solve(function, start, steps: int = 30, length: Tensor | None = None) -> separable.Lowest:
    start = torch.as_tensor(start, dtype=torch.float64).mT.contiguous()

    def evaluate(x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().requires_grad_()
        values = function(x.mT).mT
        return values.detach(), torch.stack([torch.autograd.grad(v.sum(), x, retain_graph=True)[0] for v in values])

    length = torch.ones_like(start) if length is None else length[:, None].expand_as(start)
    return separable.minimize(evaluate, start, length=length, radius=0.1, steps=steps, tolerance=1e-6)


@pytest.mark.parametrize(("d", "k"), [(2, 1), (5, 2), (20, 3), (3, 5)])
def test_programs_are_those_of_sqp_with_a_diagonal_hessian(d, k):
    g, b = torch.Generator().manual_seed(d), 40
    curvature, gradient = 0.1 + torch.rand(d, b, generator=g), torch.randn(d, b, generator=g)
    normals, offsets = torch.randn(k, d, b, generator=g), torch.randn(k, b, generator=g)
    low, high, elasticity = -torch.rand(d, b, generator=g), torch.rand(d, b, generator=g), torch.full((b,), 20.0)
    given = (curvature, gradient, normals, offsets, low, high, elasticity)
    p, multiplier = separable.separable_program(*(each.numpy() for each in given), iterations=12)
    hessian, normals = torch.diag_embed(curvature.mT), normals.permute(2, 0, 1)
    sides = (gradient.mT, normals, offsets.mT, low.mT, high.mT, elasticity[:, None])
    programs = quadratic.quadratic_program(*(each.numpy() for each in (hessian, *sides)), iterations=12)
    np.testing.assert_allclose(p.T, programs[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(multiplier.T, programs[1], rtol=1e-5, atol=1e-9)


def test_a_program_without_constraints_is_a_step_that_stays_in_its_box():
    ones, gradient = np.ones((2, 1)), np.array([[1.0], [-8.0]])
    p, _ = separable.separable_program(4 * ones, gradient, ones[None][:0], ones[:0], -ones, ones, ones[0])
    np.testing.assert_allclose(p, [[-0.25], [1.0]])


def test_the_toy_problem_is_solved_from_near_its_optimum():
    found = solve(toy_truth, [[0.3, 0.5], [0.15, 0.35], [0.25, 0.3]])
    torch.testing.assert_close(found.objective, torch.full((3,), OPTIMUM_VALUE), rtol=0, atol=1e-4)
    assert (found.violation <= 1e-6).all()


def test_what_it_finds_is_feasible_where_the_start_is_and_no_worse_than_it():
    start = torch.rand(300, 2, generator=torch.Generator().manual_seed(2))
    before = toy_truth(start).mT
    was_feasible = (before[1:] >= 0).all(0)
    for steps in (1, 3, 10):
        found = solve(toy_truth, start, steps)
        assert (found.violation <= 1e-6)[was_feasible].all()
        assert (found.objective <= before[0])[was_feasible].all()
        assert (found.violation <= (-before[1:]).clamp(min=0).amax(0) + 1e-6).all()


def test_each_element_is_solved_by_itself():
    start = torch.rand(5, 2, generator=torch.Generator().manual_seed(3))
    whole = solve(toy_truth, start, 12)
    for i in range(5):
        torch.testing.assert_close(whole.x[:, i : i + 1], solve(toy_truth, start[i : i + 1], 12).x, rtol=0, atol=1e-9)


def test_contradictory_constraints_give_the_least_violation():
    found = solve(lambda x: torch.stack([x[:, 0] * 1e-3, x[:, 0] - 0.6, 0.4 - x[:, 0]], -1), [[0.05], [0.95]])
    torch.testing.assert_close(found.violation, torch.full((2,), 0.1), rtol=0, atol=0.1)
    assert ((found.x > 0.4 - 1e-4) & (found.x < 0.6 + 1e-4)).all()


def test_units_in_which_curvatures_are_alike_are_found_in_one_step_of_a_valley():
    stretch = torch.tensor([1.0, 30.0])
    valley = lambda x: ((x - 0.55) / stretch).square().sum(-1)[:, None]  # noqa: E731
    alike, others = (float(solve(valley, [[0.5, 0.9]], 10, each).objective) for each in (stretch, torch.ones(2)))
    assert alike < 0.1 * others


def test_what_is_no_number_is_not_accepted():
    found = solve(lambda x: torch.stack([x[:, 0] + (x[:, 0] - 0.3).sqrt(), x[:, 1]], -1), [[0.5, 0.5]])
    assert torch.isfinite(found.objective).all()
    assert (found.x[0] >= 0.3).all()
