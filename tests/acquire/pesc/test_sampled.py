"""The gains from joint samples: those of brute force, also where outcomes are measured apart and in four dimensions."""

from dataclasses import replace

import pytest
import torch
from acquire.brute import brute_force
from small_beliefs import difference_quotient, hyperparameters, make_belief

from benchmarks.gain_curves import gain_curves
from benchmarks.grid_truth import GridSize, check, draw_grid_dataset
from benchmarks.measure import measure_agreement
from benchmarks.oracle import Oracle
from pesky.acquire import Context, EntropySearchByEP, PredictiveEntropySearch
from pesky.acquire.grouped.gain import GroupedGain
from pesky.data.pending import Pending
from pesky.model import GaussianProcess
from pesky.problem import Integer, Real
from pesky.space import Space

PESC = PredictiveEntropySearch()
QUICK, MANY = PredictiveEntropySearch(cells=60, candidates=128), PredictiveEntropySearch(cells=400)


def context(belief, pending=None, asked=0, seed=0) -> Context:
    d = belief.points.shape[-1]
    space = Space({f"x{i}": Real(0.0, 1.0) for i in range(d)})
    confidence = torch.full((belief.amplitude.shape[-1] - 1,), 0.95)
    return Context(belief, space, confidence, torch.Generator().manual_seed(seed), pending, asked)


def awaited(count: int, d: int = 1, rows: int = 2) -> Pending:
    X = torch.rand(count, d, generator=torch.Generator().manual_seed(4))
    return Pending(X, torch.ones(count, rows, dtype=torch.bool))


def test_in_one_dimension_the_gains_are_those_of_brute_force():
    belief = make_belief(2, 5, 1, offsets=(0.3,), lengthscale=0.2, noise=1e-2)
    X = torch.linspace(0, 1, 15)[:, None]
    truth = brute_force(belief, torch.linspace(0, 1, 201)[:, None], X, 20_000, seed=1)
    ours = PredictiveEntropySearch(samples_per_cell=40).acquisition(context(belief))(X)
    assert (ours - truth).abs().max() < 0.12 * truth.max()


def test_in_four_dimensions_they_choose_the_outcome_that_tells_most_where_ep_does_not():
    dataset = draw_grid_dataset(4, 1, 3, GridSize(0.5, 20, cells=300, samples=8000))
    oracle = Oracle(torch.zeros(0, 4), (dataset,))
    sampled, ep = (measure_agreement(oracle, rule, 1, gain_curves)[0][0] for rule in (PESC, EntropySearchByEP()))
    assert sampled.decoupled > 0.9
    assert sampled.efficiency > 0.95
    assert sampled.correlation > max(0.97, ep.correlation)


def test_the_true_gains_of_the_grid_are_much_the_same_by_another_way(monkeypatch):
    monkeypatch.setattr("benchmarks.grid_truth.CHECK_DRAWS", 3000)
    dataset = draw_grid_dataset(2, 0, 3, GridSize(0.3, 12, cells=200, samples=6000))
    other = check(dataset)
    assert other.correlation > 0.93
    assert other.efficiency > 0.85


def test_the_gradient_is_that_of_finite_differences(monkeypatch):
    monkeypatch.setattr("pesky.acquire.pesc.rule.SINGLE", torch.float64)
    belief = make_belief(3, 6, 2, offsets=(0.5, 0.2))
    gain = QUICK.acquisition(context(belief, awaited(1, 2, 3)))
    X = torch.rand(5, 2, generator=torch.Generator().manual_seed(1))
    x = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(gain(x).sum(), x)
    expected = difference_quotient(lambda t: gain(t).sum(-1), X)
    torch.testing.assert_close(gradient, expected, rtol=1e-3, atol=1e-5)


def test_single_precision_changes_gains_by_less_than_one_in_a_hundred_thousand(monkeypatch):
    belief = make_belief(3, 30, 2, offsets=(0.5, -0.1), noise=1e-10)
    here = torch.cat([belief.points, torch.rand(20, 2, generator=torch.Generator().manual_seed(1))])
    single = QUICK.acquisition(context(belief))(here)
    monkeypatch.setattr("pesky.acquire.pesc.rule.SINGLE", torch.float64)
    double = QUICK.acquisition(context(belief))(here)
    assert (single - double).abs().max() < 1e-5 * double.max()


@pytest.mark.parametrize("noise", [1e-1, 1e-2])
@pytest.mark.parametrize("count", [3, 10])
def test_where_much_is_pending_the_gains_are_those_of_brute_force(count, noise):
    belief = make_belief(2, 5, 1, offsets=(0.3,), lengthscale=0.2, noise=noise)
    X, pending = torch.linspace(0, 1, 15)[:, None], awaited(count)
    truth = brute_force(belief, torch.linspace(0, 1, 101)[:, None], X, 20_000, seed=1, pending=pending)
    rule, errors, shares = PESC, [], []
    for seed in range(4):  # other processors have other random numbers: what one seed gives is chance
        ours = rule.acquisition(context(belief, pending, seed=seed))(X)
        errors.append((ours - truth).abs().max() / truth.max())
        shares.append(truth.sum(-1)[ours.sum(-1).argmax()] / truth.sum(-1).max())
    assert torch.stack(errors).mean() < 0.4
    assert torch.stack(shares).mean() > 0.95


def test_more_questions_of_a_batch_are_valued_by_the_samples_that_there_are():
    belief, rule = make_belief(2, 5, 1, offsets=(0.3,), lengthscale=0.2, noise=1e-2), MANY
    first, pending = rule.acquisition(context(belief)), awaited(4)
    more = rule.once_more(first, context(belief, pending, asked=4, seed=1))
    anew = rule.acquisition(context(belief, pending, asked=4, seed=1))
    assert isinstance(first, GroupedGain)
    assert isinstance(more, GroupedGain)
    assert more.samples is first.samples
    X = torch.linspace(0, 1, 15)[:, None]
    assert (more(X) - anew(X)).abs().max() < 0.1 * anew(X).max()
    assert more(X).max() < 0.9 * first(X).max()


def test_an_update_keeps_the_cells_and_has_the_new_data():
    belief = make_belief(2, 6, 1, seed=3)
    fewer = replace(belief, mask=torch.arange(6).expand(2, 6) < 5)
    rule = QUICK
    before = rule.acquisition(context(fewer))
    after = rule.update(before, context(belief))
    assert isinstance(before, GroupedGain)
    assert isinstance(after, GroupedGain)
    assert after.optima is before.optima
    new = belief.points[-1:]
    assert after(new).sum() < before(new).sum()


def test_a_coarse_look_has_no_use_for_digits():
    belief = make_belief(2, 6, 1, noise=1e-10)
    fine, coarse = (QUICK.acquisition(context(belief, asked=asked)) for asked in (4, 3))
    assert coarse.is_coarse
    assert not fine.is_coarse
    here = torch.linspace(0, 1, 20)[:, None]
    assert coarse(here).max() < fine(here).max()


def dip_known_to_digits() -> GaussianProcess:
    """No noise, a minimum of -2 near .15, known to some digits, and nothing of what is beyond .4."""
    X = torch.tensor([0.0, 0.12, 0.16, 0.21, 0.4])[:, None]
    y = 60 * (X[:, 0] - 0.153).square() - 2.0
    h = hyperparameters(1, 1, lengthscale=0.1, noise=1e-10)
    return GaussianProcess("se", X[None], y[None], torch.ones(1, len(y), dtype=torch.bool), h)


def test_the_next_solution_is_sought_once_only_digits_of_one_are_open():
    belief = dip_known_to_digits()
    X = torch.linspace(0, 1, 401)[:, None]
    near = (X[:, 0] > 0.08) & (X[:, 0] < 0.24)
    best = []
    for indifference in (None, PESC.indifference):
        rule = PredictiveEntropySearch(indifference=indifference)
        gain = rule.acquisition(context(belief))(X)[:, 0]
        best.append((float(gain[near].max()), float(gain[~near].max())))
    (digits, elsewhere), (digits_now, elsewhere_now) = best
    assert digits > 1.5 * elsewhere
    assert elsewhere_now > 3 * digits_now


def test_there_are_fewer_cells_in_few_dimensions_and_several_hyperparameter_samples_share_them():
    assert [PESC.cells_in(d, 1) for d in (1, 2, 4, 8)] == [100, 150, 250, 300]
    assert PESC.cells_in(2, 10) == 50
    assert PESC.cells_in(2, 2) == 75


def test_while_there_are_few_data_for_each_parameter_there_are_fewer_cells():
    assert [PESC.at(asked, 4).cells for asked in (5, 11, 12, 100)] == [200, 200, 300, 300]
    assert PESC.at(5, 4).draws == 256
    belief = make_belief(2, 5, 4)
    early, late = (QUICK.acquisition(context(belief, asked=asked)) for asked in (1, 100))
    assert isinstance(early, GroupedGain)
    assert isinstance(late, GroupedGain)
    assert early.cells.shape[-2] < late.cells.shape[-2]


@pytest.mark.parametrize("most", [20, 600])
def test_in_mixed_spaces_draws_are_looked_at_one_move_from_what_is_good(most: int):
    space = Space({"k": Integer(1, most), "x": Real(0, 1)})
    X = space.snap(torch.rand(20, 2, generator=torch.Generator().manual_seed(0)))
    y = (X - 0.3).square().sum(-1)
    h = hyperparameters(1, 2, lengthscale=0.4, noise=1e-6)
    belief = GaussianProcess("se", X[None], y[None], torch.ones(1, 20, dtype=torch.bool), h, snap=space.snap)
    found = Context(belief, space, torch.zeros(0), torch.Generator().manual_seed(0))._candidates(32)
    near = space.neighbors(X[y.argmin()])
    assert all((found == move).all(-1).any() for move in near)
    if most == 20:
        assert all((found[:, 0] == move[0]).sum() >= 4 for move in near)  # with other values of x as well
    else:
        assert len(found[:, 0].unique()) > 100  # and of k, where it has many
    torch.testing.assert_close(space.snap(found), found)


def test_in_mixed_spaces_nothing_need_be_measured_yet():
    space = Space({"k": Integer(1, 60), "x": Real(0, 1)})
    h = hyperparameters(1, 2, lengthscale=0.4, noise=1e-6)
    none = torch.zeros(1, 0, dtype=torch.bool)
    belief = GaussianProcess("se", torch.zeros(1, 0, 2), torch.zeros(1, 0), none, h, snap=space.snap)
    found = Context(belief, space, torch.zeros(0), torch.Generator().manual_seed(0))._candidates(32)
    assert found.shape == (32, 2)
