"""Expected improvement with constraints: against Monte Carlo, BoTorch's own, and far into the tails."""

import math
from dataclasses import replace

import mpmath
import pytest
import torch
from botorch.acquisition.analytic import LogConstrainedExpectedImprovement, LogProbabilityOfFeasibility
from contexts import context, feasible, infeasible, points, sample_of, samples_of
from small_beliefs import difference_quotient, hyperparameters, make_belief
from torch import Tensor

from benchmarks.as_botorch import as_botorch
from pesky.acquire import BotorchAcquisition
from pesky.acquire.improvement.eic import ConstrainedExpectedImprovement, ExpectedImprovement, log_noise_factor
from pesky.acquire.improvement.incumbent import Incumbent, ProbabilityOfFeasibility, log_feasibility, log_improvement
from pesky.acquire.maximize import Effort, maximize
from pesky.data.pending import Pending
from pesky.likelihood import Likelihoods
from pesky.likelihood.probit import YES_NO_NOISE
from pesky.model import GaussianProcess
from pesky.model.botorch import BotorchBelief
from pesky.optimum.assessment import Facts
from pesky.optimum.recommend import recommend

PLAIN = ExpectedImprovement(noise_factor=False)
MANY = Effort(steps=200)


def test_in_ten_dimensions_it_is_climbed_to_the_top():
    belief = make_belief(5, 40, 10, 1, "matern52", lengthscale=1.5, noise=1e-4, offsets=(0.7,) * 4)
    acquisition = ExpectedImprovement().acquisition(context(belief))
    candidates = torch.cat([acquisition.search_centers, points(256, 10)])
    reached, top = (maximize(acquisition, candidates, effort=effort).value for effort in (acquisition.effort, MANY))
    assert reached.item() > top.item() - 0.01


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_it_is_the_mean_of_what_draws_improve_where_they_are_feasible(rows: int):
    belief = feasible(rows)
    acquisition = PLAIN.acquisition(context(belief))
    assert isinstance(acquisition, ConstrainedExpectedImprovement)
    X = points(100)
    X = X[acquisition(X)[:, 0].topk(6).indices]
    z = torch.randn(200_000, rows, 6, generator=torch.Generator().manual_seed(0))
    drawn = belief.mean(X) + belief.variance(X).sqrt() * z
    gained = (acquisition.eta - drawn[:, 0]).clamp(min=0.0) * (drawn[:, 1:] >= 0).all(1)
    error = gained.std(0) / len(z) ** 0.5
    assert (error < 0.1 * gained.mean(0)).all()
    assert ((acquisition.forward(X)[0].exp() - gained.mean(0)).abs() <= 4 * error).all()


def test_the_incumbent_is_the_lowest_mean_where_confidence_holds():
    belief = feasible()
    acquisition = PLAIN.acquisition(context(belief))
    assert isinstance(acquisition, ConstrainedExpectedImprovement)
    grid = torch.cartesian_prod(torch.linspace(0, 1, 101), torch.linspace(0, 1, 101))
    chance = torch.special.ndtr(belief.mean(grid)[1:] / belief.variance(grid)[1:].sqrt())
    lowest = belief.mean(grid)[0][(chance >= 0.95).all(0)].min()
    assert lowest - 1e-2 < acquisition.eta <= lowest + 1e-9
    torch.testing.assert_close(belief.mean(acquisition.search_centers[:1])[0, 0], acquisition.eta)


def test_it_is_botorchs_own_where_the_definitions_coincide():
    belief, X = feasible(noise=1e-2), points()
    acquisition = PLAIN.acquisition(context(belief))
    assert isinstance(acquisition, ConstrainedExpectedImprovement)
    model = as_botorch(belief)
    bounds: dict[int, tuple[float | None, float | None]] = {1: (0.0, None), 2: (0.0, None)}
    theirs = LogConstrainedExpectedImprovement(model, acquisition.eta, 0, bounds, maximize=False)
    torch.testing.assert_close(acquisition(X)[:, 0], theirs(X[:, None]), rtol=1e-6, atol=1e-6)

    other = PLAIN.acquisition(context(BotorchBelief.of(model, 0, False, bounds)))
    torch.testing.assert_close(other(X), acquisition(X), rtol=1e-5, atol=1e-4)


def test_without_an_incumbent_it_is_botorchs_probability_of_feasibility():
    belief, X = infeasible(), points()
    acquisition = ExpectedImprovement().acquisition(context(belief))
    assert isinstance(acquisition, ProbabilityOfFeasibility)
    theirs = LogProbabilityOfFeasibility(as_botorch(belief), {1: (0.0, None), 2: (0.0, None)})
    torch.testing.assert_close(acquisition(X)[:, 0], theirs(X[:, None]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("u", [-1e7, -1e4, -300.0, -40.0, -6.0, -1.0, 0.0, 3.0, 40.0])
def test_the_logarithm_is_right_far_into_the_tails(u: float):
    mean = torch.tensor([-u], requires_grad=True)
    value = log_improvement(mean, torch.ones(1), torch.zeros(()))
    (slope,) = torch.autograd.grad(value.sum(), mean)
    with mpmath.workdps(60):
        cdf = mpmath.erfc(-mpmath.mpf(u) / mpmath.sqrt(2)) / 2
        h = mpmath.npdf(u) + mpmath.mpf(u) * cdf
        assert value.item() == pytest.approx(float(mpmath.log(h)), rel=1e-10, abs=1e-12)
        assert float(slope) == pytest.approx(float(-cdf / h), rel=1e-5)


def test_the_noise_factor_is_what_a_measurement_takes_off_the_deviation():
    variance, noise = torch.tensor([1e-10, 1e-3, 1.0, 100.0]), torch.tensor([0.5])
    after = variance * noise / (variance + noise)
    taken = 1 - (noise / (variance + noise)).sqrt()
    torch.testing.assert_close(log_noise_factor(variance, noise)[1:].exp(), taken[1:])
    torch.testing.assert_close(taken[1:], 1 - (after / variance).sqrt()[1:])
    # where the plain formula cancels: variance / (2 noise)
    assert float(log_noise_factor(variance, noise)[0].exp()) == pytest.approx(1e-10, rel=1e-8)

    X = points()
    noisy, quiet = feasible(noise=0.1), feasible(noise=1e-12)
    gap = [PLAIN.acquisition(context(b))(X) - ExpectedImprovement().acquisition(context(b))(X) for b in (noisy, quiet)]
    assert gap[0].min() > 0.1
    assert gap[1].max() < 1e-2


def test_under_noise_the_plain_rule_asks_again_where_the_factor_moves_on():
    """At an incumbent measured many times there is little left to learn."""
    h = hyperparameters(1, 1, noise=0.1)
    x = torch.cat([torch.full((12, 1), 0.5), torch.tensor([[0.1], [0.9]])])
    y = torch.cat([torch.full((12,), -1.0), torch.tensor([0.0, 0.0])])
    belief = GaussianProcess("se", x[None], y[None], torch.ones(1, 14, dtype=torch.bool), h)
    X = torch.linspace(0, 1, 201)[:, None]
    plain, factored = (rule.acquisition(context(belief))(X)[:, 0] for rule in (PLAIN, ExpectedImprovement()))
    near = (X[:, 0] - 0.5).abs() < 0.02
    assert (factored[~near].max() - factored[near].max()) > (plain[~near].max() - plain[near].max()) + 0.5


@pytest.mark.parametrize("build", [feasible, infeasible])
@pytest.mark.parametrize("rule", [PLAIN, ExpectedImprovement()])
def test_gradients_are_difference_quotients_and_batches_their_elements(build, rule):
    belief, X = build(), points()
    acquisition = rule.acquisition(context(belief))
    here = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(acquisition(here).sum(), here)
    torch.testing.assert_close(gradient, difference_quotient(lambda x: acquisition(x)[:, 0], X), rtol=1e-4, atol=1e-4)

    several = samples_of(belief, 3)
    batched = rule.acquisition(context(several))
    for i in range(3):
        one = sample_of(several, i)
        if isinstance(batched, ConstrainedExpectedImprovement):
            incumbent = Incumbent(batched.search_centers[0], batched.eta[i], torch.tensor(True))
            alone = ConstrainedExpectedImprovement(one, batched.search_centers, incumbent, rule.noise_factor)
        else:
            alone = ProbabilityOfFeasibility(one, batched.search_centers)
        torch.testing.assert_close(batched.forward(X.expand(3, *X.shape))[i], alone.forward(X))
    mean = batched.forward(X.expand(3, *X.shape)).exp().mean(0)[0]
    torch.testing.assert_close(batched(X)[:, 0].exp(), mean)


@pytest.mark.parametrize("build", [feasible, infeasible])
@pytest.mark.parametrize("rows", [1, 3])
def test_everything_is_finite_at_measured_noise_free_points(build, rows: int):
    belief = build(rows, noise=1e-12)
    for rule in (PLAIN, ExpectedImprovement()):
        acquisition = rule.acquisition(context(belief))
        here = torch.cat([belief.points, acquisition.search_centers, points()]).requires_grad_()
        value = acquisition(here)
        (gradient,) = torch.autograd.grad(value.sum(), here)
        assert torch.isfinite(value).all()
        assert torch.isfinite(gradient).all()


def test_a_yes_no_row_counts_with_the_probability_of_its_answer():
    mean, variance = torch.tensor([[0.0], [0.7], [0.7]]), torch.tensor([[1.0], [0.5], [0.5]])
    value = log_feasibility(Likelihoods(("gaussian", "gaussian", "probit")), mean, variance)
    chance = [0.5 * math.erfc(-0.7 / math.sqrt(2 * v)) for v in (0.5, 1.5)]
    assert value.item() == pytest.approx(math.log(chance[0] * chance[1]))

    h = hyperparameters(2, 2)
    noise = h.noise.clone()
    noise[1] = YES_NO_NOISE
    belief = replace(feasible(2), kinds=("gaussian", "probit"), hyperparameters=h._replace(noise=noise))
    acquisition = PLAIN.acquisition(context(belief, confidence=0.6))
    assert isinstance(acquisition, ConstrainedExpectedImprovement)
    X = points()
    chance = torch.special.ndtr(belief.mean(X)[1] / (1 + belief.variance(X)[1]).sqrt())
    gained = log_improvement(belief.mean(X)[0], belief.variance(X)[0], acquisition.eta)
    torch.testing.assert_close(acquisition(X)[:, 0], gained + chance.log())


def test_where_everything_is_known_to_hold_there_is_an_incumbent_whatever_is_believed():
    belief = infeasible()
    assert isinstance(PLAIN.acquisition(context(belief)), ProbabilityOfFeasibility)
    held = belief.points[[1, 4, 6]]
    every, none = torch.ones(2, belief.points.shape[-1], dtype=torch.bool), torch.zeros(2, 3, dtype=torch.bool)
    known = replace(context(belief), facts=Facts(held, every, ~none, none))
    acquisition = PLAIN.acquisition(known)
    assert isinstance(acquisition, ConstrainedExpectedImprovement)
    torch.testing.assert_close(acquisition.eta, belief.mean(held)[0].min())
    # the rest is a matter of belief
    first = torch.tensor([[True], [False]]).expand(2, 3)
    part = replace(context(belief), facts=Facts(held, every, first, none))
    assert isinstance(PLAIN.acquisition(part), ProbabilityOfFeasibility)


def test_what_is_pending_is_believed():
    """The best question is worth much less once it is asked, and the next one is elsewhere."""
    belief = feasible(noise=1e-4)
    first = ExpectedImprovement().acquisition(context(belief))
    x = maximize(first, torch.cat([points(256), first.search_centers])).x
    pending = Pending(x, torch.ones(1, 3, dtype=torch.bool))
    then = ExpectedImprovement().acquisition(context(belief, pending))
    assert then(x)[0, 0] < first(x)[0, 0] - 2
    other = maximize(then, torch.cat([points(256), then.search_centers])).x
    assert (other - x).norm() > 0.02
    repeated = ExpectedImprovement().acquisition(context(belief, pending))
    torch.testing.assert_close(repeated(points()), then(points()), rtol=0, atol=0)


def observed(X: Tensor) -> GaussianProcess:
    """Feasible only within 0.12 of (0.8, 0.75), which is not among the first points."""
    c = 0.12 - (X - torch.tensor([0.8, 0.75])).norm(dim=-1)
    y = torch.stack([X.sum(-1), 3 * c])
    h = hyperparameters(2, 2, lengthscale=0.35, noise=1e-10)
    return GaussianProcess("matern52", X.expand(2, *X.shape), y, torch.ones(2, len(X), dtype=torch.bool), h)


def test_where_nothing_is_feasible_yet_it_keeps_moving_until_something_is():
    X = 0.5 * points(4)
    belief = observed(X)
    while not recommend(belief, context(belief).space, torch.tensor([0.95]), 0).is_confident:
        acquisition = ExpectedImprovement().acquisition(context(belief, seed=len(X)))
        assert isinstance(acquisition, ProbabilityOfFeasibility)
        best = maximize(acquisition, torch.cat([points(256, seed=len(X)), acquisition.search_centers])).x
        assert torch.cdist(best, X).min() > 1e-3
        X = torch.cat([X, best])
        assert len(X) < 16
        belief = observed(X)
    assert len(X) > 6
    assert isinstance(ExpectedImprovement().acquisition(context(belief)), ConstrainedExpectedImprovement)


def test_as_an_acquisition_of_botorch():
    belief = feasible()
    value = BotorchAcquisition(belief, "eic")(points()[:, None])
    torch.testing.assert_close(value, BotorchAcquisition(belief, ExpectedImprovement())(points()[:, None]))
