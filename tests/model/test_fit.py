"""Fitted hyperparameters are at least as good as SciPy's from the same starts."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize as scipy_minimize
from small_beliefs import make_belief
from torch.distributions import LogNormal, MultivariateNormal, Normal

from pesky.model import Hyperparameters
from pesky.model.evidence import marginal_likelihood
from pesky.model.fit import maximize
from pesky.model.hyper import noise_variance, padded_gram
from pesky.model.prior import LOG_AMPLITUDE, LOG_LENGTHSCALE, LOG_NOISE, log_prior

TYPICAL = torch.tensor([1.7])


def score(kernel, X, y, mask, noise, h: Hyperparameters) -> float:
    """Penalized log likelihood of one row at its best mean, from the definitions."""
    keep = mask[0]
    gram = padded_gram(kernel, X, mask, h)[0][keep][:, keep]
    inverse = torch.linalg.inv(gram)
    mean = (inverse.sum(0) @ y[0][keep]) / inverse.sum()
    value = MultivariateNormal(mean.expand(int(keep.sum())), gram).log_prob(y[0][keep])
    d = X.shape[-1]
    value = value + LogNormal(math.sqrt(2) + 0.5 * math.log(d), math.sqrt(3)).log_prob(h.lengthscale).sum()
    typical = y[0][keep].square().mean().log()
    value = value + Normal(typical, 1.0).log_prob(h.amplitude.log()).sum()
    if math.isnan(noise.item()):
        value = value + Normal(-6.0, 2.0).log_prob(h.noise.log()).sum()
    return float(value)


@pytest.mark.parametrize("infer", [True, False])
def test_the_penalty_is_the_prior_with_its_gradient(infer):
    flat = torch.tensor([[math.log(0.3), math.log(0.9), math.log(2.0), math.log(0.02)]], requires_grad=True)
    h = Hyperparameters(flat[:, :2].exp(), flat[:, 2].exp(), flat[:, 3].exp(), torch.zeros(1))
    value, gradient = log_prior(h, torch.tensor([infer]), TYPICAL)
    (automatic,) = torch.autograd.grad(value.sum(), flat)
    torch.testing.assert_close(gradient, automatic)
    other = Hyperparameters(torch.tensor([[0.6, 0.5]]), torch.tensor([0.4]), torch.tensor([0.5]), torch.zeros(1))
    expected = 0.0
    for sign, each in ((1, h), (-1, other)):
        prior = LogNormal(math.sqrt(2) + 0.5 * math.log(2), math.sqrt(3)).log_prob(each.lengthscale).sum()
        prior = prior + Normal(TYPICAL.log(), 1.0).log_prob(each.amplitude.log()).sum()
        prior = prior + infer * Normal(-6.0, 2.0).log_prob(each.noise.log()).sum()
        expected += sign * prior.item()
    difference = value - log_prior(other, torch.tensor([infer]), TYPICAL)[0]
    assert difference.item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("kernel", "n", "d", "noise", "given"),
    [
        ("se", 12, 1, 0.05, math.nan),
        ("matern52", 15, 2, 0.1, math.nan),
        ("se", 25, 2, 1e-2, 1e-2),
        ("matern52", 25, 3, 1e-10, 0.0),
        ("se", 20, 1, 1e-10, 0.0),
        ("se", 40, 2, 1e-10, 0.0),
        ("se", 5, 2, 0.3, math.nan),
    ],
)
def test_the_maximum_is_no_worse_than_scipys_from_the_same_starts(kernel, n, d, noise, given):
    belief = make_belief(rows=1, n=n, d=d, kernel=kernel, noise=max(noise, 1e-9), lengthscale=0.4, seed=n)
    y = (belief.y - belief.y.mean()) / belief.y.std()
    data = (kernel, belief.X, y, belief.mask)
    variance = torch.tensor([given])

    def unpack(flat: np.ndarray) -> Hyperparameters:
        p = torch.as_tensor(flat)
        amplitude = p[None, d].exp()
        return Hyperparameters(
            p[None, :d].exp(), amplitude, noise_variance(p[None, d + 1], amplitude, variance), torch.zeros(1)
        )

    def loss(p: np.ndarray) -> float:
        try:
            return -score(*data, variance, unpack(p))
        except (RuntimeError, ValueError):
            return 1e10

    bounds = [LOG_LENGTHSCALE] * d + [LOG_AMPLITUDE, LOG_NOISE]
    starts = [[math.log(length * math.sqrt(d))] * d + [0.0, s] for length, s in ((0.25, -8.0), (1.0, -4.0))]
    theirs = min(scipy_minimize(loss, s, bounds=bounds, method="L-BFGS-B").fun for s in starts)
    # of several maxima as high as each other the one or the other is found
    assert -score(*data, variance, maximize(*data, variance)) <= theirs + 0.1


def test_every_row_is_fitted_by_itself():
    belief = make_belief(rows=3, n=10, mask=torch.arange(10)[None] < torch.tensor([10, 6, 8])[:, None])
    noise = torch.tensor([math.nan, 0.01, math.nan])
    together = maximize("se", belief.X, belief.y, belief.mask, noise)
    for row in range(3):
        pick = slice(row, row + 1)
        alone = maximize("se", belief.X[pick], belief.y[pick], belief.mask[pick], noise[pick])
        for whole, single in zip(together, alone, strict=True):
            # alone it may stop a step earlier
            torch.testing.assert_close(whole[pick], single, rtol=1e-3, atol=1e-8)
    assert together.noise[1].item() == 0.01
    best = marginal_likelihood("se", belief.X, belief.y, belief.mask, together).mean
    torch.testing.assert_close(together.mean, best)


def test_the_previous_hyperparameters_are_a_start():
    """From a local maximum that the fixed starts do not reach, or from the best one, it never gets worse."""
    belief = make_belief(rows=1, n=12, seed=3)
    noise = torch.tensor([math.nan])
    data = ("matern52", belief.X, belief.y, belief.mask)
    cold = maximize(*data, noise)
    warm = maximize(*data, noise, previous=cold)
    assert score(*data, noise, warm) >= score(*data, noise, cold) - 1e-6
    few = maximize(*data, noise, previous=cold, steps=1)
    assert score(*data, noise, few) >= score(*data, noise, cold) - 1e-6


def test_hyperparameters_of_the_truth_are_found_from_many_data():
    belief = make_belief(rows=1, n=150, d=1, lengthscale=0.15, noise=0.04, amplitude=2.0, seed=1)
    found = maximize("se", belief.X, belief.y, belief.mask, torch.tensor([math.nan]))
    assert found.lengthscale.item() == pytest.approx(0.15, rel=0.25)
    assert found.noise.item() == pytest.approx(0.04, rel=0.35)


def test_no_data_and_one_datum_give_finite_hyperparameters():
    for n in (0, 1):
        X, y, mask = torch.rand(2, n, 3), torch.zeros(2, n), torch.ones(2, n, dtype=torch.bool)
        for noise in (math.nan, 0.0):
            for part in maximize("matern52", X, y, mask, torch.full((2,), noise)):
                assert torch.isfinite(part).all()
