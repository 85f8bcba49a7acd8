"""Moments and their derivatives against autograd; and large matrices in blocks against whole ones."""

from dataclasses import replace

import pytest
import torch
from small_beliefs import make_belief
from torch import Tensor

from pesky.likelihood import Conditions
from pesky.model import GaussianProcess, Hyperparameters
from pesky.model import kernel as kernels
from pesky.model.belief import for_hyper_samples
from pesky.model.limited import with_conditions
from pesky.model.moments import Expansion, expand, mean_at_points, moments_of

BOTH = torch.arange(2)


class Bare:
    """A belief that says mean and variance, and nothing of gradients."""

    def __init__(self, belief: GaussianProcess) -> None:
        self.belief = belief
        self.amplitude, self.mean = belief.amplitude, belief.mean

    def variance(self, X: Tensor) -> Tensor:
        return self.belief.moments(X).variance


def beliefs() -> dict[str, GaussianProcess]:
    plain = make_belief(rows=3, n=12, seed=2, offsets=(0.8, 0.8))
    part = make_belief(rows=2, n=6, seed=1, mask=torch.tensor([[True] * 6, [True] * 3 + [False] * 3]))
    samples = Hyperparameters(*(torch.stack([p, 1.2 * p]) for p in plain.hyperparameters))
    several = GaussianProcess(plain.kernel, plain.X, plain.y, plain.mask, samples)
    exact = make_belief(rows=2, n=12, seed=3, kernel="matern52", noise=1e-10)
    se = make_belief(kernel="se", rows=2, n=5)
    return {"plain": plain, "padded": part, "several": several, "se": se, "noise-free": exact}


@pytest.mark.parametrize("name", ["plain", "padded", "several", "se", "noise-free"])
def test_slopes_are_those_of_autograd(name):
    belief = beliefs()[name]
    X = torch.rand(*belief.amplitude.shape[:-1], 7, 2, generator=torch.Generator().manual_seed(3))
    X.select(-2, 0).copy_(belief.X[0, 0])  # at a datum, where distances are zero
    moments, slopes, _ = expand(belief, X, BOTH)
    expected, by_x, _ = expand(Bare(belief), X, BOTH)  # pyright: ignore[reportArgumentType]
    both = moments_of(belief, X)
    for mine, other, autograd in zip(moments, both, expected, strict=True):
        torch.testing.assert_close(mine, autograd, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(other, autograd, rtol=1e-9, atol=1e-9)
    for mine, autograd in zip(slopes, by_x, strict=True):
        torch.testing.assert_close(mine, autograd, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", [lambda belief: belief, Bare], ids=["by formula", "by autograd"])
def test_along_one_axis_derivatives_are_those_along_both(kind):
    belief = beliefs()["plain"]
    X, weights = torch.rand(5, 2, generator=torch.Generator().manual_seed(3)), torch.ones(3, 5)
    every, second = (expand(kind(belief), X, axes) for axes in (BOTH, torch.tensor([1])))
    for whole, part in zip(every.slopes, second.slopes, strict=True):
        torch.testing.assert_close(part, whole[..., 1:])
    if every.curvatures is not None and second.curvatures is not None:
        both = every.curvatures(weights, weights)
        torch.testing.assert_close(second.curvatures(weights, weights), both[..., 1:, 1:])


def weighted(e: Expansion, by_mean: Tensor, by_variance: Tensor) -> Tensor:
    """The gradient of the weighted sum of all moments."""
    return (by_mean[..., None] * e.slopes.mean + by_variance[..., None] * e.slopes.variance).sum(-3)


@pytest.mark.parametrize("name", ["plain", "padded", "several", "se", "noise-free"])
def test_curvatures_are_difference_quotients_of_slopes(name):
    belief, generator = beliefs()[name], torch.Generator().manual_seed(4)
    *b, rows = belief.amplitude.shape
    X = torch.rand(*b, 5, 2, generator=generator)
    weights = torch.randn(*b, rows, 5, generator=generator), torch.randn(*b, rows, 5, generator=generator)
    steps = 1e-5 * torch.eye(2)
    ahead, behind = ([weighted(expand(belief, X + sign * step, BOTH), *weights) for step in steps] for sign in (1, -1))
    expected = (torch.stack(ahead, -1) - torch.stack(behind, -1)) / 2e-5
    curvatures = expand(belief, X, BOTH).curvatures
    assert curvatures is not None
    found = curvatures(*weights)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found, found.mT)


def test_the_error_of_noise_free_rows_has_no_part_of_the_floor():
    """That of the weighted sum of exact data; rows with noise, and data that have some, keep theirs."""
    belief = make_belief(rows=3, n=15, seed=3, kernel="matern52", noise=1e-10)
    noise = torch.tensor([1e-10, 1e-10, 1e-4])[:, None] * belief.amplitude[:, None].expand(-1, 15)
    noise[1, :5] = 1e-4
    belief = replace(belief, data_noise=noise)
    near = belief.X[0, 8:12] + 1e-6 * torch.randn(4, 2, generator=torch.Generator().manual_seed(5))
    X = torch.cat([near, belief.X[0, :8] + 0.03])
    prior = replace(belief, mask=torch.zeros_like(belief.mask))
    K, k = prior.covariance(belief.X[0], belief.X[0]), prior.covariance(belief.X[0], X)
    w = torch.linalg.solve(K + torch.diag_embed(noise), k)
    real = torch.where(noise > 1e-9, noise, 0.0)
    expected = belief.amplitude[:, None] - 2 * (w * k).sum(-2) + (w * ((K + torch.diag_embed(real)) @ w)).sum(-2)
    found = moments_of(belief, X).variance
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-13)
    assert (found[0, :4] < 0.2 * belief.variance(X)[0, :4]).all()
    torch.testing.assert_close(found[2], belief.variance(X)[2])


def test_conditions_change_no_moments():
    belief, generator = beliefs()["plain"], torch.Generator().manual_seed(3)
    limited = with_conditions(belief, Conditions((1, 2, 2), (1, 1, -1), torch.tensor([0.1, -1.0, 1.0]), 3))
    X, weights = torch.rand(4, 2, generator=generator), torch.randn(2, 3, 4, generator=generator)
    mine, others = expand(limited, X, BOTH), expand(belief, X, BOTH)
    torch.testing.assert_close(mine[:2], others[:2])
    assert mine.curvatures is not None
    assert others.curvatures is not None
    torch.testing.assert_close(mine.curvatures(*weights), others.curvatures(*weights))


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_large_matrices_are_the_same_in_blocks(kernel, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    x, z = torch.rand(3, 1, 50, 2, generator=generator), torch.rand(4, 31, 2, generator=generator)
    whole, square = kernels.correlations(kernel, x, z), kernels.correlations(kernel, x[0, 0], x[0, 0])
    monkeypatch.setattr(kernels, "BLOCK", 100)
    torch.testing.assert_close(kernels.correlations(kernel, x, z), whole)
    torch.testing.assert_close(kernels.lower_correlations(kernel, x[0, 0]).tril(), square.tril())


@pytest.mark.parametrize("noise", [0.01, 0.0])
def test_the_factor_of_a_large_matrix_is_that_of_a_small_one(noise, monkeypatch):
    belief = make_belief(rows=2, n=20, noise=noise)
    monkeypatch.setattr("pesky.model.gp.AT_ONCE", {"cpu": 100})
    again = GaussianProcess(belief.kernel, belief.X, belief.y, belief.mask, belief.hyperparameters)
    torch.testing.assert_close(again.root @ again.root.mT, belief.root @ belief.root.mT)
    assert (again.root.triu(1) == 0).all()


def test_a_large_matrix_that_has_no_factor_gets_one(monkeypatch):
    belief = make_belief(rows=1, n=12, noise=0.0)
    X, y = belief.X.repeat(1, 2, 1), belief.y.repeat(1, 2)  # every point twice, without noise
    monkeypatch.setattr("pesky.model.gp.AT_ONCE", {"cpu": 100})
    h = belief.hyperparameters._replace(noise=torch.zeros(1))
    twice = GaussianProcess(belief.kernel, X, y, torch.ones_like(y, dtype=torch.bool), h)
    assert torch.isfinite(twice.root).all()
    torch.testing.assert_close(twice.mean(belief.X[0]), belief.y, rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", ["plain", "padded", "several", "se", "noise-free", "own noise", "repeated"])
def test_the_mean_at_measured_points_is_the_mean_there(name):
    plain = beliefs()["plain"]
    own = replace(plain, data_noise=torch.rand(3, 12, generator=torch.Generator().manual_seed(5)))
    repeated = replace(plain, X=torch.cat([plain.X[:, :1], plain.X[:, :-1]], -2))
    belief = {**beliefs(), "own noise": own, "repeated": repeated}[name]
    expected = belief.mean(for_hyper_samples(belief, belief.points))
    torch.testing.assert_close(mean_at_points(belief), expected, rtol=1e-6, atol=1e-7)
    limited = with_conditions(belief, Conditions((1,), (1,), torch.tensor([0.1]), belief.amplitude.shape[-1]))
    torch.testing.assert_close(mean_at_points(limited), expected, rtol=1e-6, atol=1e-7)
