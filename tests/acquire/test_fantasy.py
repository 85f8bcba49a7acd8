"""Running measurements: each x* sample is conditioned on the values of its own draw."""

import pytest
import torch
from small_beliefs import make_belief
from torch import Tensor

from pesky.acquire.fantasy import Fantasies, Pending
from pesky.acquire.pesc.gain import information_gain
from pesky.model import GaussianProcess
from pesky.optimum import sample_optima

P = torch.tensor([[0.35, 0.6], [0.8, 0.2], [0.36, 0.61]])
ROWS = torch.tensor([[True, True], [False, True], [True, False]])


def grid(n: int = 9) -> Tensor:
    return torch.rand(n, 2, generator=torch.Generator().manual_seed(5))


def with_data(belief: GaussianProcess, rows: Tensor, values: Tensor) -> GaussianProcess:
    """The belief after measuring `values` (j, p) at P, where `rows` (p, j) says so."""
    return GaussianProcess(
        belief.kernel,
        torch.cat([belief.X, P.expand(2, *P.shape)], 1),
        torch.cat([belief.y, values], 1),
        torch.cat([belief.mask, rows.mT], 1),
        belief.hyperparameters,
    )


def test_it_is_the_belief_after_measuring_the_values_of_the_draw():
    belief = make_belief(noise=1e-9)
    paths = belief.paths(3, torch.Generator().manual_seed(0))
    after = Fantasies(belief, Pending(P, ROWS), paths, torch.Generator().manual_seed(1))
    look = after.evaluator(grid(4))(grid())
    for m in range(3):
        told = with_data(belief, ROWS, paths.values(P)[:, m])
        torch.testing.assert_close(look.mean[:, m], told.mean(grid()), rtol=0, atol=2e-3)
        torch.testing.assert_close(look.variance, told.variance(grid()), rtol=0, atol=1e-6)
        torch.testing.assert_close(look.covariance, told.covariance(grid(4), grid()), rtol=0, atol=1e-6)


def test_with_noise_the_fantasy_is_noisy_and_the_covariance_that_of_noisy_data():
    belief = make_belief(noise=0.3)
    count = 6000
    paths = belief.paths(count, torch.Generator().manual_seed(0))
    after = Fantasies(belief, Pending(P, ROWS), paths, torch.Generator().manual_seed(1))
    look = after.evaluator(grid(4))(grid())
    told = with_data(belief, ROWS, torch.zeros(2, 3))
    torch.testing.assert_close(look.variance, told.variance(grid()), rtol=0, atol=1e-7)
    torch.testing.assert_close(look.covariance, told.covariance(grid(4), grid()), rtol=0, atol=1e-7)
    # the means of the fantasies spread by exactly what the measurement takes from the variance
    taken = belief.variance(grid()) - told.variance(grid())
    torch.testing.assert_close(look.mean.var(1), taken, rtol=0.15, atol=3e-3)
    torch.testing.assert_close(look.mean.mean(1), belief.mean(grid()), rtol=0, atol=0.05)


def test_without_pending_points_it_is_the_belief_itself():
    belief = make_belief()
    look = Fantasies(belief).evaluator(grid(4))(grid())
    torch.testing.assert_close(look.mean[:, 0], belief.mean(grid()))
    torch.testing.assert_close(look.variance, belief.variance(grid()))
    torch.testing.assert_close(look.covariance, belief.covariance(grid(4), grid()), rtol=0, atol=1e-9)


def gains_with(belief: GaussianProcess, pending: Pending | None, X: Tensor) -> Tensor:
    g = torch.Generator().manual_seed(0)
    optima = sample_optima(belief, 10, 60, 64, 4, g)
    return information_gain(belief, optima, 0.2, g, pending)(X)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_pending_noise_free_point_is_worth_nothing_more(rows):
    belief = make_belief(rows=rows, noise=1e-10)
    everything = torch.ones(3, rows, dtype=torch.bool)
    assert gains_with(belief, None, P).sum(-1).max() > 0.1
    assert (gains_with(belief, Pending(P, everything), P).abs() < 0.02).all()


def test_a_row_that_is_not_pending_keeps_its_gain_there():
    belief = make_belief(noise=1e-10, seed=1)
    only = torch.tensor([[True, False]] * 3)
    before, after = gains_with(belief, None, P), gains_with(belief, Pending(P, only), P)
    assert (after[:, 0].abs() < 0.02).all()
    assert after[:, 1].max() > 0.3 * before[:, 1].max()
    assert after[:, 1].max() > 0.02


def test_pending_points_take_from_the_gain_nearby_and_make_none_clearly_negative():
    belief = make_belief(noise=1e-4)
    pending = Pending(P[:2], torch.ones(2, 2, dtype=torch.bool))
    near = P[:2] + 0.01
    assert gains_with(belief, pending, near).sum() < 0.6 * gains_with(belief, None, near).sum()
    assert gains_with(belief, pending, grid(100)).sum(-1).min() > -0.05


def test_the_same_question_pending_twice_is_finite():
    belief = make_belief(noise=1e-10)
    twice = Pending(P[[0, 0]], torch.ones(2, 2, dtype=torch.bool))
    assert torch.isfinite(gains_with(belief, twice, grid())).all()
    assert (gains_with(belief, twice, P[:1]).abs() < 0.02).all()


def test_a_pending_point_that_is_already_measured_changes_nothing():
    belief = make_belief(noise=1e-10)
    old = Pending(belief.points[:1], torch.ones(1, 2, dtype=torch.bool))
    torch.testing.assert_close(gains_with(belief, old, grid()), gains_with(belief, None, grid()), rtol=0, atol=0.02)
