"""The augmented Lagrangian: its expectations against Monte Carlo, its units, and when the mean decides."""

from dataclasses import replace

import pytest
import torch
from contexts import context, feasible, infeasible, points, sample_of, samples_of
from small_beliefs import difference_quotient, make_belief
from torch import Tensor

from pesky import Study
from pesky.acquire import BotorchAcquisition
from pesky.acquire.improvement.al import AugmentedLagrangian
from pesky.acquire.improvement.lagrangian import Lagrangian
from pesky.data.pending import Pending
from pesky.model import GaussianProcess
from pesky.model.exact import ExactRow, WithExactRows
from pesky.space.exact import Exact
from pesky.test_functions import toy

BY_MEAN = AugmentedLagrangian(negligible=1e6)


def lagrangian(k: int) -> Lagrangian:
    return Lagrangian(
        torch.tensor(1.3), torch.linspace(0.5, 1.1, k), torch.linspace(0.7, 0.0, k), torch.tensor(0.2)
    )  # fmt: skip


def plain(of: Lagrangian, f: Tensor, c: Tensor) -> Tensor:
    """L as it is written, of f (n) and c (k, n)."""
    total = f.clone()
    for k in range(len(c)):
        scaled = c[k] / of.unit[k]
        total += of.unit_f * (-of.multiplier[k] * scaled + torch.minimum(scaled, torch.zeros(())) ** 2 / (2 * of.rho))
    return total


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_improvement_and_mean_are_those_of_draws(k: int):
    belief = make_belief(rows=k + 1, n=8, seed=1, offsets=(0.3,) * k)
    acquisition = AugmentedLagrangian(samples=4096).improvement(context(belief))
    assert not bool(acquisition.criterion.is_exhausted)
    X = points(60)
    X = X[acquisition(X)[:, 0].topk(6).indices]
    z = torch.randn(200_000, k + 1, 6, generator=torch.Generator().manual_seed(0))
    drawn = belief.mean(X) + belief.variance(X).sqrt() * z
    level = torch.stack(
        [plain(acquisition.posterior.lagrangian, drawn[:, 0, i], drawn[:, 1:, i].mT) for i in range(6)], 1
    )

    at_data = belief.mean(belief.points)
    torch.testing.assert_close(
        acquisition.lowest, plain(acquisition.posterior.lagrangian, at_data[0], at_data[1:]).min()
    )
    gained = (acquisition.lowest - level).clamp(min=0.0)
    error = gained.std(0) / len(z) ** 0.5
    assert ((acquisition.forward(X)[0].exp() - gained.mean(0)).abs() <= 4 * error + 2e-3 * gained.mean(0)).all()

    by_mean = BY_MEAN.improvement(context(belief))
    assert bool(by_mean.criterion.is_exhausted)
    _, threshold, lowest_mean = by_mean.criterion
    mean = lowest_mean + threshold * (threshold.log() - by_mean.forward(X)[0])
    assert ((mean - level.mean(0)).abs() <= 4 * level.std(0) / len(z) ** 0.5).all()


def test_idle_evaluations_count_as_ones_without_progress():
    """Else the same question would follow for ever."""
    values = torch.tensor([[0.0, 1.0, 2.0, 0.2], [-1.0, 1.0, 1.0, -0.5]])
    rule = AugmentedLagrangian()
    before, after = rule.replay(values, torch.ones(2)), rule.replay(values, torch.ones(2), idle=1)
    assert bool(after.multiplier[0] > before.multiplier[0])
    assert bool(after.rho < before.rho)
    belief = infeasible()
    asked = replace(context(belief), asked=len(belief.points) + 1)
    assert bool(
        (
            rule.improvement(asked).posterior.lagrangian.rho
            < rule.improvement(context(belief)).posterior.lagrangian.rho
        ).all()
    )


@pytest.mark.parametrize("rule", [AugmentedLagrangian(), BY_MEAN])
def test_units_do_not_matter(rule: AugmentedLagrangian):
    belief, X = make_belief(rows=3, n=9, seed=2, offsets=(-1.0, -1.0), noise=1e-8), points()
    factor, shift = torch.tensor([7.0, 3.0, 0.2]), torch.tensor([-40.0, 0.0, 0.0])
    h = belief.hyperparameters
    other = replace(
        belief,
        y=belief.y * factor[:, None] + shift[:, None],
        hyperparameters=h._replace(
            amplitude=h.amplitude * factor**2, noise=h.noise * factor**2, mean=h.mean * factor + shift
        ),
    )  # fmt: skip
    one, two = rule.improvement(context(belief)), rule.improvement(context(other))
    assert bool((one.posterior.lagrangian.multiplier > 0).any())
    torch.testing.assert_close(
        two.posterior.lagrangian.multiplier, one.posterior.lagrangian.multiplier, rtol=1e-5, atol=1e-5
    )
    torch.testing.assert_close(two.posterior.lagrangian.rho, one.posterior.lagrangian.rho, rtol=1e-5, atol=0)
    moved = two(X) - one(X)
    torch.testing.assert_close(moved, torch.full_like(moved, torch.tensor(7.0).log().item()), rtol=0, atol=2e-4)


@pytest.mark.parametrize("build", [feasible, infeasible])
@pytest.mark.parametrize("rule", [AugmentedLagrangian(), BY_MEAN])
def test_gradients_are_difference_quotients_and_batches_their_elements(build, rule: AugmentedLagrangian):
    belief, X = build(), points()
    acquisition = rule.improvement(context(belief))
    here = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(acquisition(here).sum(), here)
    torch.testing.assert_close(gradient, difference_quotient(lambda x: acquisition(x)[:, 0], X), rtol=1e-4, atol=1e-4)

    several = samples_of(belief, 3)
    batched = rule.improvement(context(several))
    for i in range(3):
        alone = rule.improvement(context(sample_of(several, i)))
        torch.testing.assert_close(batched.forward(X.expand(3, *X.shape))[i], alone.forward(X))


@pytest.mark.parametrize("rows", [1, 2, 4])
@pytest.mark.parametrize("build", [feasible, infeasible])
def test_everything_is_finite_at_measured_noise_free_points(build, rows: int):
    belief = build(rows, noise=1e-12)
    for rule in (AugmentedLagrangian(), BY_MEAN):
        acquisition = rule.improvement(context(belief))
        X = torch.cat([belief.points, acquisition.search_centers]).requires_grad_()
        values = acquisition(X)
        assert torch.isfinite(values).all()
        assert torch.isfinite(torch.autograd.grad(values.sum(), X)[0]).all()


def test_where_nothing_is_to_be_gained_the_mean_decides():
    """The lowest L of a function known everywhere is measured: the improvement that is left is rounding."""
    rule, X = AugmentedLagrangian(multiplier=0.3, initial=9, patience=99), torch.linspace(0, 1, 20001)[:, None]
    x = torch.linspace(0, 1, 9)[:, None]
    of = rule.replay(torch.stack([x[:, 0], x[:, 0] - 0.3]), torch.ones(2))
    lowest = X[plain(of, X[:, 0], (X[:, 0] - 0.3)[None]).argmin()]
    assert 0.2 < float(lowest) < 0.3

    some = make_belief(rows=2, n=1, d=1, lengthscale=1.0, noise=1e-10)
    for told, is_exhausted in ((x, False), (torch.cat([x, lowest[None]]), True)):
        n = len(told)
        y = torch.stack([told[:, 0], told[:, 0] - 0.3])
        belief = replace(some, X=told.expand(2, n, 1), y=y, mask=torch.ones(2, n, dtype=torch.bool))
        acquisition = rule.improvement(context(belief))
        assert bool(acquisition.criterion.is_exhausted) == is_exhausted
        assert float(X[acquisition(X)[:, 0].argmax()]) == pytest.approx(float(lowest), abs=5e-3)


def test_a_known_objective_is_a_row_like_another():
    constraint = make_belief(rows=1, n=7, seed=3, mean=0.2)
    known = Exact("f", lambda p: p["x0"] + p["x1"], context(constraint).space)
    belief = WithExactRows(constraint, (ExactRow(known, 1.0, 0.0, 1.0), None))
    acquisition = AugmentedLagrangian(samples=4096).improvement(context(belief))
    X = points(60)
    X = X[acquisition(X)[:, 0].topk(6).indices]
    z = torch.randn(200_000, 6, generator=torch.Generator().manual_seed(0))
    c = constraint.mean(X)[0] + constraint.variance(X)[0].sqrt() * z
    level = torch.stack(
        [plain(acquisition.posterior.lagrangian, X[i].sum().expand(len(z)), c[None, :, i]) for i in range(6)], 1
    )
    gained = (acquisition.lowest - level).clamp(min=0.0)
    error = gained.std(0) / len(z) ** 0.5
    assert ((acquisition.forward(X)[0].exp() - gained.mean(0)).abs() <= 4 * error + 5e-3 * gained.mean(0)).all()


def test_what_is_pending_is_not_asked_again():
    belief, rule = feasible(noise=1e-8), AugmentedLagrangian()
    X = points(200)
    values = rule.improvement(context(belief))(X)[:, 0]
    best = X[values.argmax()][None]
    pending = Pending(best, torch.ones(1, 3, dtype=torch.bool))
    after = rule.improvement(context(belief, pending))
    assert float(after(best)) < float(values.max()) - 3
    assert after.lowest <= belief.mean(best)[0, 0] + after.posterior.lagrangian.penalty(belief.mean(best)[1:])
    assert torch.isfinite(after(X)).all()


def test_yes_no_rows_enter_by_their_latent_function():
    belief = feasible()
    yes_no = replace(belief, kinds=("gaussian", "probit", "gaussian"))
    X, rule = points(), AugmentedLagrangian()
    torch.testing.assert_close(rule.improvement(context(yes_no))(X), rule.improvement(context(belief))(X))


def test_it_is_an_acquisition_of_botorchs():
    acquisition = BotorchAcquisition(feasible(), AugmentedLagrangian(samples=64))
    assert acquisition(points()[:, None]).shape == (20,)


def test_a_restarted_study_goes_on_as_before():
    benchmark, g = toy(), torch.Generator()
    study = Study(benchmark.problem, rule="al")
    for _ in range(5):
        e = study.ask()
        study.tell(e, benchmark.evaluate(e.params, g))
    again = Study(benchmark.problem, rule="al")
    for e in study.evaluations.values():
        again.tell(again.ask(), e.outcomes)
    assert again.ask().params == study.ask().params


def test_it_solves_the_toy_problem():
    benchmark, g = toy(), torch.Generator()
    study = Study(benchmark.problem, rule="al")
    for _ in range(30):
        e = study.ask()
        study.tell(e, benchmark.evaluate(e.params, g))
    assert benchmark.utility_gap(study.space.encode(study.recommend().params)) < 0.05


def test_the_belief_is_not_changed_by_asking():
    belief: GaussianProcess = feasible()
    values = [AugmentedLagrangian().improvement(context(belief))(points()) for _ in range(2)]
    torch.testing.assert_close(values[0], values[1], rtol=0, atol=0)
