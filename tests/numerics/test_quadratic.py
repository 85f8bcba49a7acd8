"""Quadratic programs against SciPy, and from guesses of what is held."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize as scipy_minimize

from pesky.numerics import quadratic


def random_programs(count: int, d: int, k: int, seed: int):
    g = torch.Generator().manual_seed(seed)
    root = torch.randn(count, d, d, generator=g)
    hessian = root @ root.mT + 0.1 * torch.eye(d)
    gradient = 3 * torch.randn(count, d, generator=g)
    normals = torch.randn(count, k, d, generator=g)
    offsets = 0.5 * torch.randn(count, k, generator=g)
    low, high = -torch.rand(count, d, generator=g) - 0.05, torch.rand(count, d, generator=g) + 0.05
    return hessian.numpy(), gradient.numpy(), normals.numpy(), offsets.numpy(), low.numpy(), high.numpy()


@pytest.mark.parametrize(("given", "tolerance"), [({}, 2e-2), ({"iterations": 17}, 1e-4)], ids=["default", "many"])
@pytest.mark.parametrize(("d", "k"), [(1, 0), (1, 1), (2, 1), (3, 2), (4, 4)])
def test_quadratic_programs_agree_with_scipy(d, k, given, tolerance):
    elasticity = 20.0
    hessian, gradient, normals, offsets, low, high = random_programs(12, d, k, seed=10 * d + k)
    p, multiplier, _ = quadratic.quadratic_program(hessian, gradient, normals, offsets, low, high, elasticity, **given)
    assert ((p >= low) & (p <= high)).all()
    assert ((multiplier >= 0) & (multiplier <= elasticity)).all()
    for i in range(12):
        H, g, A, b = (each[i] for each in (hessian, gradient, normals, offsets))

        def value(z: np.ndarray, H=H, g=g) -> float:
            return 0.5 * z[:d] @ H @ z[:d] + g @ z[:d] + elasticity * z[d:].sum()

        theirs = scipy_minimize(
            value,
            np.concatenate([np.zeros(d), np.maximum(0, -b)]),
            jac=lambda z, H=H, g=g: np.concatenate([H @ z[:d] + g, np.full(k, elasticity)]),
            bounds=[*zip(low[i].tolist(), high[i].tolist(), strict=True), *[(0, None)] * k],
            constraints=[{"type": "ineq", "fun": lambda z, A=A, b=b: A @ z[:d] + b + z[d:]}] if k else [],
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
        )
        ours = np.concatenate([p[i], np.maximum(0, -(A @ p[i] + b))])
        assert value(ours) <= theirs.fun + tolerance * (1 + abs(theirs.fun))


@pytest.mark.parametrize("iterations", [8, 12, 25])
def test_quadratic_programs_stay_finite_when_a_constraint_cannot_be_met(iterations):
    given = random_programs(12, 2, 1, seed=21)
    for part in quadratic.quadratic_program(*given, 20.0, iterations=iterations):
        assert np.isfinite(part).all()


@pytest.mark.parametrize("slope", [1.0, 1e-3, 1e-6, 0.0])
def test_a_violated_constraint_is_stepped_towards_however_flat_the_objective(slope):
    """With x + 0.2 y >= 0.5 out of reach of a box of 0.1, the solution is the corner nearest to it."""
    p, *_ = quadratic.quadratic_program(
        np.eye(2)[None] * max(slope, 1e-8),
        np.full((1, 2), slope),
        np.array([[[1.0, 0.2]]]),
        np.array([[-0.5]]),
        np.full((1, 2), -0.1),
        np.full((1, 2), 0.1),
        20.0,
    )
    np.testing.assert_allclose(p, np.full((1, 2), 0.1), rtol=0, atol=2e-3)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_box_programs_agree_with_scipy(d):
    hessian, gradient, _, _, low, high = random_programs(12, d, 0, seed=d)
    p = quadratic.box_program(hessian, gradient, low, high, iterations=12)
    assert ((p >= low) & (p <= high)).all()
    for i in range(12):
        H, g = hessian[i], gradient[i]
        bounds = list(zip(low[i].tolist(), high[i].tolist(), strict=True))
        theirs = scipy_minimize(lambda z, H=H, g=g: 0.5 * z @ H @ z + g @ z, np.zeros(d), bounds=bounds, tol=1e-12)
        ours = p[i]
        assert 0.5 * ours @ H @ ours + g @ ours <= theirs.fun + 0.02 * abs(theirs.fun)


def test_multipliers_are_those_of_the_active_constraints():
    """Min (p - 1)^2 / 2 with p <= 0.4 has the multiplier 0.6; a slack constraint has none."""
    p, multiplier, _ = quadratic.quadratic_program(
        np.ones((1, 1, 1)),
        np.array([[-1.0]]),
        np.array([[[-1.0], [-1.0]]]),
        np.array([[0.4, 0.9]]),
        np.full((1, 1), -5.0),
        np.full((1, 1), 5.0),
        20.0,
        iterations=12,
    )
    assert p.item() == pytest.approx(0.4, abs=1e-4)
    np.testing.assert_allclose(multiplier[0], [0.6, 0.0], rtol=0, atol=1e-3)


def merit(program, p):
    """The objective of each program with its violations at their price."""
    hessian, gradient, normals, offsets, _, _, elasticity = program
    short = np.maximum(-(quadratic.times(normals, p) + offsets), 0.0)
    return ((0.5 * quadratic.times(hessian, p) + gradient) * p).sum(-1) + (elasticity * short).sum(-1)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (2, 2), (6, 3), (12, 1)])
def test_a_guess_leads_to_the_exact_solution_or_says_that_it_does_not(d, k):
    program = (*random_programs(40, d, k, seed=d), np.full((40, 1), 20.0))
    nearly = quadratic.quadratic_program(*program, iterations=12)
    assert set(np.unique(nearly.held)) <= {-1, 0, 1}
    found, is_solved = quadratic.from_guess(*program, nearly.held)
    assert is_solved.all()
    np.testing.assert_array_equal(found.held, nearly.held)
    np.testing.assert_allclose(found.p, nearly.p, rtol=0, atol=2e-3)
    np.testing.assert_allclose(found.multiplier, nearly.multiplier, rtol=0, atol=1e-2)
    assert (merit(program, found.p) <= merit(program, nearly.p) + 1e-9).all()

    nothing_known = np.zeros_like(nearly.held)
    blind, is_solved = quadratic.from_guess(*program, nothing_known)
    assert is_solved.mean() > 0.5
    np.testing.assert_allclose(blind.p[is_solved], found.p[is_solved], rtol=0, atol=1e-8)


def test_what_is_held_tells_bounds_from_multipliers_and_from_violations():
    """P -> (low, high, between), the first constraint without effect, the second met, the third out of reach."""
    hessian, gradient = np.eye(3)[None], np.array([[5.0, -5.0, 0.3]])
    normals, offsets = np.array([[[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]]), np.array([[2.0, 0.2, -9.0]])
    program = (hessian, gradient, normals, offsets, np.full((1, 3), -1.0), np.ones((1, 3)), np.full((1, 1), 20.0))
    p, multiplier, held = quadratic.quadratic_program(*program, iterations=14)
    np.testing.assert_array_equal(held, [[-1, 1, 0, -1, 0, 1]])
    np.testing.assert_allclose(p, [[-1.0, 1.0, -0.2]], atol=1e-8)
    np.testing.assert_allclose(multiplier, [[0.0, 0.1, 20.0]], atol=1e-8)
    found, is_solved = quadratic.from_guess(*program, held)
    assert is_solved.all()
    np.testing.assert_allclose(found.p, p, atol=1e-8)


def test_programs_that_no_guess_solves_are_solved_from_scratch(monkeypatch):
    program = (*random_programs(20, 4, 2, seed=3), np.full((20, 1), 20.0))
    expected = quadratic.quadratic_program(*program, iterations=12)
    wrong = expected.held.copy()
    wrong[::2] = -wrong[::2]
    monkeypatch.setattr(quadratic, "ROUNDS", 1)
    _, is_solved = quadratic.from_guess(*program, wrong)
    assert not is_solved.all()
    found = quadratic.solve(*program, wrong, 12)
    np.testing.assert_allclose(found.p, expected.p, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(found.held, expected.held)


def test_constraints_that_agree_do_not_stop_a_guess():
    normals = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    program = (np.eye(2)[None], np.array([[1.0, 0.0]]), normals, np.full((1, 2), 0.1))
    sides = (np.full((1, 2), -1.0), np.full((1, 2), 1.0), np.full((1, 1), 20.0))
    found, _ = quadratic.from_guess(*program, *sides, np.zeros((1, 4), dtype=int))
    np.testing.assert_allclose(found.p, [[-0.1, 0.0]], atol=1e-8)


def test_what_rounding_errors_have_left_no_solution_is_not_taken_for_solved():
    """The last element is no number, and the one before it singular and unbounded."""
    hessian = np.stack([np.eye(2), np.zeros((2, 2)), np.full((2, 2), np.nan)])
    gradient, none = np.ones((3, 2)), np.zeros((3, 1, 2))
    program = (hessian, gradient, none, np.ones((3, 1)), np.full((3, 2), -5.0), np.full((3, 2), 5.0), np.ones((3, 1)))
    with np.errstate(all="ignore"):
        found, is_solved = quadratic.from_guess(*program, np.tile([0, 0, -1], (3, 1)))
    assert is_solved.tolist() == [True, False, False]
    np.testing.assert_allclose(found.p[0], [-1.0, -1.0])
