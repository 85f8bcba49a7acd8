"""Normal tails against forty digits, and Cholesky factors of singular matrices."""

import math

import mpmath
import pytest
import torch

from pesky.infer.gaussian import SERIES_BELOW, cholesky, log_cdf, log_density, log_expected_improvement, truncation

mpmath.mp.dps = 60


def exact_truncation(a: float) -> tuple[float, float]:
    """Shift and remaining variance of N(a, 1) kept above zero."""
    with mpmath.workdps(80):
        a = mpmath.mpf(a)
        hazard = mpmath.npdf(a) / (mpmath.erfc(-a / mpmath.sqrt(2)) / 2)
        return float(hazard), float(1 - hazard * (hazard + a))


@pytest.mark.parametrize("a", [-1e4, -3e3, -500.0, -100.0, -31.0, -30.001, -30.0, -29.9, -12.0, -3.0, -0.5])
def test_truncation_is_accurate_in_the_lower_tail(a):
    shift, remaining = truncation(torch.tensor(a), log_cdf(torch.tensor(a)))
    exact_shift, exact_remaining = exact_truncation(a)
    assert shift.item() == pytest.approx(exact_shift, rel=1e-8)
    # log_cdf's last digits of order a^2 are lost in the difference 1 - h (h + a) ~ 1 / a^2
    assert remaining.item() == pytest.approx(exact_remaining, rel=2e-6)


@pytest.mark.parametrize("a", [0.0, 0.3, 2.0, 5.0, 9.0])
def test_truncation_is_accurate_above_zero(a):
    shift, remaining = truncation(torch.tensor(a), log_cdf(torch.tensor(a)))
    exact_shift, exact_remaining = exact_truncation(a)
    assert shift.item() == pytest.approx(exact_shift, rel=1e-12)
    assert remaining.item() == pytest.approx(exact_remaining, rel=1e-12)


def test_truncation_far_above_zero_changes_nothing():
    a = torch.tensor([15.0, 40.0])
    shift, remaining = truncation(a, log_cdf(a))
    assert (shift < 1e-40).all()
    assert torch.equal(remaining, torch.ones(2))


def test_truncation_has_finite_gradients_everywhere():
    a = torch.tensor([-1e4, -50.0, -30.0, -1.0, 0.0, 1.0, 40.0], requires_grad=True)
    gradient = torch.autograd.grad(torch.stack(truncation(a, log_cdf(a))).sum(), a)[0]
    assert torch.isfinite(gradient).all()


def test_log_density_and_log_cdf_are_those_of_the_normal():
    a = torch.tensor([-3.0, 0.0, 1.5])
    normal = torch.distributions.Normal(0.0, 1.0)
    torch.testing.assert_close(log_density(a), normal.log_prob(a))
    torch.testing.assert_close(log_cdf(a), normal.cdf(a).log())


def exact_log_improvement(u: float) -> tuple[float, float]:
    """Log of phi(u) + u Phi(u), and its derivative Phi(u) / (phi(u) + u Phi(u))."""
    with mpmath.workdps(80):
        u = mpmath.mpf(u)
        cdf = mpmath.erfc(-u / mpmath.sqrt(2)) / 2
        improvement = mpmath.npdf(u) + u * cdf
        return float(mpmath.log(improvement)), float(cdf / improvement)


@pytest.mark.parametrize(
    "u",
    [-1e12, -1e7, -1e4, -300.0, SERIES_BELOW - 1e-9, SERIES_BELOW, -29.9, -12.0, -6.0, -1.0 - 1e-9, -1.0, -0.9, -0.3,
     0.0, 0.5, 3.0, 10.0, 40.0, 1e7],
)  # fmt: skip
def test_the_log_of_the_expected_improvement_is_right_to_twelve_digits_in_both_tails(u: float):
    here = torch.tensor([u, 0.0], requires_grad=True)
    value = log_expected_improvement(here)
    (slope,) = torch.autograd.grad(value[0], here)
    exact_value, exact_slope = exact_log_improvement(u)
    assert value[0].item() == pytest.approx(exact_value, rel=1e-12, abs=1e-14)
    assert slope[0].item() == pytest.approx(exact_slope, rel=1e-12)
    assert slope[1].item() == 0.0


def test_the_log_of_the_expected_improvement_rises_and_is_minus_infinity_at_the_end():
    u = torch.cat([-torch.logspace(8, -8, 20_001), torch.logspace(-8, 8, 20_001)]).requires_grad_()
    value = log_expected_improvement(u)
    (slope,) = torch.autograd.grad(value.sum(), u)
    assert (value.diff() > 0).all()
    assert torch.isfinite(slope).all()
    assert (slope > 0).all()
    assert log_expected_improvement(torch.tensor(-torch.inf)) == -torch.inf


def test_cholesky_of_a_definite_matrix_adds_only_the_jitter():
    matrix = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    factor = cholesky(matrix, torch.tensor(100.0), jitter=1e-10)
    torch.testing.assert_close(factor @ factor.mT, matrix + 1e-8 * torch.eye(2), rtol=0, atol=1e-15)


@pytest.mark.parametrize("amplitude", [1e-8, 1.0, 1e8])
def test_cholesky_jitter_grows_until_a_singular_matrix_has_a_factor(amplitude):
    ones = torch.ones(4, 4)
    indefinite = amplitude * (ones - 3e-8 * torch.eye(4))  # fails up to a jitter of 1e-8
    factor = cholesky(indefinite, torch.tensor(amplitude))
    assert torch.isfinite(factor).all()
    left = (factor @ factor.mT - indefinite).diagonal() / amplitude
    torch.testing.assert_close(left, torch.full((4,), 1e-7), rtol=1e-4, atol=0)


def test_cholesky_escalates_only_where_it_fails():
    good, bad = torch.eye(2), torch.ones(2, 2) - 1e-6 * torch.eye(2)
    both = cholesky(torch.stack([good, bad]), torch.ones(2))
    torch.testing.assert_close(both[0], cholesky(good, torch.tensor(1.0)), rtol=0, atol=0)
    assert torch.isfinite(both).all()


def test_of_what_is_no_covariance_the_negative_eigenvalues_are_zero():
    """And nothing of its neighbors in the batch changes."""
    g = torch.Generator().manual_seed(1)
    rotation = torch.linalg.qr(torch.randn(3, 3, generator=g)).Q
    bad = (rotation * torch.tensor([-0.5, 0.7, 2.0])) @ rotation.mT
    good = torch.tensor([[2.0, 0.1, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.0]])
    factors = cholesky(torch.stack([bad, good]), torch.ones(2))
    expected = (rotation * torch.tensor([0.01, 0.71, 2.01])) @ rotation.mT
    torch.testing.assert_close(factors[0] @ factors[0].mT, expected, rtol=1e-12, atol=1e-12)
    assert torch.equal(factors[0], factors[0].tril())
    assert (factors[0].diagonal() > 0).all()
    assert torch.equal(factors[1], cholesky(good, torch.tensor(1.0)))


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_not_finite_has_no_factor_and_says_so(wrong):
    matrix = torch.eye(3)
    matrix[2, 1] = matrix[1, 2] = wrong
    factors = cholesky(torch.stack([matrix, torch.eye(3)]), torch.ones(2))
    assert torch.isnan(factors[0]).all()
    torch.testing.assert_close(factors[1], torch.eye(3))
