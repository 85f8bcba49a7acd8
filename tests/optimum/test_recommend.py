"""The recommendation against a fine grid, its confidence, and what it says when nothing qualifies."""

import pytest
import torch
from scipy.stats import norm
from small_beliefs import hyperparameters, make_belief

from pesky import Integer, Problem, Real
from pesky.likelihood import Conditions
from pesky.likelihood.probit import YES_NO_NOISE
from pesky.likelihood.rows import PROBIT
from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.latent import pseudo_measurements
from pesky.model.limited import with_conditions
from pesky.optimum.assessment import assess, curvature_of, differentiated
from pesky.optimum.recommend import recommend
from pesky.space import Space

SPACE = Space({"x": Real(0, 1), "y": Real(0, 1)})
BOTH = torch.arange(2)
GRID = torch.cartesian_prod(*[torch.linspace(0, 1, 151)] * 2)


def confidence(belief: GaussianProcess, level: float = 0.95) -> torch.Tensor:
    return torch.full((belief.amplitude.shape[-1] - 1,), level)


def several(belief: GaussianProcess) -> GaussianProcess:
    rows = belief.amplitude.shape[-1]
    others = [hyperparameters(rows, 2, lengthscale=length, noise=0.02) for length in (0.25, 0.4, 0.6)]
    stacked = Hyperparameters(*(torch.stack(p) for p in zip(*others, strict=True)))
    return GaussianProcess(belief.kernel, belief.X, belief.y, belief.mask, stacked)


def moments(belief: GaussianProcess, X: torch.Tensor):
    """Expected objective, and the probability of each constraint, averaged over samples (METHOD 11)."""
    batch = belief.amplitude.shape[:-1]
    here = X.expand(*batch, *X.shape)
    mean, deviation = belief.mean(here), belief.variance(here).sqrt()
    p = torch.as_tensor(norm.cdf((mean / deviation).numpy()))[..., 1:, :]
    return (mean[..., 0, :].mean(0), p.mean(0)) if batch else (mean[0], p)


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("level", [0.6, 0.975])
def test_the_recommendation_is_the_lowest_mean_that_qualifies(samples, level):
    belief = make_belief(rows=3, n=12, seed=14, offsets=(0.8, 0.8))
    belief = several(belief) if samples > 1 else belief
    mean, p = moments(belief, GRID)
    qualifies = (p >= level).all(0)
    assert qualifies.any()
    assert not qualifies.all()
    found = recommend(belief, SPACE, confidence(belief, level), 0)
    assert found.is_confident
    assert found.mean <= mean[qualifies].min() + 2e-3
    at_mean, at_p = moments(belief, found.u[None])
    assert found.mean == pytest.approx(at_mean.item(), abs=1e-9)
    torch.testing.assert_close(found.probabilities, at_p[:, 0], rtol=1e-9, atol=1e-9)
    assert (at_p >= level - 1e-6).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_in_ten_dimensions_it_is_where_many_more_searches_would_end(seed):
    belief = make_belief(5, 80, 10, seed, "matern52", lengthscale=1.5, noise=1e-4, offsets=(0.7,) * 4)
    space = Space({f"x{i}": Real(0, 1) for i in range(10)})
    found = recommend(belief, space, confidence(belief), 0)
    longer = recommend(belief, space, confidence(belief), 0, starts=40, steps=100)
    assert found.is_confident
    assert found.mean < longer.mean + 1e-4


BAND = Conditions((1, 1, 2, 0), (1, -1, 1, -1), torch.tensor([-0.2, 0.4, 0.1, 1.0]), 3)
"""One row within an interval, one above a bound, and the objective below one."""


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("conditions", [None, BAND])
def test_derivatives_are_difference_quotients(samples, conditions):
    belief = make_belief(rows=3, n=12, seed=14, offsets=(0.8, 0.8))
    belief = with_conditions(several(belief) if samples > 1 else belief, conditions)
    levels = torch.tensor([0.9, 0.6] if conditions is None else [0.9, 0.6, 0.95, 0.8])
    generator = torch.Generator().manual_seed(1)
    X, weights = torch.rand(5, 2, generator=generator), torch.randn(1 + len(levels), 5, generator=generator)
    here = differentiated(belief, X, levels, BOTH)
    now = assess(belief, X, levels)
    torch.testing.assert_close(here.values, torch.cat([now.mean[None], now.margin]))
    steps = 1e-5 * torch.eye(2)
    ahead, behind = ([differentiated(belief, X + sign * step, levels, BOTH) for step in steps] for sign in (1, -1))
    by_x = torch.stack([(a.values - b.values) / 2e-5 for a, b in zip(ahead, behind, strict=True)], -1)
    # beyond 1e-15 or 1 - 1e-15 probabilities of several samples are no longer told from each other
    p = now.log_probability.exp()
    is_told = torch.cat([torch.ones(1, 5, dtype=torch.bool), (p > 1e-9) & (p < 1 - 1e-9) | (samples == 1)])
    assert is_told.sum() > 8
    torch.testing.assert_close(here.gradients[is_told], by_x[is_told], rtol=1e-5, atol=1e-5)
    if samples == 1:  # of several they are not quite the second derivatives
        twice = torch.stack([(a.gradients - b.gradients) / 2e-5 for a, b in zip(ahead, behind, strict=True)], -1)
        expected = (weights[..., None, None] * twice).sum(0)
        torch.testing.assert_close(curvature_of(belief, here, weights), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("high", [100, 1000])
def test_along_a_valley_across_a_lattice_the_lowest_point_is_found(high):
    """A small lattice is looked at whole; in a large one integers move two at a time."""
    space = Space({"i": Integer(1, high), "j": Integer(1, high)})
    X = space.snap(torch.rand(80, 2, generator=torch.Generator().manual_seed(0)))
    y = 30 * (X[:, 0] - 0.5 * X[:, 1] - 0.2) ** 2 + (X[:, 0] - 0.35) ** 2
    h = hyperparameters(1, 2, lengthscale=0.5, noise=1e-8)
    belief = GaussianProcess("se", X[None], y[None], torch.ones(1, 80, dtype=torch.bool), h, space.snap)
    found = recommend(belief, space, torch.zeros(0), 0)
    around = torch.cartesian_prod(*[torch.arange(-40, 41)] * 2) / high
    near = space.snap((found.u + around).clamp(0.0, 1.0))
    lowest = belief.mean(torch.cat([near, X, space.spread(4096, 1)])).min()
    assert found.mean <= lowest + 1e-9


def test_real_columns_follow_the_integers_they_go_with():
    """A valley across the integers: at any one value of `x` alone, every other integer is worse."""
    space = Space({"k": Integer(1, 60), "x": Real(0, 1)})
    X = torch.rand(60, 2, generator=torch.Generator().manual_seed(0))
    X = space.snap(X)
    y = 20 * (X[:, 0] - X[:, 1]) ** 2 + (X[:, 0] - 0.3) ** 2
    h = hyperparameters(1, 2, lengthscale=0.5, noise=1e-6)
    belief = GaussianProcess("se", X[None], y[None], torch.ones(1, 60, dtype=torch.bool), h, snap=space.snap)
    lattice = space.snap(torch.cartesian_prod((torch.arange(60) + 0.5) / 60, torch.linspace(0, 1, 2001)))
    lowest = belief.mean(lattice)[0].min()
    for seed in range(4):
        found = recommend(belief, space, confidence(belief), seed)
        assert found.mean <= lowest + 1e-6


def test_a_small_qualifying_corner_that_no_candidate_lies_in_is_found():
    belief = make_belief(rows=3, n=12, seed=1, offsets=(0.8, 0.8))
    mean, p = moments(belief, GRID)
    lowest = torch.where((p >= 0.6).all(0), mean, torch.inf).min()
    assert recommend(belief, SPACE, confidence(belief, 0.6), 0).mean <= lowest + 2e-3


def test_an_active_constraint_is_approached_to_its_confidence():
    belief = make_belief(rows=2, n=12, seed=14, offsets=(0.0,))
    found = recommend(belief, SPACE, confidence(belief), 0)
    assert found.is_confident
    free = moments(belief, GRID)[0].min()
    assert found.mean > free + 0.01  # the constraint does bind
    assert found.probabilities.item() == pytest.approx(0.95, abs=1e-3)


def test_without_constraints_it_is_the_lowest_mean():
    belief = make_belief(rows=1, n=10, seed=3)
    found = recommend(belief, SPACE, torch.zeros(0), 0)
    assert found.is_confident
    assert found.probabilities.shape == (0,)
    assert found.mean <= moments(belief, GRID)[0].min() + 1e-6


@pytest.mark.parametrize("samples", [1, 3])
def test_where_nothing_qualifies_it_says_so_and_is_the_likeliest_point(samples):
    belief = make_belief(rows=3, n=12, seed=4, offsets=(-3.0, -1.0))
    if samples > 1:
        more = several(belief)
        h = more.hyperparameters
        belief = GaussianProcess(more.kernel, more.X, more.y, more.mask, h._replace(mean=h.mean - 2.0))
    found = recommend(belief, SPACE, confidence(belief), 0)
    assert not found.is_confident
    log_p = moments(belief, GRID)[1].clamp(min=1e-300).log().sum(0)
    assert found.probabilities.log().sum() >= log_p.max() - 1e-2


def test_it_is_not_confined_to_measured_points():
    belief = make_belief(rows=2, n=8, seed=5, offsets=(1.0,))
    found = recommend(belief, SPACE, confidence(belief), 0)
    assert (belief.points - found.u).norm(dim=-1).min() > 1e-3


def test_each_constraint_has_a_confidence_of_its_own():
    belief = make_belief(rows=3, n=12, seed=1, offsets=(0.5, 0.5))
    level = torch.tensor([0.99, 0.6])
    found = recommend(belief, SPACE, level, 0)
    assert found.is_confident
    assert (found.probabilities >= level - 1e-6).all()


def test_the_margin_is_positive_exactly_where_the_confidence_is_reached():
    belief = several(make_belief(rows=3, n=8, seed=6))
    for each, level in ((belief, 0.8), (make_belief(rows=3, n=8, seed=6), 0.3)):
        now = assess(each, GRID[::37], confidence(each, level))
        mean, p = moments(each, GRID[::37])
        torch.testing.assert_close(now.mean, mean)
        torch.testing.assert_close(now.log_probability.exp(), p)
        assert torch.equal(now.margin >= 0, p >= level)


def test_the_margin_of_one_sample_is_in_units_of_the_constraint():
    belief = make_belief(rows=2, n=6, seed=7)
    X = GRID[::1000]
    now = assess(belief, X, torch.tensor([0.975]))
    expected = belief.mean(X)[1] - 1.959963985 * belief.variance(X)[1].sqrt()
    torch.testing.assert_close(now.margin[0], expected, rtol=1e-6, atol=1e-8)


def test_in_a_discrete_space_it_is_one_of_its_points():
    problem = Problem({"n": Integer(0, 6), "y": Real(0, 1)}, minimize="f", constraints=["c >= 0"])
    space = Space.of(problem)
    base = make_belief(rows=2, n=10, seed=8, offsets=(0.5,))
    belief = GaussianProcess(base.kernel, space.snap(base.X), base.y, base.mask, base.hyperparameters, space.snap)
    found = recommend(belief, space, confidence(belief), 0)
    torch.testing.assert_close(space.snap(found.u), found.u)
    lattice = torch.cat([torch.stack([space.encode({"n": n, "y": y / 100}) for y in range(101)]) for n in range(7)])
    mean, p = moments(belief, lattice)
    assert found.mean <= mean[(p >= 0.95).all(0)].min() + 5e-3


def crashing(samples: int | None = None) -> GaussianProcess:
    """A bowl around (0.8, 0.5) whose runs crash beyond x = 0.6, measured on a lattice."""
    X = torch.cartesian_prod(torch.linspace(0.05, 0.95, 7), torch.linspace(0.1, 0.9, 4)).expand(2, 28, 2)
    bowl = (X[0] - torch.tensor([0.8, 0.5])).square().sum(-1)
    answers = torch.where(X[0, :, 0] > 0.6, -1.0, 1.0)
    h = Hyperparameters(
        torch.tensor([[0.6, 0.6], [0.3, 0.6]]),
        torch.tensor([0.1, 8.0]),
        torch.tensor([1e-6, YES_NO_NOISE]),
        torch.tensor([0.2, 0.0]),
    )
    yes_no, mask = torch.tensor([False, True]), torch.ones(2, 28, dtype=torch.bool)
    values, noise = pseudo_measurements(PROBIT, "se", X[1:], answers[None], mask[1:], h.rows(yes_no))
    y, data_noise = torch.cat([bowl[None], values]), torch.cat([torch.full((1, 28), 1e-6), noise])
    if samples is not None:
        h = Hyperparameters(*(part.expand(samples, *part.shape) for part in h))
        y, data_noise = y.expand(samples, 2, 28), data_noise.expand(samples, 2, 28)
    return GaussianProcess("se", X, y, mask, h, None, ("gaussian", "probit"), data_noise)


@pytest.mark.parametrize("samples", [None, 3])
def test_a_yes_or_no_holds_with_the_probability_of_its_answer(samples):
    belief, X = crashing(samples), GRID[::37]
    here = X if samples is None else X.expand(samples, *X.shape)
    mean, variance = belief.mean(here)[..., 1, :], belief.variance(here)[..., 1, :]
    p = torch.as_tensor(norm.cdf((mean / (1 + variance).sqrt()).numpy()))
    p = p if samples is None else p.mean(0)
    now = assess(belief, X, torch.tensor([0.9]))
    torch.testing.assert_close(now.log_probability[0].exp(), p)
    assert torch.equal(now.margin[0] >= 0, p >= 0.9)
    assert (p >= 0.9).any()


@pytest.mark.parametrize("samples", [None, 3])
def test_the_recommendation_keeps_clear_of_crashes(samples):
    belief = crashing(samples)
    found = recommend(belief, SPACE, torch.tensor([0.95]), 0)
    assert found.is_confident
    assert found.probabilities.item() == pytest.approx(0.95, abs=1e-3)
    assert 0.4 < found.u[0] < 0.6
    assert found.u[1].item() == pytest.approx(0.5, abs=0.1)
    bolder = recommend(belief, SPACE, torch.tensor([0.7]), 0)
    assert bolder.u[0] > found.u[0]
    assert bolder.mean < found.mean
