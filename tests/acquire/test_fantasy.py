"""Pending values: as expected, as each x* sample has them, and how much of a question they answer."""

from dataclasses import replace

import pytest
import torch
from contexts import points, sample_of, samples_of
from small_beliefs import make_belief
from torch import Tensor

from pesky.acquire.fantasy import Fantasies, FantasyBelief, overlap, with_pending
from pesky.acquire.pesc.gain import information_gain
from pesky.data.pending import Pending
from pesky.model import GaussianProcess
from pesky.optimum import sample_optima

P = torch.tensor([[0.35, 0.6], [0.8, 0.2], [0.36, 0.61]])
ROWS = torch.tensor([[True, True], [False, True], [True, False]])
MEASURED = torch.tensor([[True, True], [True, False], [False, True]])
HERE = torch.tensor([0.4, 0.7])
NEAR = torch.tensor([[0.45, 0.6], [0.8, 0.2]])
BOTH = torch.tensor([True, True])


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


def test_fantasies_are_the_belief_after_measuring_the_values_of_the_draw():
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


def partly() -> Pending:
    return Pending(points(3, seed=5), MEASURED)


def with_means(belief: GaussianProcess) -> GaussianProcess:
    """The pending points as data, at the means."""
    P = partly().X
    return replace(
        belief,
        X=torch.cat([belief.X, P.expand(2, *P.shape)], 1),
        y=torch.cat([belief.y, belief.mean(P.expand(*belief.y.shape[:-2], *P.shape))], -1),
        mask=torch.cat([belief.mask, MEASURED.mT], 1),
    )


@pytest.mark.parametrize("noise", [1e-2, 1e-8])
@pytest.mark.parametrize("samples", [0, 3])
def test_expected_values_give_the_moments_of_a_gp_with_the_data(noise: float, samples: int):
    belief = make_belief(noise=noise)
    belief = samples_of(belief, samples) if samples else belief
    ours, exact = with_pending(belief, partly()), with_means(belief)
    batch = belief.amplitude.shape[:-1]
    X, Z = (points(n, seed=n).expand(*batch, n, 2) for n in (20, 7))
    for moment in ("mean", "variance"):
        torch.testing.assert_close(getattr(ours, moment)(X), getattr(exact, moment)(X), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(ours.covariance(X, Z), exact.covariance(X, Z), rtol=1e-6, atol=1e-7)
    one, other = ours.evaluator(Z)(X), exact.evaluator(Z)(X)
    for ours_seen, exact_seen in zip(one, other, strict=True):
        torch.testing.assert_close(ours_seen, exact_seen, rtol=1e-6, atol=1e-7)
    assert (belief.variance(X) - ours.variance(X)).max() > 0.1
    for i in range(samples):
        alone = with_pending(sample_of(belief, i), partly())
        torch.testing.assert_close(ours.variance(X)[i], alone.variance(X[i]))


def test_draws_have_the_moments_and_their_own_gradients():
    belief = make_belief(noise=0.3)  # so much that draws without noise of their own would show
    ours = with_pending(belief, partly())
    X = torch.cat([points(6), partly().X])
    drawn = ours.paths(4000, torch.Generator().manual_seed(0))
    values = drawn.values(X)
    torch.testing.assert_close(values.mean(-2), ours.mean(X), rtol=0, atol=0.04)
    centered = values - values.mean(-2, keepdim=True)
    torch.testing.assert_close(centered.mT @ centered / 4000, ours.covariance(X, X), rtol=0, atol=0.04)

    few = drawn.select(torch.tensor([7, 3, 11]))
    torch.testing.assert_close(few.values(X), values[:, [7, 3, 11]])
    at = points(3, seed=1)
    value, gradient = few.at(at)
    torch.testing.assert_close(value, few.values(at).diagonal(dim1=-2, dim2=-1))
    for i in range(2):
        move = 1e-5 * torch.eye(2)[i]
        slope = (few.at(at + move)[0] - few.at(at - move)[0]) / 2e-5
        torch.testing.assert_close(gradient[..., i], slope, rtol=1e-5, atol=1e-6)


def test_noise_free_draws_go_through_the_means():
    belief = make_belief(noise=1e-10)
    drawn = with_pending(belief, partly()).paths(50, torch.Generator().manual_seed(0)).values(partly().X)
    means = belief.mean(partly().X)[:, None].expand_as(drawn)
    measured = MEASURED.mT[:, None].expand_as(drawn)
    torch.testing.assert_close(drawn[measured], means[measured], rtol=0, atol=1e-3)
    assert (drawn - means)[~measured].std() > 0.01


def test_nothing_pending_is_the_belief_itself_and_a_question_asked_twice_is_harmless():
    belief = make_belief(noise=0.0)
    assert with_pending(belief, None) is belief
    twice = Pending(points(1).repeat(2, 1), torch.ones(2, 2, dtype=torch.bool))
    once = Pending(points(1), torch.ones(1, 2, dtype=torch.bool))
    X = torch.cat([points(1), points(9, seed=2), belief.points]).requires_grad_()
    variance = with_pending(belief, twice).variance(X)
    torch.testing.assert_close(variance, with_pending(belief, once).variance(X), rtol=0, atol=1e-6)
    assert (variance > 0).all()
    assert torch.isfinite(torch.autograd.grad(variance.log().sum(), X)[0]).all()


def test_a_fantasy_belief_is_a_belief_in_all_else():
    belief = make_belief()
    ours = with_pending(belief, partly())
    assert isinstance(ours, FantasyBelief)
    for name in ("amplitude", "lengthscale", "noise", "points"):
        assert torch.equal(getattr(ours, name), getattr(belief, name))
    assert ours.likelihoods is belief.likelihoods


@pytest.mark.parametrize(("rows", "counted"), [([True, True], [0, 1]), ([True, False], [0]), ([False, True], [1])])
@pytest.mark.parametrize("noise", [1e-6, 0.3])
def test_the_overlap_is_what_the_answers_take_from_the_variance(rows, counted, noise):
    belief = make_belief(noise=noise)
    asked = torch.tensor([[True, True], [False, True]])
    told = GaussianProcess(
        belief.kernel,
        torch.cat([belief.X, NEAR.expand(2, 2, 2)], 1),
        torch.cat([belief.y, torch.zeros(2, 2)], 1),
        torch.cat([belief.mask, asked.mT], 1),
        belief.hyperparameters,
    )
    before, after = belief.variance(HERE[None])[:, 0], told.variance(HERE[None])[:, 0]
    expected = float((1 - after / before)[counted].max())
    assert overlap(belief, HERE, torch.tensor(rows), Pending(NEAR, asked)) == pytest.approx(expected, abs=1e-5)
    assert 0 < expected < 1


def test_the_same_question_is_asked_wholly_without_noise_and_hardly_where_noise_is_all():
    same = Pending(HERE[None], BOTH[None])
    assert overlap(make_belief(noise=1e-9), HERE, BOTH, same) > 0.999
    assert overlap(make_belief(noise=100.0), HERE, BOTH, same) < 0.02


def test_answers_of_other_rows_tell_nothing():
    others = Pending(HERE[None], torch.tensor([[False, True]]))
    assert overlap(make_belief(), HERE, torch.tensor([True, False]), others) == 0.0


def test_what_was_measured_without_noise_is_explained_by_nobody():
    """Its variance is a rounding error, and so would be any share of it."""
    belief = make_belief(noise=0.0)
    measured = belief.points[0]
    assert overlap(belief, measured, BOTH, Pending(measured[None] + 1e-3, BOTH[None])) < 0.1
