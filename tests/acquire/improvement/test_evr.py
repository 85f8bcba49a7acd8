"""Expected volume reduction: against joint draws of f(x) and f(x'), and METHOD's formula on a grid."""

import pytest
import torch
from contexts import answer_noise, context, feasible, infeasible, points, sample_of, samples_of
from small_beliefs import difference_quotient
from torch import Tensor

from pesky.acquire.improvement.evr import ExpectedVolumeReduction, VolumeReduction
from pesky.acquire.improvement.incumbent import ProbabilityOfFeasibility
from pesky.acquire.maximize import maximize
from pesky.data.pending import Pending
from pesky.infer.bivariate import bivariate_cdf, cdf
from pesky.model.belief import Belief


def chance(belief: Belief, X: Tensor) -> Tensor:
    return cdf(belief.mean(X)[1:] / (belief.variance(X)[1:] + answer_noise(belief)[:, None]).sqrt()).prod(0)


def by_grid(belief: Belief, eta: Tensor, X: Tensor, cells: int = 60) -> Tensor:
    """Volume now less volume after, each as METHOD 16 has it."""
    axis = (torch.arange(cells) + 0.5) / cells
    Z = torch.cartesian_prod(axis, axis)
    mean, variance, mean_x = belief.mean(Z)[0][:, None], belief.variance(Z)[0][:, None], belief.mean(X)[0]
    cross = belief.covariance(Z, X)[0]
    spread = (variance + belief.variance(X)[0] - 2 * cross).sqrt()
    a, b, r = (eta - mean) / variance.sqrt(), (mean_x - mean) / spread, (variance - cross) / (variance.sqrt() * spread)
    after = bivariate_cdf(a.expand_as(b), b, r.clamp(-1, 1))
    return ((cdf(a) - after) * chance(belief, Z)[:, None]).mean(0)


@pytest.mark.parametrize("rows", [1, 3])
def test_it_is_the_mean_of_what_draws_take_off(rows: int):
    """Joint draws of all rows at x and at all x': which x' still may beat the incumbent, before and after."""
    belief = feasible(rows)
    acquisition = VolumeReduction(points=2000).acquisition(context(belief))
    assert isinstance(acquisition, ExpectedVolumeReduction)
    X = points(100)
    X = X[acquisition(X)[:, 0].topk(16).indices[::4]]
    axis = (torch.arange(30) + 0.5) / 30
    Z = torch.cartesian_prod(axis, axis)
    n, here = 4000, torch.cat([Z, X])
    root = torch.linalg.cholesky(belief.covariance(here, here) + 1e-9 * torch.eye(len(here)))
    drawn = belief.mean(here)[..., None] + root @ torch.randn(
        rows, len(here), n, generator=torch.Generator().manual_seed(0)
    )
    f, f_x = drawn[0, : len(Z)], drawn[0, len(Z) :]
    is_feasible = (drawn[1:, len(Z) :] >= 0).all(0)
    # x' counts with the probability of its own feasibility, of which f(x) says nothing
    h = chance(belief, Z)
    for i in range(len(X)):
        now = f <= eta_of(acquisition, belief)
        for complete in (False, True):
            hit = is_feasible[i] if complete else torch.ones(n, dtype=torch.bool)
            after = now & ((f <= f_x[i]) | ~hit)
            taken = (h @ (now.double() - after.double())) / len(Z)
            value = ExpectedVolumeReduction(
                belief, acquisition.search_centers, acquisition.sample, eta_of(acquisition, belief), complete
            )(X)[i, 0]
            error = taken.std() / n**0.5
            assert value.exp() == pytest.approx(float(taken.mean()), abs=float(4 * error + 0.05 * taken.mean()))


def eta_of(acquisition: ExpectedVolumeReduction, belief: Belief) -> Tensor:
    return belief.mean(acquisition.search_centers[:1])[0, 0]


@pytest.mark.parametrize(("rows", "noise"), [(1, 1e-5), (2, 1e-2), (4, 1e-5)])
def test_it_is_the_integral(rows: int, noise: float):
    belief, X = feasible(rows, noise=noise), points(25)
    acquisition = VolumeReduction(points=4000, complete=False).acquisition(context(belief))
    assert isinstance(acquisition, ExpectedVolumeReduction)
    exact = by_grid(belief, eta_of(acquisition, belief), X)
    value = acquisition(X)[:, 0].exp()
    assert ((value - exact).abs() <= 0.05 * exact + 0.01 * exact.max()).all()
    rough, complete = (VolumeReduction(complete=c).acquisition(context(belief))(X)[:, 0].exp() for c in (False, True))
    assert ((rough - exact).abs() <= 0.1 * exact + 0.05 * exact.max()).all()
    torch.testing.assert_close(complete, rough * chance(belief, X))


@pytest.mark.parametrize("noise", [1e-2, 1e-12])
@pytest.mark.parametrize("rows", [1, 3])
def test_gradients_are_difference_quotients_and_finite_everywhere(rows: int, noise: float):
    belief, X = feasible(rows, noise=noise), points(60)
    acquisition = VolumeReduction().acquisition(context(belief))
    assert isinstance(acquisition, ExpectedVolumeReduction)
    X = X[acquisition(X)[:, 0].topk(20).indices]
    here = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(acquisition(here).sum(), here)
    by_steps = difference_quotient(lambda x: acquisition(x)[:, 0], X, 1e-6)
    torch.testing.assert_close(gradient, by_steps, rtol=1e-3, atol=1e-3)
    anywhere = torch.cat([belief.points, acquisition.search_centers, acquisition.sample.points]).requires_grad_()
    value = acquisition(anywhere)
    assert torch.isfinite(value).all()
    assert torch.isfinite(torch.autograd.grad(value.sum(), anywhere)[0]).all()


def test_batches_are_their_elements():
    several, X = samples_of(feasible(), 3), points()
    acquisition = VolumeReduction().acquisition(context(several))
    assert isinstance(acquisition, ExpectedVolumeReduction)
    each = acquisition.forward(X.expand(3, *X.shape))
    for i in range(3):
        one = sample_of(several, i)
        sample = type(acquisition.sample)(*(t[i] for t in acquisition.sample))
        alone = ExpectedVolumeReduction(one, acquisition.search_centers, sample, eta_of(acquisition, one), True)
        torch.testing.assert_close(each[i], alone.forward(X))


def test_without_an_incumbent_it_is_the_probability_of_feasibility():
    assert isinstance(VolumeReduction().acquisition(context(infeasible())), ProbabilityOfFeasibility)


def test_what_is_pending_is_believed():
    belief = feasible(noise=1e-4)
    first = VolumeReduction().acquisition(context(belief))
    x = maximize(first, torch.cat([points(256), first.search_centers])).x
    pending = Pending(x, torch.ones(1, 3, dtype=torch.bool))
    then = VolumeReduction().acquisition(context(belief, pending))
    assert then(x)[0, 0] < first(x)[0, 0] - 1
    torch.testing.assert_close(
        VolumeReduction().acquisition(context(belief, pending))(points()), then(points()), rtol=0, atol=0
    )
