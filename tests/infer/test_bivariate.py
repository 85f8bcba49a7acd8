"""The bivariate normal distribution function: against scipy, closed forms, and its own difference quotients."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from torch import Tensor

from pesky.infer.bivariate import bivariate_cdf, cdf


def value(a: float, b: float, r: float) -> float:
    return float(bivariate_cdf(*(torch.tensor(t) for t in (a, b, r))))


def several(n: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    a, b = 2 * torch.randn(2, n, generator=g)
    return a, b, 2 * torch.rand(n, generator=g) - 1


@pytest.mark.parametrize("r", [-0.999999, -0.97, -0.9251, -0.9249, -0.5, 0.0, 0.3, 0.9249, 0.9251, 0.99, 0.999999])
def test_it_is_scipys(r: float):
    for a, b in [
        (0.0, 0.0),
        (1.0, 1.0),
        (1.0, -1.0),
        (-2.0, 1.5),
        (0.3, 0.31),
        (-3.0, 3.01),
        (5.0, -5.0),
        (-2.5, -2.4),
    ]:
        theirs = multivariate_normal(cov=np.array([[1.0, r], [r, 1.0]])).cdf([a, b])  # pyright: ignore[reportArgumentType]
        assert value(a, b, r) == pytest.approx(float(theirs), abs=1e-12)


@pytest.mark.parametrize("r", [-1 + 1e-12, -0.99, -0.93, -0.92, -0.4, 0.0, 0.7, 0.924, 0.926, 0.9999, 1 - 1e-14])
def test_at_zero_it_is_an_angle(r: float):
    assert value(0.0, 0.0, r) == pytest.approx(0.25 + math.asin(r) / (2 * math.pi), abs=1e-15)


def test_equal_and_opposite_variables():
    a, b, _ = several(100)
    one = torch.ones_like(a)
    torch.testing.assert_close(bivariate_cdf(a, b, one), cdf(torch.minimum(a, b)), rtol=0, atol=1e-15)
    torch.testing.assert_close(bivariate_cdf(a, b, -one), (cdf(a) - cdf(-b)).clamp(min=0.0), rtol=0, atol=1e-15)


def test_the_four_quadrants_are_everything():
    a, b, r = several(2000)
    total = sum(bivariate_cdf(s * a, t * b, s * t * r) for s in (1, -1) for t in (1, -1))
    torch.testing.assert_close(total, torch.ones_like(a), rtol=0, atol=3e-15)
    torch.testing.assert_close(bivariate_cdf(a, b, r) + bivariate_cdf(a, -b, -r), cdf(a), rtol=0, atol=2e-15)


def test_far_out_it_is_the_probability_of_the_other_alone():
    for r in (-1.0, -0.95, -0.3, 0.0, 0.6, 0.999, 1.0):
        for far in (40.0, 1e9):
            assert value(far, 0.5, r) == pytest.approx(float(cdf(torch.tensor(0.5))), abs=1e-15)
            assert value(-1.2, far, r) == pytest.approx(float(cdf(torch.tensor(-1.2))), abs=1e-15)
            assert value(-far, 0.5, r) == value(0.5, -far, r) == value(-far, -far, r) == 0.0
            assert value(far, far, r) == pytest.approx(1.0)
    # never more than either alone, to full precision
    a = torch.tensor(-20.0)
    assert 0 < value(-20.0, 30.0, 0.5) <= float(cdf(a)) == pytest.approx(2.75362412e-89, rel=1e-8)


def test_gradients():
    a, b, r = (t.requires_grad_() for t in several(12))
    assert torch.autograd.gradcheck(bivariate_cdf, (a, b, r), atol=1e-7)
    near = torch.cat([torch.full((6,), 1 - 1e-4), torch.full((6,), -1 + 1e-4)]).requires_grad_()
    assert torch.autograd.gradcheck(bivariate_cdf, (a, b, near), eps=1e-7, atol=1e-5)


def test_gradients_are_finite_everywhere():
    grid = torch.tensor([-1e9, -40.0, -1.0, 0.0, 1.0, 40.0, 1e9])
    a, b, r = (t.clone().requires_grad_() for t in torch.cartesian_prod(grid, grid, torch.tensor([-1.0, -0.3, 1.0])).T)
    for gradient in torch.autograd.grad(bivariate_cdf(a, b, r).sum(), (a, b, r)):
        assert torch.isfinite(gradient).all()
