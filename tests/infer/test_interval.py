"""A normal variable within an interval, against 50 digits."""

import mpmath
import pytest
import torch

from pesky.infer.interval import CERTAIN, interval_moments, log_interval, standardize

INTERVALS = [(-1.0, 2.0), (0.1, 0.1001), (5.0, 6.0), (-31.0, -30.0), (200.0, 201.0), (8.0, 60.0), (-1e-9, 1e-9)]


@pytest.mark.parametrize(("low", "high"), INTERVALS, ids=str)
def test_probability_and_moments(low: float, high: float):
    with mpmath.workdps(50):
        # the same on the side of small numbers, where differences have digits
        a, b = (low, high) if low + high < 0 else (-high, -low)
        probability = mpmath.ncdf(mpmath.mpf(b)) - mpmath.ncdf(mpmath.mpf(a))
        density = [mpmath.npdf(mpmath.mpf(end)) for end in (low, high)]
        mean = (density[0] - density[1]) / probability
        variance = 1 + (low * density[0] - high * density[1]) / probability - mean**2
    ends = torch.tensor(low), torch.tensor(high)
    assert log_interval(*ends).item() == pytest.approx(float(mpmath.log(probability)), rel=1e-8)
    found = interval_moments(*ends)
    assert found[0].item() == pytest.approx(float(mean), rel=1e-8, abs=1e-12)
    assert found[1].item() == pytest.approx(float(variance), rel=1e-7)


def test_without_ends_nothing_is_kept_back():
    low, high = torch.tensor([-CERTAIN, -CERTAIN, 0.7]), torch.tensor([CERTAIN, -0.7, CERTAIN])
    torch.testing.assert_close(log_interval(low, high).exp(), torch.special.ndtr(torch.tensor([50.0, -0.7, -0.7])))
    mean, variance = interval_moments(low, high)
    torch.testing.assert_close(mean[1], -mean[2])
    torch.testing.assert_close(mean[0], torch.tensor(0.0), rtol=0, atol=1e-12)
    torch.testing.assert_close(variance[0], torch.tensor(1.0), rtol=0, atol=2e-8)


def test_gradients_are_finite_whatever_the_ends():
    mean = torch.tensor([0.0, 3.0, -50.0, 1e6, 0.5]).requires_grad_()
    deviation = torch.tensor([1.0, 1e-5, 1e-3, 1.0, 1e-8]).requires_grad_()
    for low, high in ((0.0, 1.0), (0.0, torch.inf), (-torch.inf, 1.0), (0.5, 0.5)):
        ends = [standardize(torch.tensor(end), mean, deviation) for end in (low, high)]
        total = log_interval(*ends).sum() + sum(part.sum() for part in interval_moments(*ends))
        for gradient in torch.autograd.grad(total, [mean, deviation]):
            assert torch.isfinite(gradient).all()
