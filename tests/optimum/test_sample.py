"""Samples of x*: where they lie, what happens to draws without a feasible point, and that they repeat."""

import pytest
import torch
from small_beliefs import make_belief

from pesky.model import GaussianProcess
from pesky.optimum import sample_optima
from pesky.optimum.minimize import Candidates
from pesky.optimum.sample import stratify


def sample(belief, samples=20, draws: int | None = 100, candidates=100, steps=6, seed=0):
    return sample_optima(belief, samples, draws, candidates, steps, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("draws", [None, 100])
def test_samples_are_feasible_minimizers_of_their_own_draws(draws):
    belief = make_belief(rows=3, seed=1, offsets=(0.5, 0.5))
    found = sample(belief, draws=draws)
    value = found.paths.at(found.chosen.x)[0]
    assert (value[1:] >= -1e-5 * belief.amplitude.sqrt().max()).all()
    elsewhere = found.paths.values(torch.rand(300, 2, generator=torch.Generator().manual_seed(9)))
    better = (elsewhere[1:] >= 0).all(0) & (elsewhere[0] < value[0][:, None] - 1e-3)
    assert better.any(-1).double().mean() <= 0.2  # a tenth of all draws have another minimum than the one found
    torch.testing.assert_close(found.chosen.weight.sum(), torch.tensor(1.0))


def test_samples_have_the_distribution_of_exact_draws():
    """Against joint draws on a grid: the same mean and spread of x*."""
    belief = make_belief(rows=2, n=3, d=1, seed=2, offsets=(0.5,))
    grid = torch.linspace(0, 1, 200)[:, None]
    root = torch.linalg.cholesky(belief.covariance(grid, grid) + 1e-8 * torch.eye(200))
    z = belief.mean(grid)[..., None] + root @ torch.randn(2, 200, 4000, generator=torch.Generator().manual_seed(0))
    feasible = z[1] >= 0
    exact = grid[torch.where(feasible, z[0], torch.inf).argmin(0), 0][feasible.any(0)]
    plain = sample(belief, samples=400, draws=None, candidates=64).chosen.x[:, 0]
    assert plain.mean().item() == pytest.approx(exact.mean().item(), abs=0.06)
    assert plain.std().item() == pytest.approx(exact.std().item(), abs=0.05)
    weighted = sample(belief, samples=25, draws=400, candidates=64).chosen
    assert (weighted.weight @ weighted.x[:, 0]).item() == pytest.approx(exact.mean().item(), abs=0.06)


def test_draws_without_a_feasible_point_are_left_out_and_counted():
    belief = make_belief(rows=2, seed=3, offsets=(-1.7,))
    found = sample(belief, samples=10, draws=100)
    assert 0.05 < found.infeasible_share < 0.95
    assert (found.paths.at(found.chosen.x)[0][1] >= -1e-4).all()


@pytest.mark.parametrize("draws", [None, 60])
def test_where_nothing_is_feasible_points_of_least_violation_stand_in(draws):
    belief = make_belief(rows=2, seed=4, offsets=(-8.0,))
    found = sample(belief, samples=8, draws=draws)
    assert found.infeasible_share == 1.0
    assert torch.isfinite(found.chosen.x).all()
    torch.testing.assert_close(found.chosen.weight.sum(), torch.tensor(1.0))


def test_given_candidates_are_the_only_starts():
    belief = make_belief(rows=2, seed=5)
    candidates = torch.rand(30, 2, generator=torch.Generator().manual_seed(1))
    found = sample_optima(belief, 5, 40, candidates, 0, torch.Generator().manual_seed(0))
    assert (found.chosen.x[:, None] == candidates).all(-1).any(-1).all()


def test_the_same_generator_gives_the_same_samples():
    belief = make_belief(rows=2, seed=6)
    assert torch.equal(sample(belief, seed=1).chosen.x, sample(belief, seed=1).chosen.x)


def test_hyperparameter_samples_have_samples_of_their_own():
    one = make_belief(rows=2, seed=7)
    h = one.hyperparameters
    both = GaussianProcess(one.kernel, one.X, one.y, one.mask, type(h)(*(torch.stack([p, 1.3 * p]) for p in h)))
    for draws in (None, 40):
        found = sample(both, samples=6, draws=draws)
        assert found.chosen.x.shape[0] == 2
        torch.testing.assert_close(found.chosen.weight.sum(-1), torch.ones(2))


def test_a_stratified_part_keeps_the_share_of_every_candidate():
    index = torch.tensor([3] * 20 + [7] * 10 + [1] * 10)[torch.randperm(40, generator=torch.Generator().manual_seed(0))]
    best = Candidates(index, torch.zeros(2, 40))
    keep = stratify(best, 8, torch.Generator().manual_seed(0))
    assert keep is not None
    assert keep.unique().numel() == 8
    assert sorted(index[keep].tolist()) == [1, 1, 3, 3, 3, 3, 7, 7]
    # draws without a feasible candidate are a stratum of their own
    values = torch.zeros(2, 40)
    values[1, :20] = -1.0
    keep = stratify(Candidates(torch.full((40,), 5), values), 8, torch.Generator().manual_seed(0))
    assert keep is not None
    assert (keep < 20).sum() == 4
