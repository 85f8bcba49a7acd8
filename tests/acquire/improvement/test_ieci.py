"""Integrated expected conditional improvement: against the integral on a grid."""

import mpmath
import pytest
import torch
from contexts import answer_noise, context, feasible, infeasible, points, sample_of, samples_of
from small_beliefs import difference_quotient
from torch import Tensor

from pesky.acquire.improvement.ieci import ExpectedImprovementReduction, IntegratedImprovement, log_excess_improvement
from pesky.acquire.improvement.incumbent import ProbabilityOfFeasibility, log_improvement
from pesky.acquire.improvement.integral import importance_sample
from pesky.acquire.maximize import maximize
from pesky.data.pending import Pending
from pesky.model import GaussianProcess
from pesky.model.belief import Belief
from pesky.optimum.recommend import recommend


def grid(cells: int, low: Tensor | None = None, side: float = 1.0) -> Tensor:
    """Midpoints of the cells of a square."""
    axis = (torch.arange(cells) + 0.5) / cells
    square = torch.cartesian_prod(axis, axis)
    return square if low is None else low + side * square


def by_grid(belief: Belief, eta: Tensor, X: Tensor, cells: int = 60) -> Tensor:
    """The definition, in plain numbers."""
    Z = grid(cells)
    mean, variance = belief.mean(Z), belief.variance(Z)
    h = torch.special.ndtr(mean[1:] / (variance[1:] + answer_noise(belief)[:, None]).sqrt()).prod(0)
    cross = belief.covariance(Z, X)[0]
    after = variance[0][:, None] - cross.square() / (belief.variance(X)[0] + belief.noise[0])

    def improvement(s2: Tensor) -> Tensor:
        u = (eta - mean[0])[:, None] / s2.sqrt()
        density = (-0.5 * u.square()).exp() / (2 * torch.pi) ** 0.5
        return s2.sqrt() * (density + u * torch.special.ndtr(u))

    return ((improvement(variance[0][:, None]) - improvement(after.clamp(min=1e-14))) * h[:, None]).mean(0)


@pytest.mark.parametrize(("rows", "noise"), [(1, 1e-5), (2, 1e-2), (4, 1e-5)])
def test_it_is_the_integral(rows: int, noise: float):
    belief, X = feasible(rows, noise=noise), points(25)
    acquisition = IntegratedImprovement(points=4000).acquisition(context(belief))
    assert isinstance(acquisition, ExpectedImprovementReduction)
    exact = by_grid(belief, acquisition.eta, X)
    value = acquisition(X)[:, 0].exp()
    assert ((value - exact).abs() <= 0.05 * exact + 0.01 * exact.max()).all()
    rough = IntegratedImprovement().acquisition(context(belief))(X)[:, 0].exp()
    assert ((rough - exact).abs() <= 0.1 * exact + 0.05 * exact.max()).all()


def test_the_variance_after_a_measurement_is_that_of_a_belief_with_one_more_datum():
    belief, x, Z = feasible(1), points(1), points(50, seed=2)
    more = GaussianProcess(
        belief.kernel, torch.cat([belief.X, x[None]], 1), torch.cat([belief.y, belief.mean(x)], 1),
        torch.ones(1, 9, dtype=torch.bool), belief.hyperparameters,
    )  # fmt: skip
    acquisition = IntegratedImprovement().acquisition(context(belief))
    assert isinstance(acquisition, ExpectedImprovementReduction)
    at = acquisition.sample.points
    now, then = (log_improvement(b.mean(at)[0], b.variance(at)[0], acquisition.eta).exp() for b in (belief, more))
    excess = now - (acquisition.eta - belief.mean(at)[0]).clamp(min=0.0)
    expected = acquisition.sample.log_normalizer.exp() * ((now - then) / excess).mean()
    torch.testing.assert_close(acquisition(x)[0, 0].exp(), expected)
    torch.testing.assert_close(more.mean(Z), belief.mean(Z))


def test_late_in_a_run_the_points_are_where_the_improvement_still_is():
    """Known to 1e-5 but for the neighborhood of the minimum, the integral over a small box is all of it."""
    g = torch.Generator().manual_seed(0)
    far = torch.rand(60, 2, generator=g)
    far = far[(far - 0.5).norm(dim=-1) > 0.06]
    h = feasible(1, noise=1e-10).hyperparameters
    y = 20 * (far - 0.5).square().sum(-1)
    belief = GaussianProcess("se", far[None], y[None], torch.ones(1, len(far), dtype=torch.bool), h)
    acquisition = IntegratedImprovement().acquisition(context(belief))
    assert isinstance(acquisition, ExpectedImprovementReduction)
    box = grid(200, torch.full((2,), 0.4), 0.2)
    total = 0.04 * log_improvement(belief.mean(box)[0], belief.variance(box)[0], acquisition.eta).exp().mean()
    assert acquisition.sample.log_normalizer.exp() == pytest.approx(float(total), rel=0.05)
    assert len(acquisition.sample.points.unique(dim=0)) > 100
    best = maximize(acquisition, torch.cat([points(256), acquisition.search_centers])).x
    assert (best - 0.5).norm() < 0.1


@pytest.mark.parametrize("noise", [1e-2, 1e-12])
@pytest.mark.parametrize("rows", [1, 3])
def test_gradients_are_difference_quotients_and_finite_everywhere(rows: int, noise: float):
    belief, X = feasible(rows, noise=noise), points()
    acquisition = IntegratedImprovement().acquisition(context(belief))
    here = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(acquisition(here).sum(), here)
    by_steps = difference_quotient(lambda x: acquisition(x)[:, 0], X, 1e-6)
    torch.testing.assert_close(gradient, by_steps, rtol=1e-3, atol=1e-3)
    assert isinstance(acquisition, ExpectedImprovementReduction)
    anywhere = torch.cat([belief.points, acquisition.search_centers, acquisition.sample.points]).requires_grad_()
    value = acquisition(anywhere)
    assert torch.isfinite(value).all()
    assert torch.isfinite(torch.autograd.grad(value.sum(), anywhere)[0]).all()
    if noise < 1e-10:
        assert (value[: len(belief.points)] < value.max() - 10).all()


def test_batches_are_their_elements():
    several, X = samples_of(feasible(), 3), points()
    acquisition = IntegratedImprovement().acquisition(context(several))
    assert isinstance(acquisition, ExpectedImprovementReduction)
    each = acquisition.forward(X.expand(3, *X.shape))
    for i in range(3):
        sample = type(acquisition.sample)(*(t[i] for t in acquisition.sample))
        alone = ExpectedImprovementReduction(
            sample_of(several, i), acquisition.search_centers, sample, acquisition.eta[i]
        )
        torch.testing.assert_close(each[i], alone.forward(X))
        exact = by_grid(sample_of(several, i), acquisition.eta[i], X)
        assert ((each[i, 0].exp() - exact).abs() <= 0.15 * exact + 0.15 * exact.max()).all()


def test_without_an_incumbent_it_is_the_probability_of_feasibility():
    acquisition = IntegratedImprovement().acquisition(context(infeasible()))
    assert isinstance(acquisition, ProbabilityOfFeasibility)


def test_what_is_pending_is_believed():
    belief = feasible(noise=1e-4)
    first = IntegratedImprovement().acquisition(context(belief))
    x = maximize(first, torch.cat([points(256), first.search_centers])).x
    pending = Pending(x, torch.ones(1, 3, dtype=torch.bool))
    then = IntegratedImprovement().acquisition(context(belief, pending))
    assert then(x)[0, 0] < first(x)[0, 0] - 2
    torch.testing.assert_close(
        IntegratedImprovement().acquisition(context(belief, pending))(points()),
        then(points()),
        rtol=0,
        atol=0,
    )


def test_points_drawn_from_a_uniform_density_are_uniform():
    """However many points the pool has around the incumbent."""
    belief = feasible(1)
    now = context(belief)
    at = recommend(belief, now.space, now.confidence, 0).u

    def log_density(mean: Tensor, variance: Tensor) -> Tensor:
        return torch.zeros_like(mean[..., 0, :])

    sample = importance_sample(belief, now, at, 1000, log_density)
    assert float(sample.log_normalizer) == pytest.approx(0.0, abs=0.02)
    torch.testing.assert_close(sample.points.mean(0), torch.full((2,), 0.5), rtol=0, atol=0.05)
    torch.testing.assert_close(sample.points.std(0), torch.full((2,), 12**-0.5), rtol=0, atol=0.03)


@pytest.mark.parametrize("u", [-12.0, -0.5, 0.0, 3.0, 12.0])
def test_only_what_the_variance_adds_to_the_improvement_is_counted(u: float):
    """At u = 12 it is 1e-34 of an improvement of 12, and would be lost in a difference."""
    value = log_excess_improvement(torch.tensor([-u]), torch.ones(1), torch.zeros(()))
    with mpmath.workdps(60):
        improvement = mpmath.npdf(u) + mpmath.mpf(u) * mpmath.erfc(-mpmath.mpf(u) / mpmath.sqrt(2)) / 2
        assert float(value) == pytest.approx(float(mpmath.log(improvement - max(0, mpmath.mpf(u)))), rel=1e-9)
