"""Max-value entropy search with constraints: against simulation for any number of constraints, and BoTorch's boxes."""

from dataclasses import replace

import pytest
import torch
from botorch.acquisition.multi_objective.max_value_entropy_search import qLowerBoundMultiObjectiveMaxValueEntropySearch
from botorch.acquisition.multi_objective.utils import compute_sample_box_decomposition
from contexts import context, feasible, infeasible, points, sample_of, samples_of
from small_beliefs import difference_quotient, make_belief
from torch import Tensor
from torch.quasirandom import SobolEngine

from benchmarks.as_botorch import as_botorch
from pesky.acquire.entropy.cmes import MaxValueEntropySearch, MinimumInformation, known_bound
from pesky.acquire.fantasy import Fantasies
from pesky.data.pending import Pending
from pesky.likelihood.probit import YES_NO_NOISE
from pesky.model import GaussianProcess
from pesky.optimum import sample_solutions

NOISY = MaxValueEntropySearch(samples=12, draws=40, polish_steps=4, candidates=64)
NOISE_FREE = replace(NOISY, noise_aware=False)


def gap(u: Tensor) -> Tensor:
    """h(u) = u + (1 - u) log(1 - u)."""
    return u + torch.special.xlogy(1 - u, 1 - u)


def with_minimum(acquisition: MinimumInformation, minimum: float) -> MinimumInformation:
    """The same with one known f*."""
    acquisition.minimum, acquisition.weight = torch.tensor([minimum]), torch.ones(1)
    return acquisition


def normals(count: int, rows: int) -> Tensor:
    """Quasi-random standard normals, rows x count x 1."""
    uniform = SobolEngine(rows, scramble=True, seed=4).draw(count, dtype=torch.float64).clamp(1e-12, 1 - 1e-12)
    return torch.special.ndtri(uniform).mT[..., None]


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_without_noise_it_is_the_information_that_x_is_not_better_and_feasible(rows: int):
    """The ratio p(z | not A) / p(z) is the same for every z outside A: simulated by throwing away what lies in A."""
    belief, X = make_belief(rows=rows, n=5, seed=rows, offsets=(0.6,) * (rows - 1)), points(6)
    acquisition = NOISE_FREE.acquisition(context(belief))
    z = belief.mean(X)[:, None] + belief.variance(X).sqrt()[:, None] * normals(2**17, rows)
    for minimum in (-0.5, 0.3, torch.inf if rows > 1 else 1.0):
        in_a = (z[0] < minimum) & (z[1:] >= 0).all(0)
        kept = (~in_a).double().mean(0)
        value = with_minimum(acquisition, minimum)(X)[:, 0]
        assert torch.isfinite(value).all()
        torch.testing.assert_close((-value).exp(), kept, rtol=0, atol=5e-4)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("noise", [1e-4, 0.05, 1.0, 20.0])
def test_with_noise_it_is_the_information_of_the_noisy_values(rows: int, noise: float):
    """The expectation over the values measured, simulated; what they say of A is exact."""
    belief, X = make_belief(rows=rows, n=5, seed=rows, offsets=(1.0,) * (rows - 1)), points(6)
    h = belief.hyperparameters
    belief = replace(belief, hyperparameters=h._replace(noise=torch.full_like(h.noise, noise)))
    acquisition = NOISY.acquisition(context(belief))
    mean, variance = belief.mean(X)[:, None], belief.variance(X)[:, None]
    share = variance / (variance + noise)
    told = mean + (variance * share).sqrt() * normals(2**15, rows)
    left = (variance * (1 - share)).sqrt()
    for minimum in (-0.5, 0.5):
        upper = torch.cat([minimum - told[:1], told[1:]])
        u = torch.special.ndtr(upper / left).prod(0)
        p = torch.special.ndtr(torch.cat([minimum - mean[:1], mean[1:]]) / variance.sqrt()).prod(0)[0]
        brute = (gap(u).mean(0) - gap(p)) / (1 - p)
        value = with_minimum(acquisition, minimum)(X)[:, 0]
        assert value.abs().max() < 20
        # a draw that the belief contradicts does not occur, and its rare events are not simulated either
        usual = p < 0.999
        torch.testing.assert_close(value[usual], brute[usual], rtol=0.01, atol=1e-3)


def test_nested_simulation_from_the_definition():
    """KL(p(y | not A) || p(y)) with nothing known in closed form but Gaussian conditioning: K = 2."""
    belief, X = make_belief(rows=3, n=5, seed=3, offsets=(0.7, 0.7), noise=0.2), points(3)
    acquisition, minimum = with_minimum(NOISY.acquisition(context(belief)), 0.4), 0.4
    g = torch.Generator().manual_seed(0)
    mean, variance, noise = belief.mean(X)[:, None], belief.variance(X)[:, None], belief.noise[:, None, None]
    outer, inner = 3000, 3000
    y = mean + (variance + noise).sqrt() * torch.randn(3, outer, 3, generator=g)
    share = variance / (variance + noise)
    z = torch.randn(3, inner, generator=g)
    log_p = torch.zeros(outer, 3)
    for i in range(3):
        after = (mean + share * (y - mean))[:, :, i, None] + (variance * (1 - share)).sqrt()[..., i, None] * z[:, None]
        not_a = (after[0] >= minimum) | (after[1:] < 0).any(0)
        log_p[:, i] = not_a.double().mean(-1).clamp(min=1e-9).log()
    weight = log_p.exp() / log_p.exp().mean(0)
    brute = (weight * (log_p - log_p.exp().mean(0).log())).mean(0)
    torch.testing.assert_close(acquisition(X)[:, 0], brute, rtol=0.1, atol=0.01)


def test_a_yes_or_no_row_enters_as_a_bit():
    """Three rows, the last measured as yes or no: all four answers to both numbers simulated."""
    belief = make_belief(rows=3, n=5, seed=3, offsets=(0.5, 0.5), noise=0.1)
    noise = belief.noise.clone()
    noise[2] = YES_NO_NOISE
    belief = replace(
        belief, kinds=("gaussian", "gaussian", "probit"), hyperparameters=belief.hyperparameters._replace(noise=noise)
    )
    X, minimum = points(5), 0.3
    acquisition = with_minimum(NOISY.acquisition(context(belief)), minimum)
    mean, variance = belief.mean(X)[:, None], belief.variance(X)[:, None]
    e = normals(2**17, 3)
    share = variance / (variance + noise[:, None, None])
    told, left = mean + (variance * share).sqrt() * e, (variance * (1 - share)).sqrt()
    latent = mean[2] + variance[2].sqrt() * e[2]
    u = torch.special.ndtr((minimum - told[0]) / left[0]) * torch.special.ndtr(told[1] / left[1])
    expected = torch.zeros(5)
    for sign in (1, -1):
        probability = torch.special.ndtr(sign * latent)
        given = (probability * (latent >= 0)).mean(0) / probability.mean(0)
        expected += probability.mean(0) * gap(u * given).mean(0)
    edges = torch.cat([minimum - mean[:1], mean[1:]]) / variance.sqrt()
    p = torch.special.ndtr(edges).prod(0)[0]
    torch.testing.assert_close(acquisition(X)[:, 0], (expected - gap(p)) / (1 - p), rtol=0.01, atol=3e-4)


def box_chance(boxes: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """Probability of a union of disjoint boxes (2, boxes, rows) under independent normals (rows, x)."""
    upper, lower = (torch.special.ndtr((edge[..., None] - mean) / deviation) for edge in (boxes[1], boxes[0]))
    return (upper - lower).prod(-2).sum(0)


@pytest.mark.parametrize(("constraints", "is_right"), [(1, True), (2, False), (3, False)])
def test_the_boxes_of_botorch_are_right_for_one_constraint_only(constraints: int, is_right: bool):
    """BoTorch 0.18: its one infeasible box is where ALL constraints fail, and one failure is enough.

    Its estimate of the entropy difference agrees with simulation for K = 1, not for K = 2; ours agrees for both.
    """
    rows = 1 + constraints
    belief, X = make_belief(rows=rows, n=5, seed=rows, offsets=(0.3,) * constraints, noise=0.01), points(5)
    minimum, noise = 0.2, belief.noise[:, None, None]
    # BoTorch maximizes, and its constraints are feasible where they are not positive: rows negated.
    boxes = compute_sample_box_decomposition(torch.tensor([[[-minimum]]]), maximize=True, num_constraints=constraints)
    mean, variance = belief.mean(X), belief.variance(X)
    chance = box_chance(boxes[0], -mean, variance.sqrt())
    z = mean[:, None] + variance.sqrt()[:, None] * normals(2**17, rows)
    simulated = ((z[0] >= minimum) | (z[1:] < 0).any(0)).double().mean(0)
    ours = (-with_minimum(NOISE_FREE.acquisition(context(belief)), minimum)(X)[:, 0]).exp()
    torch.testing.assert_close(ours, simulated, rtol=0.01, atol=1e-3)
    assert torch.allclose(chance, simulated, rtol=0.01, atol=1e-3) is is_right
    if not is_right:
        assert (chance < 0.5 * simulated).any()

    # The whole acquisition function, against its own definition H(y) - H(y | not A) simulated.
    negated = as_botorch(replace(belief, y=-belief.y, hyperparameters=negated_mean(belief)))
    theirs = qLowerBoundMultiObjectiveMaxValueEntropySearch(negated, boxes, estimation_type="MC", num_samples=2**15)
    with torch.no_grad():
        value = theirs(X[:, None])
    share = variance[:, None] / (variance[:, None] + noise)
    e = normals(2**16, rows)
    told, left = mean[:, None] + (variance[:, None] * share).sqrt() * e, (variance[:, None] * (1 - share)).sqrt()
    p = 1 - torch.special.ndtr(torch.cat([minimum - told[:1], told[1:]]) / left).prod(0)
    weight = p / p.mean(0)
    log_density = -0.5 * (e.square() + torch.log(2 * torch.pi * (variance[:, None] + noise))).sum(0)
    after = -(weight * (log_density + weight.clamp(min=1e-300).log())).mean(0)
    brute = -log_density.mean(0) - after
    assert torch.allclose(value, brute, rtol=0.05, atol=0.03) is is_right


def negated_mean(belief: GaussianProcess):
    return belief.hyperparameters._replace(mean=-belief.hyperparameters.mean)


@pytest.mark.parametrize("rule", [NOISE_FREE, NOISY])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("noise", [1e-12, 1e-2])
def test_its_gradient_is_right_and_finite_everywhere(rule: MaxValueEntropySearch, rows: int, noise: float):
    belief = make_belief(rows=rows, n=8, seed=1, offsets=(1.0,) * (rows - 1), noise=noise)
    acquisition = rule.acquisition(context(belief))
    X = points(8).requires_grad_()
    (gradient,) = torch.autograd.grad(acquisition(X).sum(), X)
    quotient = difference_quotient(lambda x: acquisition(x)[:, 0], X.detach(), step=1e-6)
    torch.testing.assert_close(gradient, quotient, rtol=1e-3, atol=1e-5)
    X = torch.cat([belief.points, acquisition.search_centers, belief.points + 1e-7]).requires_grad_()
    value = acquisition(X)
    assert torch.isfinite(value).all()
    assert torch.isfinite(torch.autograd.grad(value.sum(), X)[0]).all()


@pytest.mark.parametrize("rule", [NOISE_FREE, NOISY])
def test_a_noise_free_measured_point_is_worth_nothing(rule: MaxValueEntropySearch):
    belief = feasible(noise=1e-12)
    acquisition = rule.acquisition(context(belief))
    assert (acquisition(belief.points).abs() < 2e-3).all()
    assert acquisition(acquisition.search_centers).max() > 0.1
    # the lowest of what was measured feasible, and no draw's minimum above it
    measured = belief.mean(belief.points)
    assert known_bound(belief) == pytest.approx(measured[0][(measured[1:] > 0).all(0)].min().item(), abs=1e-3)
    # whatever the draws say: no minimum is above it
    solutions = sample_solutions(belief, 12, 40, points(64), 4, torch.Generator().manual_seed(0), "value")
    worse = solutions._replace(values=solutions.values + 1.0)
    acquisition = MinimumInformation(belief, Fantasies(belief), worse, rule.noise_aware)
    assert (acquisition.minimum <= known_bound(belief)).all()
    assert (acquisition(belief.points).abs() < 2e-3).all()


def test_the_noise_decides_whether_a_measured_point_is_worth_repeating():
    belief = feasible(noise=0.1)
    best = belief.points[belief.mean(belief.points)[0].argmin()][None]
    assert NOISE_FREE.acquisition(context(belief))(best) > 3 * NOISY.acquisition(context(belief))(best) > 0


def test_where_no_draw_is_feasible_it_looks_for_feasibility():
    for rule, offset in ((NOISE_FREE, -5.0), (NOISY, -5.0), (NOISY, -60.0)):
        belief = make_belief(rows=2, n=8, seed=1, offsets=(offset,))
        acquisition = rule.acquisition(context(belief))
        assert torch.isinf(acquisition.minimum).all()
        X = points(300)
        value = acquisition(X)[:, 0]
        assert value.max() > 0
        chance = torch.special.log_ndtr(belief.mean(X)[1] / belief.variance(X)[1].sqrt())
        assert chance[value.argmax()] > chance.quantile(0.95)
    # that there is no feasible point is one possible answer among others, with its share
    some = sample_solutions(
        make_belief(rows=2, seed=3, offsets=(-1.7,)), 20, 100, points(100), 4, torch.Generator().manual_seed(0), "value"
    )
    assert (~some.exists).double().mean().item() == pytest.approx(some.optima.infeasible_share, abs=0.05)
    assert 0.05 < some.optima.infeasible_share < 0.95


def test_pending_points_take_from_the_worth_nearby():
    belief = feasible(noise=1e-12)
    X = NOISY.acquisition(context(belief)).search_centers[:3]
    before = NOISY.acquisition(context(belief))(X)
    everything = Pending(X, torch.ones(3, 3, dtype=torch.bool))
    after = NOISY.acquisition(context(belief, everything))
    assert before.max() > 0.1
    assert (after(X).abs() < 0.05 * before.max()).all()
    assert (after(points(50)) > -1e-9).all()
    only = NOISY.acquisition(context(belief, Pending(X, torch.tensor([[False, True, True]] * 3))))
    assert only(X).max() > 0.3 * before.max()


def test_hyperparameter_samples_are_taken_one_by_one():
    several, X = samples_of(infeasible(noise=0.05), 3), points(5)
    candidates, g = points(64), torch.Generator().manual_seed(0)
    solutions = sample_solutions(several, 24, 200, candidates, 3, g, "value")
    acquisition = MinimumInformation(several, Fantasies(several), solutions, True)
    each = acquisition.forward(X.expand(3, 5, 2))
    assert each.shape == (3, 1, 5)
    torch.testing.assert_close(acquisition(X)[:, 0], each[:, 0].mean(0))
    for i in range(3):
        one = sample_of(several, i)
        chosen = type(solutions.optima.chosen)(*(part[i] for part in solutions.optima.chosen))
        alone = solutions._replace(
            optima=solutions.optima._replace(chosen=chosen), values=solutions.values[i], exists=solutions.exists[i]
        )
        torch.testing.assert_close(MinimumInformation(one, Fantasies(one), alone, True).forward(X), each[i])
