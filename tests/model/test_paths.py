"""Draws have the posterior's mean and covariance, and their gradients are those of their values."""

import pytest
import torch
from small_beliefs import hyperparameters, make_belief

from pesky.model import GaussianProcess, Hyperparameters, gp

MASK = torch.tensor([[True] * 6, [True, True, False, True, False, False]])


def points(n: int, d: int = 2) -> torch.Tensor:
    return torch.rand(n, d, generator=torch.Generator().manual_seed(7))


@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("noise", [0.09, 1e-8])
def test_many_draws_have_the_posteriors_mean_and_covariance(kernel, noise):
    belief = make_belief(kernel=kernel, mask=MASK, noise=noise, lengthscale=0.4, mean=0.5)
    X = points(6)
    values = torch.cat(
        [
            belief.paths(2000, torch.Generator().manual_seed(s)).values(X)
            for s in range(12)  # frequencies are shared by the draws of one call
        ],
        1,
    )
    mean, covariance = belief.mean(X), belief.covariance(X, X)
    torch.testing.assert_close(values.mean(1), mean, rtol=0, atol=0.035)
    centered = values - values.mean(1, keepdim=True)
    found = centered.mT @ centered / values.shape[1]
    torch.testing.assert_close(found, covariance, rtol=0, atol=0.05)
    # at data the draws spread by what the noise leaves
    at_data = belief.paths(4000, torch.Generator().manual_seed(0)).values(belief.X[0])
    spread = belief.variance(belief.X[0])[0]
    torch.testing.assert_close(at_data[0].var(0), spread, rtol=0.12, atol=1e-6)


def test_the_prior_variance_is_exact_at_every_point(monkeypatch):
    """Pairs of cosine and sine: no feature count is too small for the variance far from data."""
    none = torch.zeros(1, 0, dtype=torch.bool)
    belief = GaussianProcess("se", torch.zeros(1, 0, 2), torch.zeros(1, 0), none, hyperparameters(1, 2, amplitude=2.0))
    monkeypatch.setattr(gp, "FEATURES", 4)
    values = belief.paths(100_000, torch.Generator().manual_seed(0)).values(points(5))
    torch.testing.assert_close(values.var(1), torch.full((1, 5), 2.0), rtol=0.03, atol=0)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_at_is_the_diagonal_of_values_with_its_gradient(kernel):
    paths = make_belief(rows=3, kernel=kernel, mean=0.3).paths(5, torch.Generator().manual_seed(0))
    X = points(5)
    value, gradient = paths.at(X)
    torch.testing.assert_close(value, paths.values(X).diagonal(dim1=-2, dim2=-1))
    for i in range(2):
        move = torch.zeros(2)
        move[i] = 1e-6
        numeric = (paths.at(X + move)[0] - paths.at(X - move)[0]) / 2e-6
        torch.testing.assert_close(gradient[..., i], numeric, rtol=1e-5, atol=1e-6)


def test_select_gives_the_draws_with_these_numbers():
    paths = make_belief().paths(6, torch.Generator().manual_seed(0))
    X, index = points(4), torch.tensor([4, 0, 4, 2])
    chosen = paths.select(index)
    torch.testing.assert_close(chosen.values(X), paths.values(X)[:, index])
    torch.testing.assert_close(chosen.at(X)[0], paths.values(X)[:, index].diagonal(dim1=-2, dim2=-1))


def test_draws_of_every_hyperparameter_sample_follow_its_own_posterior():
    one = make_belief(n=5, noise=1e-8)
    other = hyperparameters(2, 2, lengthscale=0.8, noise=1e-8)
    stacked = Hyperparameters(*(torch.stack(p) for p in zip(one.hyperparameters, other, strict=True)))
    both = GaussianProcess(one.kernel, one.X, one.y, one.mask, stacked)
    paths = both.paths(3, torch.Generator().manual_seed(0))
    at_data = paths.values(one.X[0].expand(2, 5, 2))
    torch.testing.assert_close(at_data, one.y[None, :, None].expand(2, 2, 3, 5), rtol=0, atol=5e-3)
    chosen = paths.select(torch.tensor([[2, 0], [1, 1]]))
    X = points(2).expand(2, 2, 2)
    torch.testing.assert_close(chosen.values(X)[0], paths.values(X)[0][:, [2, 0]])
    torch.testing.assert_close(chosen.values(X)[1], paths.values(X)[1][:, [1, 1]])
    torch.testing.assert_close(chosen.at(X)[0], chosen.values(X).diagonal(dim1=-2, dim2=-1))


def test_the_same_generator_gives_the_same_draws():
    belief, X = make_belief(), points(3)
    one, same, other = (belief.paths(2, torch.Generator().manual_seed(s)).values(X) for s in (5, 5, 6))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
