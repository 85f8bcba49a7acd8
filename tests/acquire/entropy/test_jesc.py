"""Joint entropy search with constraints: against conditioned simulation, at x*, with nothing feasible, and in use."""

from dataclasses import replace

import pytest
import torch
from contexts import context, feasible, points, sample_of, samples_of
from small_beliefs import difference_quotient, hyperparameters, make_belief
from torch import Tensor

from pesky.acquire import BotorchAcquisition
from pesky.acquire.base import Rule
from pesky.acquire.entropy.cmes import MaxValueEntropySearch
from pesky.acquire.entropy.jesc import JointEntropySearch, SolutionInformation
from pesky.acquire.fantasy import Fantasies
from pesky.data.pending import Pending
from pesky.likelihood.probit import YES_NO_NOISE
from pesky.model import GaussianProcess
from pesky.optimum import sample_solutions

QUICK = JointEntropySearch(samples=10, draws=40, polish_steps=4, candidates=64)


def told(belief: GaussianProcess, x: Tensor, values: Tensor) -> GaussianProcess:
    """The belief after the values (j) at x (d) were told without noise."""
    rows, n, _ = belief.X.shape
    noise = torch.cat([belief.noise[:, None].expand(rows, n), torch.full((rows, 1), 1e-10)], -1)
    return replace(
        belief,
        X=torch.cat([belief.X, x.expand(rows, 1, -1)], 1),
        y=torch.cat([belief.y, values[:, None]], 1),
        mask=torch.cat([belief.mask, torch.ones(rows, 1, dtype=torch.bool)], 1),
        data_noise=noise,
    )


def simulated(belief: GaussianProcess, acquisition: SolutionInformation, X: Tensor, count: int = 10_000) -> Tensor:
    """Values (m, j, count, x) at X given each solution, NaN where X would be feasible and better than it."""
    rows, x = belief.amplitude.shape[-1], X.shape[0]
    z = torch.randn(rows, count, x, generator=torch.Generator().manual_seed(0))
    every = []
    for m, x_star in enumerate(acquisition.solutions.optima.chosen.x):
        values = acquisition.solutions.values[:, m]
        given, exists = told(belief, x_star, values), bool(acquisition.solutions.exists[m])
        mean, variance = given.mean(X), given.variance(X)
        if not exists:
            mean, variance = (
                torch.cat([a(X)[:1], b[1:]]) for a, b in ((belief.mean, mean), (belief.variance, variance))
            )
        drawn = mean[:, None] + variance.sqrt()[:, None] * z
        better = (drawn[0] < values[0]) | (not exists)
        every.append(torch.where(better & (drawn[1:] >= 0).all(0), torch.nan, drawn))
    return torch.stack(every)


def spread(drawn: Tensor) -> Tensor:
    """Variance along the second last dimension, of what is not NaN."""
    mean = drawn.nanmean(-2, keepdim=True)
    return (drawn - mean).square().nanmean(-2)


@pytest.mark.parametrize(("rows", "offset"), [(1, 0.0), (2, 0.5), (3, 0.5), (4, 0.8), (2, -1.8)])
def test_it_is_what_a_solution_told_takes_from_the_entropy_of_each_row(rows: int, offset: float):
    """On a grid in one dimension; the last case has draws without a feasible point among others."""
    belief = make_belief(rows=rows, n=4, d=1, seed=rows, offsets=(offset,) * (rows - 1), noise=0.02, lengthscale=0.2)
    X = torch.linspace(0, 1, 15)[:, None]
    acquisition = QUICK.acquisition(context(belief))
    assert acquisition.solutions.exists.all() == (offset >= 0)
    compare_with_simulation(belief, acquisition, X)


def test_a_solution_that_does_not_exist_says_that_no_point_is_feasible():
    """Told of draws that do have feasible points, so that it changes much; at points where it is possible at all."""
    belief = make_belief(rows=2, n=4, d=1, seed=2, offsets=(-0.5,), noise=0.02, lengthscale=0.2)
    acquisition, X = QUICK.acquisition(context(belief)), torch.linspace(0, 1, 15)[:, None]
    none = acquisition.solutions._replace(exists=torch.zeros_like(acquisition.solutions.exists))
    none = none._replace(values=none.values - torch.tensor([[0.0], [0.5]]))
    told_none = SolutionInformation(belief, Fantasies(belief), none)
    X = X[(~simulated(belief, told_none, X).isnan()).sum(-2).amin((0, 1)) > 2000]
    assert len(X) > 4
    compare_with_simulation(belief, told_none, X)


def compare_with_simulation(belief: GaussianProcess, acquisition: SolutionInformation, X: Tensor) -> None:
    after = spread(simulated(belief, acquisition, X))
    noise = belief.noise[:, None]
    left = (acquisition.solutions.optima.chosen.weight[:, None, None] * torch.log(after + noise)).sum(0)
    brute = 0.5 * (torch.log(belief.variance(X) + noise) - left)
    torch.testing.assert_close(acquisition(X).mT, brute, rtol=0.03, atol=0.03)
    assert brute.max() > 0.2


def test_yes_and_no_count_in_bits():
    belief = make_belief(rows=2, n=4, d=1, seed=2, offsets=(0.5,), noise=0.02, lengthscale=0.2)
    noise = torch.stack([belief.noise[0], torch.tensor(YES_NO_NOISE)])
    belief = replace(belief, kinds=("gaussian", "probit"), hyperparameters=belief.hyperparameters._replace(noise=noise))
    X = torch.linspace(0, 1, 15)[:, None]
    acquisition = QUICK.acquisition(context(belief))

    def fallback(yes: Tensor) -> Tensor:
        return -torch.special.xlogy(yes, yes) - torch.special.xlogy(1 - yes, 1 - yes)

    yes = torch.special.ndtr(simulated(belief, acquisition, X)[:, 1]).nanmean(-2)
    before = fallback(torch.special.ndtr(belief.mean(X)[1] / (1 + belief.variance(X)[1]).sqrt()))
    brute = before - (acquisition.solutions.optima.chosen.weight[:, None] * fallback(yes)).sum(0)
    torch.testing.assert_close(acquisition(X)[:, 1], brute, rtol=0.03, atol=0.01)


@pytest.mark.parametrize("rows", [1, 2, 4])
@pytest.mark.parametrize("noise", [1e-12, 1e-2])
def test_its_gradient_is_right_and_finite_everywhere(rows: int, noise: float):
    belief = make_belief(rows=rows, n=8, seed=1, offsets=(1.0,) * (rows - 1), noise=noise)
    acquisition = QUICK.acquisition(context(belief))
    X = points(8).requires_grad_()
    (gradient,) = torch.autograd.grad(acquisition(X).sum(), X)
    quotient = difference_quotient(lambda x: acquisition(x).sum(-1), X.detach(), step=1e-6)
    torch.testing.assert_close(gradient, quotient, rtol=1e-3, atol=1e-4)
    X = torch.cat(
        [belief.points, acquisition.search_centers, belief.points + 1e-7, acquisition.search_centers - 1e-7]
    ).requires_grad_()
    value = acquisition(X)
    assert torch.isfinite(value).all()
    assert torch.isfinite(torch.autograd.grad(value.sum(), X)[0]).all()
    if noise < 1e-10:
        assert (acquisition(belief.points).abs() < 1e-3).all()


def test_the_worth_of_a_question_is_the_sum_over_its_rows():
    belief, X = feasible(), points(5)
    acquisition = BotorchAcquisition(belief, QUICK)
    torch.testing.assert_close(acquisition(X[:, None]), acquisition.gains(X).sum(-1))


def test_a_constraint_that_surely_holds_leaves_the_objective_as_it_is():
    belief, X = make_belief(rows=2, seed=1, offsets=(40.0,)), points()
    acquisition = QUICK.acquisition(context(belief))
    alone = replace(
        belief, X=belief.X[:1], y=belief.y[:1], mask=belief.mask[:1],
        hyperparameters=type(belief.hyperparameters)(*(part[:1] for part in belief.hyperparameters)),
    )  # fmt: skip
    solutions = acquisition.solutions._replace(values=acquisition.solutions.values[:1])
    unconstrained = SolutionInformation(alone, Fantasies(alone), solutions)
    torch.testing.assert_close(acquisition(X)[:, :1], unconstrained(X))


def test_pending_points_take_the_worth_of_what_is_measured_there():
    belief = feasible(rows=2, noise=1e-12)
    now = QUICK.acquisition(context(belief))
    P = torch.cat([now.search_centers[:2], points(1)])
    before = now(P)
    after = QUICK.acquisition(context(belief, Pending(P, torch.ones(3, 2, dtype=torch.bool))))
    assert (before[:2].sum(-1) > 0.1).all()
    assert (after(P).abs() < 0.02).all()
    assert (after(points(100)).sum(-1) > -0.05).all()
    only = QUICK.acquisition(context(belief, Pending(P, torch.tensor([[True, False]] * 3))))(P)
    assert (only[:, 0].abs() < 0.02).all()
    assert only[:, 1].max() > 0.3 * before[:, 1].max()


def test_hyperparameter_samples_are_taken_one_by_one():
    several, X = samples_of(feasible(noise=0.05), 3), points(5)
    solutions = sample_solutions(several, 24, 200, points(64), 3, torch.Generator().manual_seed(0), "place")
    acquisition = SolutionInformation(several, Fantasies(several), solutions)
    each = acquisition.forward(X.expand(3, 5, 2))
    torch.testing.assert_close(acquisition(X).mT, each.mean(0))
    for i in range(3):
        one = sample_of(several, i)
        chosen = type(solutions.optima.chosen)(*(part[i] for part in solutions.optima.chosen))
        alone = solutions._replace(
            optima=solutions.optima._replace(chosen=chosen), values=solutions.values[i], exists=solutions.exists[i]
        )
        torch.testing.assert_close(SolutionInformation(one, Fantasies(one), alone).forward(X), each[i])


def test_draws_with_and_without_a_feasible_point_keep_their_shares():
    belief = make_belief(rows=2, seed=3, offsets=(-1.5,))
    found = sample_solutions(belief, 15, 200, points(200), 5, torch.Generator().manual_seed(1), "place")
    weight = found.optima.chosen.weight
    assert weight.sum().item() == pytest.approx(1.0)
    assert 0.05 < found.optima.infeasible_share < 0.95
    assert weight[~found.exists].sum().item() == pytest.approx(found.optima.infeasible_share, abs=1e-9)
    violation = (-found.values[1:]).clamp(min=0.0).sum(0)
    assert (violation[found.exists] < 1e-4).all()
    assert (violation[~found.exists] > 0).all()


@pytest.mark.parametrize("rule", [QUICK, MaxValueEntropySearch(samples=10, draws=40, polish_steps=4, candidates=64)])
def test_it_finds_a_small_feasible_region(rule: Rule):
    """Every draw of the first beliefs is infeasible: the questions must not stay where they are."""

    def truth(x: Tensor) -> Tensor:
        return torch.stack([x, 1.2 * torch.exp(-(((x - 0.66) / 0.1) ** 2)) - 1.0])  # feasible on 0.617 .. 0.703

    h = hyperparameters(2, 1, lengthscale=0.1, amplitude=0.3, noise=1e-8)._replace(mean=torch.tensor([0.5, -1.0]))
    x = torch.tensor([0.15, 0.4, 0.9])
    for step in range(15):
        X = x[None, :, None].expand(2, -1, 1)
        belief = GaussianProcess("se", X, truth(x), torch.ones(2, len(x), dtype=torch.bool), h)
        acquisition = rule.acquisition(context(belief, seed=step))
        grid = torch.linspace(0, 1, 301)[:, None]
        x = torch.cat([x, grid[acquisition(grid).sum(-1).argmax()]])
        if truth(x[-1:])[1, 0] >= 0:
            return
    raise AssertionError(f"asked at {x.tolist()}")
