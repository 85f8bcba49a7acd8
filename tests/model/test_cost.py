"""Prices: those given, those learnt from durations, and durations that are hard on a logarithm."""

import pytest
import torch
from small_beliefs import difference_quotient

from pesky.model import GaussianProcess
from pesky.model.cost import REACH, SHORTEST, learn_costs
from pesky.model.fit import maximize

NONE = (torch.zeros(0, 2), torch.zeros(0))


def seconds(X: torch.Tensor) -> torch.Tensor:
    return torch.exp(1.5 * X[:, 0] - 2 * X[:, 1] + 0.5)


def points(n: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(n, 2, generator=torch.Generator().manual_seed(seed))


def test_a_price_is_given_learnt_a_mean_or_one():
    X = points(20)
    measured = [NONE, (X, seconds(X)), (X[:2], seconds(X[:2])), NONE]
    prices = learn_costs([2.5, None, None, None], measured, None)(points(30, 1))
    assert prices.shape == (30, 4)
    assert (prices[:, 0] == 2.5).all()
    torch.testing.assert_close(prices[:, 1], seconds(points(30, 1)), rtol=0.01, atol=0)
    torch.testing.assert_close(prices[:, 2], seconds(X[:2]).mean().expand(30))
    assert (prices[:, 3] == 1.0).all()


def test_without_anything_learnt_prices_are_constant():
    prices = learn_costs([0.1, None], [NONE, NONE])
    assert torch.equal(prices(points(3)), torch.tensor([[0.1, 1.0]] * 3))


def test_tasks_are_learnt_each_from_its_own_durations():
    X, Z = points(12), points(7, 2)
    both = learn_costs([None, None], [(X, seconds(X)), (Z, 10 * seconds(Z.flip(1)))])
    at = points(9, 3)
    for task, one in enumerate(((X, seconds(X)), (Z, 10 * seconds(Z.flip(1))))):
        torch.testing.assert_close(both(at)[:, task], learn_costs([None], [one])(at)[:, 0], rtol=1e-2, atol=0)


def test_noise_is_smoothed():
    g = torch.Generator().manual_seed(0)
    X = points(60)
    noisy = seconds(X) * torch.exp(0.3 * torch.randn(60, generator=g))
    found = learn_costs([None], [(X, noisy)])(X)[:, 0]
    assert (found / seconds(X)).log().square().mean().sqrt() < 0.15


def test_a_price_is_the_expectation_of_a_log_normal():
    X = points(4)
    log = seconds(X).log()
    y, mask = ((log - log.mean()) / log.std(correction=0))[None], torch.ones(1, 4, dtype=torch.bool)
    belief = GaussianProcess(
        "matern52", X[None], y, mask, maximize("matern52", X[None], y, mask, torch.tensor([torch.nan]))
    )
    at = torch.cat([X + 0.05, torch.tensor([[0.0, 1.0], [1.0, 0.0]])])
    scale = log.std(correction=0)
    expected = torch.exp(log.mean() + scale * belief.mean(at)[0] + scale.square() * belief.variance(at)[0] / 2)
    torch.testing.assert_close(learn_costs([None], [(X, seconds(X))])(at)[:, 0], expected)
    assert (scale.square() * belief.variance(at)[0]).max() > 0.1  # the variance does matter


def test_prices_are_differentiable():
    X = points(10)
    prices = learn_costs([1.0, None], [NONE, (X, seconds(X))])
    at = points(5, 4).requires_grad_()
    (gradient,) = torch.autograd.grad(prices(at)[:, 1].sum(), at)
    numeric = difference_quotient(lambda x: prices(x)[:, 1], at.detach())
    torch.testing.assert_close(gradient, numeric, rtol=1e-4, atol=1e-6)
    assert gradient.abs().min() > 0.01


def test_extrapolation_stays_within_reach_of_what_was_seen():
    """Without bounds, the expectation of so wide a log-normal would exceed a thousand times the longest duration."""
    X = points(6)
    measured = torch.tensor([1e-4, 1.0, 1e4, 1e-3, 1e3, 10.0])
    prices = learn_costs([None], [(X, measured)])(points(200, 1))[:, 0]
    assert (prices >= measured.min() / REACH * 0.999).all()
    assert prices.max().item() == pytest.approx(measured.max().item() * REACH)


@pytest.mark.parametrize("measured", [torch.zeros(5), torch.full((5,), 1e-12), torch.tensor([-1.0, 0, 0, 1e-300, 0])])
def test_durations_of_nothing_are_floored(measured):
    prices = learn_costs([None], [(points(5), measured)])(points(4, 1))
    assert (prices > SHORTEST / REACH).all()
    assert (prices < SHORTEST * REACH).all()
    few = learn_costs([None], [(points(1), measured[:1])])(points(4, 1))
    torch.testing.assert_close(few, torch.full((4, 1), SHORTEST))


def test_equal_durations_are_that_price_everywhere():
    prices = learn_costs([None], [(points(6), torch.full((6,), 0.3))])(points(20, 1))
    torch.testing.assert_close(prices, torch.full((20, 1), 0.3), rtol=1e-2, atol=0)


def test_integers_are_seen_as_what_is_measured():
    def snap(u: torch.Tensor) -> torch.Tensor:
        return (2 * u).round() / 2

    X = snap(points(10))
    prices = learn_costs([None], [(X, seconds(X))], snap)
    torch.testing.assert_close(prices(points(6, 1)), prices(snap(points(6, 1))))
