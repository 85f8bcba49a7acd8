from dataclasses import replace

import pytest
import torch
from torch import Tensor

from pesky.model.gp import GaussianProcess
from pesky.model.hyper import Hyperparameters
from pesky.model.surrogate import GP
from pesky.model.through import WithOthers, with_others
from pesky.observations import Observations

DIM = 2


def observed(counts: list[int], noise: float = 0.04, seed: int = 0) -> tuple[Observations, Hyperparameters]:
    """Rows with so many values each of smooth functions, and hyperparameters."""
    generator, J, N = torch.Generator().manual_seed(seed), len(counts), max(counts)
    X = torch.rand(J, N, DIM, generator=generator, dtype=torch.float64)
    mask = torch.arange(N) < torch.tensor(counts)[:, None]
    y = (4 * X).sin().sum(-1) + noise**0.5 * torch.randn(J, N, generator=generator, dtype=torch.float64)
    one = torch.ones(J, dtype=torch.float64)
    o = Observations(X, torch.where(mask, y, 0.0), mask, noise * one, one, 0 * one, one, ("gaussian",) * J)
    lengthscale = torch.tensor([0.5, 0.4], dtype=torch.float64).expand(J, DIM)
    return o, Hyperparameters(lengthscale, 1.5 * one, noise * one, 0.3 * one)


def elsewhere(count: int) -> Tensor:
    return torch.rand(count, DIM, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def parted(o: Observations, kept: int) -> tuple[Observations, Observations]:
    """The first values of each row, and the others."""
    at = torch.arange(o.mask.shape[-1]).expand(o.mask.shape)
    return o.taken(at[:, :kept]), o.taken(at[:, kept:])


def believed(o: Observations, h: Hyperparameters, kept: int) -> GaussianProcess:
    first, others = parted(o, kept)
    return with_others(GP().condition(first, h, None), others)


def independent_conditional(
    o: Observations, h: Hyperparameters, row: int, kept: int, x: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean and variance by the joint covariance of all values, of which the others are independent given the kept."""
    count = int(o.mask[row].sum())
    prior = GP().condition(replace(o, mask=torch.zeros_like(o.mask)), h, None)
    every = torch.cat([o.X[row, :count], x])
    K = prior.covariance(every, every)[row]
    S, R, T = slice(0, kept), slice(kept, count), slice(count, None)
    by_kept = torch.linalg.solve(K[S, S], K[S])
    data, Q = slice(0, count), by_kept.mT @ K[S]
    C = Q[data, data].clone()
    C.diagonal()[R] += K.diagonal()[R] - Q.diagonal()[R]
    C.diagonal().add_(h.noise[row])
    solved = torch.linalg.solve(C, Q[data, T])
    mean = h.mean[row] + solved.mT @ (o.y[row, :count] - h.mean[row])
    return mean, K.diagonal()[T] - (Q[T, data] @ solved).diagonal()


def test_without_others_it_is_the_belief_itself():
    o, h = observed([12, 7])
    everything, nothing = parted(o, 12)
    belief = GP().condition(everything, h, None)
    assert with_others(belief, nothing) is belief


def test_others_are_heard_as_if_they_were_independent_given_the_kept():
    o, h = observed([60, 40])
    belief, x = believed(o, h, 15), elsewhere(9)
    for row in range(2):
        mean, variance = independent_conditional(o, h, row, 15, x)
        torch.testing.assert_close(belief.mean(x)[row], mean, atol=1e-5, rtol=0)
        torch.testing.assert_close(belief.variance(x)[row], variance, atol=1e-5, rtol=0)


def test_others_at_the_kept_points_are_heard_exactly():
    o, h = observed([20])
    both = replace(o, X=torch.cat([o.X, o.X], 1), y=torch.cat([o.y, o.y + 0.3], 1), mask=torch.ones(1, 40) > 0)
    belief, exact = believed(both, h, 20), GP().condition(both, h, None)
    x = elsewhere(9)
    torch.testing.assert_close(belief.mean(x), exact.mean(x), atol=1e-5, rtol=0)
    torch.testing.assert_close(belief.covariance(x, x), exact.covariance(x, x), atol=1e-5, rtol=0)


def test_rows_of_few_values_and_those_without_noise_stay_what_they_were():
    o, h = observed([30, 10, 30])
    h = h._replace(noise=torch.tensor([0.04, 0.04, 1e-10]).to(h.noise) * torch.tensor([1, 1, 1.5]).to(h.noise))
    first, _ = parted(o, 10)
    alone, belief, x = GP().condition(first, h, None), believed(o, h, 10), elsewhere(9)
    torch.testing.assert_close(belief.mean(x)[1:], alone.mean(x)[1:])
    torch.testing.assert_close(belief.variance(x)[1:], alone.variance(x)[1:])
    assert (belief.variance(x)[0] < alone.variance(x)[0]).all()


def test_all_ways_to_look_at_it_agree():
    o, h = observed([50, 30])
    belief, x = believed(o, h, 12), elsewhere(5)
    assert isinstance(belief, WithOthers)
    torch.testing.assert_close(belief.mean_at_points, belief.mean(belief.points))
    one = belief.select_rows(torch.tensor([1]))
    torch.testing.assert_close(one.mean(x)[0], belief.mean(x)[1])
    torch.testing.assert_close(one.variance(x)[0], belief.variance(x)[1])
    kept = belief.X[1, :8]  # there features of the prior hardly matter
    drawn = one.paths(4000, torch.Generator().manual_seed(0)).values(kept)[0]
    torch.testing.assert_close(drawn.mean(0), belief.mean(kept)[1], atol=0.02, rtol=0)
    torch.testing.assert_close(drawn.var(0), belief.variance(kept)[1], rtol=0.15, atol=0)
    expansion = belief.expand(x, torch.arange(DIM))
    torch.testing.assert_close(expansion.moments.variance, belief.variance(x), atol=1e-6, rtol=0)


def test_points_that_are_the_same_in_all_rows_are_read_off():
    o, h = observed([40, 40])
    o = replace(o, X=o.X[:1].expand(2, -1, -1))
    belief = believed(o, h, 12)
    assert belief.points.shape == belief.X.shape[1:]
    torch.testing.assert_close(belief.mean_at_points, belief.mean(belief.points), atol=1e-8, rtol=0)


@pytest.mark.parametrize("relative", [0.25, 4.0])
def test_noise_of_each_value_counts(relative: float):
    o, h = observed([30])
    o = replace(o, relative_noise=torch.where(torch.arange(30) < 10, 1.0, relative)[None].to(o.y))
    usual, x = believed(replace(o, relative_noise=None), h, 10), elsewhere(9)
    is_surer = believed(o, h, 10).variance(x) < usual.variance(x)
    assert bool(is_surer.all()) == (relative < 1)
