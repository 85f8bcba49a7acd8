"""Yes/no rows: EP's evidence, pseudo-measurements, the fit of hyperparameters, and what a crash region looks like."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.optimize import minimize as scipy_minimize
from small_beliefs import hyperparameters
from torch.distributions import LogNormal, Normal

from pesky.infer.latent import LatentPrior, run
from pesky.likelihood.probit import YES_NO_NOISE
from pesky.likelihood.rows import PROBIT
from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.kernel import correlation, squared_distance
from pesky.model.latent import LOG_AMPLITUDE, MEAN, evidence, maximize, objective, pseudo_measurements, unpack
from pesky.model.prior import LOG_LENGTHSCALE

MASK = torch.tensor([[True] * 7, [True, True, False, True, True, False, False]])
X = torch.rand(2, 7, 2, generator=torch.Generator().manual_seed(5))
Y = torch.tensor([[1.0, -1, 1, 1, -1, 1, 1], [1, 1, 0, 1, -1, 0, 0]])
H = hyperparameters(2, 2, lengthscale=0.45, amplitude=3.0, mean=0.3)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_derivatives_are_those_of_finite_differences(kernel):
    found = evidence(PROBIT, kernel, X, Y, MASK, H)
    step = 1e-4

    def numeric(change) -> torch.Tensor:
        high, low = (evidence(PROBIT, kernel, X, Y, MASK, change(s), tolerance=1e-11).log_z for s in (step, -step))
        return (high - low) / (2 * step)

    for i in range(2):
        axis = torch.eye(2)[i]
        by_length = numeric(lambda s, axis=axis: H._replace(lengthscale=H.lengthscale * math.exp(s) ** axis))
        torch.testing.assert_close(found.by_log_lengthscale[:, i], by_length, rtol=1e-5, atol=1e-7)
    by_amplitude = numeric(lambda s: H._replace(amplitude=H.amplitude * math.exp(s)))
    torch.testing.assert_close(found.by_log_amplitude, by_amplitude, rtol=1e-5, atol=1e-7)
    by_mean = numeric(lambda s: H._replace(mean=H.mean + s))
    torch.testing.assert_close(found.by_mean, by_mean, rtol=1e-5, atol=1e-7)


def test_padding_and_batches_change_nothing():
    batch = Hyperparameters(*(torch.stack([part, 1.3 * part]) for part in H))
    together = evidence(PROBIT, "se", X, Y, MASK, batch)
    for s, scale in enumerate((1.0, 1.3)):
        for row in range(2):
            keep = MASK[row]
            one = Hyperparameters(*(scale * part[row : row + 1] for part in H))
            alone = evidence(PROBIT, "se", X[row : row + 1, keep], Y[row : row + 1, keep], keep[keep][None], one)
            assert together.log_z[s, row].item() == pytest.approx(alone.log_z.item(), abs=1e-9)
            torch.testing.assert_close(together.by_log_lengthscale[s, row], alone.by_log_lengthscale[0])
            torch.testing.assert_close(together.by_mean[s, row], alone.by_mean[0])
            torch.testing.assert_close(together.sites.tau[s, row, keep], alone.sites.tau[0], rtol=0, atol=1e-7)
    assert (together.sites.tau[:, ~MASK] == 0).all()


def test_no_answers_have_no_evidence():
    found = evidence(PROBIT, "se", torch.zeros(2, 0, 2), torch.zeros(2, 0), torch.zeros(2, 0, dtype=torch.bool), H)
    assert torch.equal(found.log_z, torch.zeros(2))
    assert torch.equal(found.by_mean, torch.zeros(2))


def test_opposite_answers_give_the_opposite_function():
    one, other = evidence(PROBIT, "se", X, Y, MASK, H), evidence(PROBIT, "se", X, -Y, MASK, H._replace(mean=-H.mean))
    torch.testing.assert_close(one.log_z, other.log_z)
    torch.testing.assert_close(one.by_log_lengthscale, other.by_log_lengthscale)
    torch.testing.assert_close(one.by_mean, -other.by_mean)
    torch.testing.assert_close(one.sites.nu, -other.sites.nu, rtol=0, atol=1e-7)


def belief_of(kernel, X, y, mask, h) -> GaussianProcess:
    values, noise = pseudo_measurements(PROBIT, kernel, X, y, mask, h)
    return GaussianProcess(kernel, X, values, mask, h, None, ("probit",) * len(X), noise)


def test_the_belief_of_the_pseudo_measurements_is_eps_posterior():
    belief = belief_of("se", X, Y, MASK, H)
    for row in range(2):
        keep = MASK[row]
        scaled = X[row][keep] / H.lengthscale[row]
        covariance = H.amplitude[row] * correlation("se", squared_distance(scaled, scaled))
        sign = Y[row][keep]
        given = LatentPrior(covariance, H.mean[row], sign != 0)
        found = run(given, lambda mean, variance, sign=sign: PROBIT.tilt(sign, mean, variance))
        at = X[row][keep]
        torch.testing.assert_close(belief.mean(at)[row], H.mean[row] + found.q.mean, rtol=0, atol=1e-6)
        torch.testing.assert_close(belief.variance(at)[row], found.q.variance, rtol=0, atol=1e-6)
        # anywhere else: R&W 3.60 and 3.61
        new = torch.rand(5, 2, generator=torch.Generator().manual_seed(2))
        cross = H.amplitude[row] * correlation("se", squared_distance(scaled, new / H.lengthscale[row]))
        inverse = torch.linalg.inv(covariance + torch.diag(1 / found.sites.tau))
        mean = H.mean[row] + cross.mT @ inverse @ (found.sites.nu / found.sites.tau)
        torch.testing.assert_close(belief.mean(new)[row], mean, rtol=0, atol=1e-6)
        left = H.amplitude[row] - (cross * (inverse @ cross)).sum(0)
        torch.testing.assert_close(belief.variance(new)[row], left, rtol=0, atol=1e-6)


def test_an_answer_that_was_certain_before_says_nothing_and_is_finite():
    """A site of zero precision: without a cap its noise would be infinite, its value zero over zero."""
    h = hyperparameters(1, 1, amplitude=1.0, mean=60.0)
    at = torch.tensor([[[0.3], [0.6]]])
    belief = belief_of("se", at, torch.ones(1, 2), torch.ones(1, 2, dtype=torch.bool), h)
    assert torch.isfinite(belief.y).all()
    assert torch.isfinite(belief.data_noise).all()  # pyright: ignore[reportArgumentType]
    torch.testing.assert_close(belief.mean(at[0]), torch.full((1, 2), 60.0), rtol=0, atol=1e-6)
    torch.testing.assert_close(belief.variance(at[0]), torch.ones(1, 2), rtol=0, atol=1e-6)
    drawn = belief.paths(2000, torch.Generator().manual_seed(0)).values(at[0])
    assert drawn.mean().item() == pytest.approx(60.0, abs=0.1)
    assert drawn.std().item() == pytest.approx(1.0, abs=0.05)


def crashes(n: int, d: int = 1, seed: int = 0, threshold: float = 0.6):
    """Points of which those beyond the threshold crash: y = -1."""
    X = torch.rand(1, n, d, generator=torch.Generator().manual_seed(seed))
    return X, torch.where(X[..., 0] > threshold, -1.0, 1.0), torch.ones(1, n, dtype=torch.bool)


def score(kernel, X, y, mask, h: Hyperparameters) -> torch.Tensor:
    steepness = (h.noise / YES_NO_NOISE).sqrt()
    amplitude, mean = h.amplitude / steepness.square(), h.mean / steepness
    p = torch.cat([h.lengthscale.log(), amplitude.log()[..., None], mean[..., None]], -1)
    return objective(PROBIT, kernel, X, y, mask, p[None], steepness, None, 1e-9)[0][0]


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_the_objective_is_evidence_times_priors_with_its_gradient(kernel):
    X = torch.rand(2, 8, 2, generator=torch.Generator().manual_seed(1))
    y = torch.tensor([[1.0, 1, -1, 1, -1, -1, 1, 1], [1, 1, 1, 1, 1, 1, 0, 0]])
    data = (kernel, X, y, y != 0)
    p = torch.tensor([[[-1.0, -0.4, 1.2, 0.4], [-0.5, 0.3, 0.7, -0.3]], [[-1.5, -0.9, 2.2, 1.4], [0.5, 1.3, 0.1, 0.8]]])
    steepness = torch.tensor([1.0, 10.0])
    value, gradient, _ = objective(PROBIT, *data, p, steepness, None, 1e-10)
    for i in range(4):
        step = 1e-4 * torch.eye(4)[i]
        high, low = (objective(PROBIT, *data, p + sign * step, steepness, None, 1e-10)[0] for sign in (1, -1))
        torch.testing.assert_close(gradient[..., i], (high - low) / 2e-4, rtol=1e-5, atol=1e-6)

    def posterior(p: torch.Tensor) -> torch.Tensor:
        h = unpack(PROBIT, p, steepness)
        lengthscale = LogNormal(math.sqrt(2) + 0.5 * math.log(2), math.sqrt(3)).log_prob(h.lengthscale).sum(-1)
        amplitude = Normal(math.log(4.0), 1.0).log_prob((h.amplitude / steepness.square()).log())
        mean = Normal(0.0, 1.0).log_prob(h.mean / steepness)
        return evidence(PROBIT, *data, h).log_z + lengthscale + amplitude + mean

    torch.testing.assert_close(value[0] - value[1], posterior(p[0]) - posterior(p[1]), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("n", "d"), [(6, 1), (15, 2), (40, 2), (25, 3)])
def test_the_maximum_is_no_worse_than_scipys_from_the_same_starts(n, d):
    data = ("matern52", *crashes(n, d))

    def loss(p: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient, _ = objective(PROBIT, *data, torch.as_tensor(p)[None, None], torch.ones(1), None, 1e-8)
        return -value.item(), -gradient[0, 0].numpy()

    bounds = [LOG_LENGTHSCALE] * d + [LOG_AMPLITUDE, MEAN]
    starts = [[math.log(length * math.sqrt(d))] * d + [math.log(4.0), 0.0] for length in (0.25, 1.0)]
    theirs = min(scipy_minimize(loss, s, jac=True, bounds=bounds, method="L-BFGS-B").fun for s in starts)
    assert -score(*data, maximize(PROBIT, *data, steps=60)).item() <= theirs + 0.01
    # the default stops a little earlier
    assert -score(*data, maximize(PROBIT, *data)).item() <= theirs + 0.1


def test_every_row_is_fitted_by_itself():
    X, y, _ = crashes(12, 2)
    X, y = torch.cat([X, X.flip(1)]), torch.cat([y, torch.where(X.flip(1)[..., 1] > 0.4, -1.0, 1.0)])
    mask = torch.arange(12)[None] < torch.tensor([12, 7])[:, None]
    y = torch.where(mask, y, 0.0)
    together = maximize(PROBIT, "se", X, y, mask)
    assert not torch.allclose(together.lengthscale[0], together.lengthscale[1], rtol=0.1)
    for row in range(2):
        alone = maximize(PROBIT, "se", X[row : row + 1], y[row : row + 1], mask[row : row + 1])
        for whole, single in zip(together, alone, strict=True):
            torch.testing.assert_close(whole[row : row + 1], single, rtol=5e-3, atol=5e-3)


def test_the_previous_hyperparameters_are_a_start():
    data = ("matern52", *crashes(15, 2))
    best = maximize(PROBIT, *data, steps=60)
    few = maximize(PROBIT, *data, previous=best, steps=1)
    assert score(*data, few).item() >= score(*data, best).item() - 1e-6
    assert score(*data, maximize(PROBIT, *data, steps=1)).item() < score(*data, best).item() - 0.01


@pytest.mark.parametrize("d", [1, 3])
def test_no_data_give_the_prior_and_a_datum_moves_it(d):
    nothing = maximize(PROBIT, "se", torch.zeros(1, 0, d), torch.zeros(1, 0), torch.zeros(1, 0, dtype=torch.bool))
    assert nothing.amplitude.item() == pytest.approx(4.0, rel=0.05)
    assert nothing.mean.item() == pytest.approx(0.0, abs=1e-6)
    assert nothing.noise.item() == YES_NO_NOISE
    for answer in (1.0, -1.0):
        one = maximize(
            PROBIT, "se", torch.full((1, 1, d), 0.4), torch.full((1, 1), answer), torch.ones(1, 1, dtype=torch.bool)
        )
        assert 0.1 < answer * one.mean.item() < 1


def probability(h: Hyperparameters, kernel, X, y, mask, at: torch.Tensor) -> torch.Tensor:
    values, noise = pseudo_measurements(PROBIT, kernel, X, y, mask, h)
    belief = GaussianProcess(kernel, X, values, mask, h, None, ("probit",), noise)
    return torch.special.ndtr(belief.mean(at) / (1 + belief.variance(at)).sqrt())[0]


def test_a_crash_region_is_learnt_from_ten_points():
    X = torch.linspace(0.03, 0.97, 10)[None, :, None]
    data = ("matern52", X, torch.where(X[..., 0] > 0.6, -1.0, 1.0), torch.ones(1, 10, dtype=torch.bool))
    p = probability(maximize(PROBIT, *data), *data, torch.linspace(0, 1, 101)[:, None])
    assert (p[10:46] > 0.9).all()
    assert (p[78:95] < 0.1).all()
    assert 0.55 < 0.01 * (p > 0.5).sum() < 0.68
    assert (p[40:75].diff() < 0).all()


def test_a_boundary_is_known_as_closely_as_it_was_asked_where_the_answer_is_the_same_every_time():
    """On average, whatever the function; and the next answer between the last yes and the first no is open."""
    X = torch.tensor([0.05, 0.3, 0.5, 0.58, 0.59, 0.61, 0.62, 0.7, 0.95])[None, :, None]
    data = ("matern52", X, torch.where(X[..., 0] > 0.6, -1.0, 1.0), torch.ones(1, 9, dtype=torch.bool))
    at = torch.tensor([0.45, 0.57, 0.6, 0.63, 0.75])[:, None]
    unsure = probability(maximize(PROBIT, *data), *data, at)
    sure = probability(maximize(PROBIT, *data, is_same=torch.tensor([True])), *data, at)
    assert sure[:2].min() > 0.9 > unsure[1]
    assert sure[3:].max() < 0.1 < unsure[3]
    assert 0.3 < sure[2] < 0.7


@pytest.mark.parametrize(("flipped", "is_steep"), [(0.0, True), (0.1, False)])
def test_whether_answers_are_the_same_every_time_is_seen_in_them(flipped, is_steep):
    X, y, mask = crashes(40, 2)
    wrong = torch.rand(1, 40, generator=torch.Generator().manual_seed(3)) < flipped
    h = maximize(PROBIT, "matern52", X, torch.where(wrong, -y, y), mask)
    assert (h.noise.item() > YES_NO_NOISE) == is_steep


def test_always_yes_is_believed_more_with_every_answer():
    """And never so much that a no has become impossible."""
    at = torch.rand(50, 2, generator=torch.Generator().manual_seed(4))
    doubts = []
    for n in (1, 3, 10, 30, 100):
        X, _, mask = crashes(n, 2)
        data = ("matern52", X, torch.ones(1, n), mask)
        doubts.append(1 - probability(maximize(PROBIT, *data), *data, at).mean().item())
    assert all(more > less for more, less in pairwise(doubts))
    assert 1e-4 < doubts[-1] < 0.02


def test_three_hundred_answers_with_contradictions_are_fitted():
    X, y, mask = crashes(300, 2)
    flipped = torch.rand(1, 300, generator=torch.Generator().manual_seed(3)) < 0.1
    data = ("matern52", X, torch.where(flipped, -y, y), mask)
    h = maximize(PROBIT, *data)
    assert h.lengthscale[0, 0] < 0.5 * h.lengthscale[0, 1]  # only the first input matters
    p = probability(h, *data, torch.tensor([[0.3, 0.5], [0.9, 0.5]]))
    assert p[0] > 0.8
    assert p[1] < 0.25
