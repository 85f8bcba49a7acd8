"""Hyperparameters of yes/no rows: the objective, its gradient, its maximum, and what a crash region looks like then."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.optimize import minimize as scipy_minimize
from torch.distributions import LogNormal, Normal

from pesky.likelihood.probit import YES_NO_NOISE
from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.binary import evidence, pseudo_measurements
from pesky.model.fit import LOG_LENGTHSCALE
from pesky.model.fit_binary import LOG_AMPLITUDE, MEAN, maximize, objective, unpack


def crashes(n: int, d: int = 1, seed: int = 0, threshold: float = 0.6):
    """Points of which those beyond the threshold crash: y = -1."""
    X = torch.rand(1, n, d, generator=torch.Generator().manual_seed(seed))
    return X, torch.where(X[..., 0] > threshold, -1.0, 1.0), torch.ones(1, n, dtype=torch.bool)


def pack(h: Hyperparameters) -> torch.Tensor:
    return torch.cat([h.lengthscale.log(), h.amplitude.log()[..., None], h.mean[..., None]], -1)


def score(kernel, X, y, mask, h: Hyperparameters) -> torch.Tensor:
    return objective(kernel, X, y, mask, pack(h)[None], None, 1e-9)[0][0]


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_the_objective_is_evidence_times_priors_with_its_gradient(kernel):
    X = torch.rand(2, 8, 2, generator=torch.Generator().manual_seed(1))
    y = torch.tensor([[1.0, 1, -1, 1, -1, -1, 1, 1], [1, 1, 1, 1, 1, 1, 0, 0]])
    data = (kernel, X, y, y != 0)
    p = torch.tensor([[[-1.0, -0.4, 1.2, 0.4], [-0.5, 0.3, 0.7, -0.3]], [[-1.5, -0.9, 2.2, 1.4], [0.5, 1.3, 0.1, 0.8]]])
    value, gradient, _ = objective(*data, p, None, 1e-10)
    for i in range(4):
        step = 1e-4 * torch.eye(4)[i]
        high, low = (objective(*data, p + sign * step, None, 1e-10)[0] for sign in (1, -1))
        torch.testing.assert_close(gradient[..., i], (high - low) / 2e-4, rtol=1e-5, atol=1e-6)

    def posterior(p: torch.Tensor) -> torch.Tensor:
        h = unpack(p)
        lengthscale = LogNormal(math.sqrt(2) + 0.5 * math.log(2), math.sqrt(3)).log_prob(h.lengthscale).sum(-1)
        amplitude = Normal(math.log(4.0), 1.0).log_prob(h.amplitude.log())
        mean = Normal(0.0, 1.0).log_prob(h.mean)
        return evidence(*data, h).log_z + lengthscale + amplitude + mean

    torch.testing.assert_close(value[0] - value[1], posterior(p[0]) - posterior(p[1]), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("n", "d"), [(6, 1), (15, 2), (40, 2), (25, 3)])
def test_the_maximum_is_no_worse_than_scipys_from_the_same_starts(n, d):
    data = ("matern52", *crashes(n, d))

    def loss(p: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient, _ = objective(*data, torch.as_tensor(p)[None, None], None, 1e-8)
        return -value.item(), -gradient[0, 0].numpy()

    bounds = [LOG_LENGTHSCALE] * d + [LOG_AMPLITUDE, MEAN]
    starts = [[math.log(length * math.sqrt(d))] * d + [math.log(4.0), 0.0] for length in (0.25, 1.0)]
    theirs = min(scipy_minimize(loss, s, jac=True, bounds=bounds, method="L-BFGS-B").fun for s in starts)
    assert -score(*data, maximize(*data, steps=60)).item() <= theirs + 0.01
    # the default stops a little earlier
    assert -score(*data, maximize(*data)).item() <= theirs + 0.1


def test_every_row_is_fitted_by_itself():
    X, y, _ = crashes(12, 2)
    X, y = torch.cat([X, X.flip(1)]), torch.cat([y, torch.where(X.flip(1)[..., 1] > 0.4, -1.0, 1.0)])
    mask = torch.arange(12)[None] < torch.tensor([12, 7])[:, None]
    y = torch.where(mask, y, 0.0)
    together = maximize("se", X, y, mask)
    assert not torch.allclose(together.lengthscale[0], together.lengthscale[1], rtol=0.1)
    for row in range(2):
        alone = maximize("se", X[row : row + 1], y[row : row + 1], mask[row : row + 1])
        for whole, single in zip(together, alone, strict=True):
            torch.testing.assert_close(whole[row : row + 1], single, rtol=5e-3, atol=5e-3)


def test_the_previous_hyperparameters_are_a_start():
    data = ("matern52", *crashes(15, 2))
    best = maximize(*data, steps=60)
    few = maximize(*data, previous=best, steps=1)
    assert score(*data, few).item() >= score(*data, best).item() - 1e-6
    assert score(*data, maximize(*data, steps=1)).item() < score(*data, best).item() - 0.01


@pytest.mark.parametrize("d", [1, 3])
def test_no_data_give_the_prior_and_a_datum_moves_it(d):
    nothing = maximize("se", torch.zeros(1, 0, d), torch.zeros(1, 0), torch.zeros(1, 0, dtype=torch.bool))
    assert nothing.amplitude.item() == pytest.approx(4.0, rel=0.05)
    assert nothing.mean.item() == pytest.approx(0.0, abs=1e-6)
    assert nothing.noise.item() == YES_NO_NOISE
    for answer in (1.0, -1.0):
        one = maximize("se", torch.full((1, 1, d), 0.4), torch.full((1, 1), answer), torch.ones(1, 1, dtype=torch.bool))
        assert 0.1 < answer * one.mean.item() < 1


def probability(h: Hyperparameters, kernel, X, y, mask, at: torch.Tensor) -> torch.Tensor:
    values, noise = pseudo_measurements(kernel, X, y, mask, h)
    belief = GaussianProcess(kernel, X, values, mask, h, None, ("probit",), noise)
    return torch.special.ndtr(belief.mean(at) / (1 + belief.variance(at)).sqrt())[0]


def test_a_crash_region_is_learnt_from_ten_points():
    X = torch.linspace(0.03, 0.97, 10)[None, :, None]
    data = ("matern52", X, torch.where(X[..., 0] > 0.6, -1.0, 1.0), torch.ones(1, 10, dtype=torch.bool))
    p = probability(maximize(*data), *data, torch.linspace(0, 1, 101)[:, None])
    assert (p[10:46] > 0.9).all()
    assert (p[78:95] < 0.1).all()
    assert 0.55 < 0.01 * (p > 0.5).sum() < 0.68
    assert (p[40:75].diff() < 0).all()


def test_always_yes_is_believed_more_with_every_answer():
    """And never so much that a no has become impossible."""
    at = torch.rand(50, 2, generator=torch.Generator().manual_seed(4))
    doubts = []
    for n in (1, 3, 10, 30, 100):
        X, _, mask = crashes(n, 2)
        data = ("matern52", X, torch.ones(1, n), mask)
        doubts.append(1 - probability(maximize(*data), *data, at).mean().item())
    assert all(more > less for more, less in pairwise(doubts))
    assert 1e-4 < doubts[-1] < 0.02


def test_three_hundred_answers_with_contradictions_are_fitted():
    X, y, mask = crashes(300, 2)
    flipped = torch.rand(1, 300, generator=torch.Generator().manual_seed(3)) < 0.1
    data = ("matern52", X, torch.where(flipped, -y, y), mask)
    h = maximize(*data)
    assert h.lengthscale[0, 0] < 0.5 * h.lengthscale[0, 1]  # only the first input matters
    p = probability(h, *data, torch.tensor([[0.3, 0.5], [0.9, 0.5]]))
    assert p[0] > 0.8
    assert p[1] < 0.25
