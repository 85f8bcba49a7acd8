"""Warps: increasing, zero kept, the identity in the limit, their slopes and inverses, and expectation back."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pesky.numerics.warp import Warp, expectation, log_slope, warped

STRENGTHS = [-1.5, -0.2, 0.0, 0.3, 4.0, 300.0]
SHIFTS = [-1.2, 0.0, 0.7]


def warp(strength: float, shift: float, unit: float = 0.6) -> Warp:
    return Warp(*(torch.tensor(part, dtype=torch.float64) for part in (strength, shift, unit, 0.0)))


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("strength", STRENGTHS)
def test_the_inverse_undoes_it_and_the_slope_is_the_derivative(strength, shift):
    w = warp(strength, shift)
    s = torch.linspace(-2.5, 2.45, 40, requires_grad=True)
    t = w.apply(s)
    torch.testing.assert_close(w.invert(t), s, rtol=1e-9, atol=1e-9)
    assert (t.diff() > 0).all()
    (slope,) = torch.autograd.grad(t.sum(), s)
    torch.testing.assert_close(w.slope(s.detach()), slope)


@pytest.mark.parametrize("shift", SHIFTS)
def test_zero_stays_zero_with_slope_one_and_a_weak_one_changes_nothing(shift):
    b, zero = torch.tensor(shift), torch.zeros(())
    for strength in STRENGTHS:
        a = torch.tensor(strength, dtype=torch.float64)
        assert abs(float(warped(zero, a, b))) < 1e-12
        assert abs(float(log_slope(zero, a, b))) < 1e-12
    s = torch.linspace(-2, 2, 9)
    for strength in (1e-5, -1e-5):
        torch.testing.assert_close(warped(s, torch.tensor(strength), b), s, rtol=1e-4, atol=1e-4)


@given(
    st.sampled_from(STRENGTHS),
    st.sampled_from(SHIFTS),
    st.floats(-1e4, 1e4) | st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-17, -1e-17, 1e-300, -1e-300]),
)
def test_thresholds_are_exact_however_close_a_value_is(strength, shift, value):
    w, s = warp(strength, shift), torch.tensor(value, dtype=torch.float64)
    t = w.apply(s)
    assert bool(t >= 0) == (value >= 0)
    back = w.invert(t)
    assert bool(back >= 0) == (value >= 0)
    assert float(w.invert(torch.zeros((), dtype=torch.float64))) >= 0


@pytest.mark.parametrize(("strength", "shift"), [(3.0, -1.0), (0.5, 0.2), (-0.8, 0.1)])
def test_the_expectation_back_is_that_of_monte_carlo(strength, shift):
    w = warp(strength, shift, 0.8)
    mean, variance = torch.tensor([0.3, -0.5]), torch.tensor([0.5, 0.04])
    z = torch.randn(400_000, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    drawn = w.invert(mean + variance.sqrt() * z)
    error = drawn.std(0) / math.sqrt(len(z))
    assert ((expectation(w.invert, mean, variance) - drawn.mean(0)).abs() < 4 * error).all()
