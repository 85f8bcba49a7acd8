"""What is known at x once the minimum is known, against dense algebra and quadrature of the exact factor."""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from pesky.infer import ep
from pesky.infer.predict import Knowledge, Prediction, differences, learn, predict, to_objective_differences

N = 3


class World(NamedTuple):
    """Joint Gaussian of every row's values at (u_1..u_N, x*, x), sites on the first N + 1, and what follows."""

    mean: Tensor
    covariance: Tensor
    sites: ep.Sites
    knowledge: Knowledge


def make_world(constraints: int, seed: int, at_x: float | None = None, samples: int = 2) -> World:
    """`at_x` shifts the objective at x, so as to make the last factor say nothing or something."""
    g = torch.Generator().manual_seed(seed)
    rows, n = constraints + 1, N + 1
    root = torch.eye(n + 1) + 0.7 * torch.randn(samples, rows, n + 1, n + 1, generator=g)
    mean, covariance = torch.randn(samples, rows, n + 1, generator=g), root @ root.mT
    if at_x is not None:
        mean[:, 0, -1] += at_x
    tau = 0.6 * torch.rand(samples, rows, n, generator=g) - 0.05
    nu = torch.randn(samples, rows, n, generator=g)
    tau[:, 0, -1], nu[:, 0, -1] = 0.0, 0.0
    sites = ep.Sites(tau, nu)
    values_mean, values_covariance = mean[..., :-1], covariance[..., :-1, :-1]
    prior = ep.prior(
        *to_objective_differences(values_mean, values_covariance),
        torch.ones(samples, rows),
        torch.ones(samples, N, dtype=torch.bool),
    )
    q, good = ep.absorb(prior, sites)
    assert good.all()
    knowledge = learn(ep.EPState(sites, q, torch.ones(samples)), values_covariance)
    return World(mean, covariance, sites, knowledge)


def predict_at_x(world: World) -> Prediction:
    k = world.knowledge
    k = Knowledge(k.weight.transpose(0, 1), k.reduction.transpose(0, 1), *k[2:])
    # each sample has a prior variance of its own at x here, as if x were a different point: look one at a time
    parts = []
    for m in range(world.mean.shape[0]):
        one = Knowledge(k.weight[:, m : m + 1], k.reduction[:, m : m + 1], *(t[m : m + 1] for t in k[2:]))
        parts.append(
            predict(
                one,
                world.mean[m, :, None, -1:],
                world.covariance[m, :, -1, -1][:, None, None],
                world.covariance[m, :, None, :-1, -1:],
                torch.ones(world.mean.shape[1]),
            )
        )
    return Prediction(*(torch.stack([p[i][:, 0, 0] for p in parts]) for i in range(2)))


def dense(world: World) -> tuple[Tensor, Tensor]:
    """Moments of (values at u, x*, x) with the objective's sites on differences to x*, by inverting everything."""
    n = N + 1
    change = torch.eye(n + 1).expand(*world.mean.shape[:2], n + 1, n + 1).clone()
    change[:, 0, :N, N] = -1.0
    tau = torch.cat([world.sites.tau, torch.zeros_like(world.sites.tau[..., :1])], -1)
    nu = torch.cat([world.sites.nu, torch.zeros_like(world.sites.nu[..., :1])], -1)
    precision = torch.linalg.inv(world.covariance)
    covariance = torch.linalg.inv(precision + change.mT @ torch.diag_embed(tau) @ change)
    mean = covariance @ (precision @ world.mean[..., None] + change.mT @ nu[..., None])
    return mean[..., 0], covariance


def last_factor(mean: Tensor, covariance: Tensor) -> tuple[Tensor, Tensor]:
    """Exact moments at x after 1 - [f(x) < f(x*)] prod_k [c_k(x) >= 0], by quadrature over each coordinate."""
    f, c = mean[0], mean[1:, -1]
    spread = covariance[0, -1, -1] + covariance[0, N, N] - 2 * covariance[0, N, -1]
    difference = f[-1] - f[N]
    normal = torch.distributions.Normal(0.0, 1.0)
    feasible = normal.cdf(c / covariance[1:, -1, -1].sqrt())
    worse = normal.cdf(difference / spread.sqrt())
    z = torch.linspace(-12, 12, 240_001)

    def moments(center: Tensor, variance: Tensor, weight_if_cut: Tensor, cut_above: bool) -> tuple[Tensor, Tensor]:
        t = center + variance.sqrt() * z
        # the jump falls inside a cell: weighed by its place there, it leaves an error of second order
        share = ((t if cut_above else -t) / (t[1] - t[0]) + 0.5).clamp(0, 1)
        weight = normal.log_prob(z).exp() * (1 - weight_if_cut * share)
        weight = weight / weight.sum()
        first = (weight * t).sum()
        return first, (weight * (t - first).square()).sum()

    d_mean, d_variance = moments(difference, spread, feasible.prod(), cut_above=False)
    slope = (covariance[0, -1, -1] - covariance[0, N, -1]) / spread
    means = [f[-1] + slope * (d_mean - difference)]
    variances = [covariance[0, -1, -1] + slope.square() * (d_variance - spread)]
    for k in range(len(c)):
        others = feasible[torch.arange(len(c)) != k].prod() * (1 - worse)
        first, second = moments(c[k], covariance[1 + k, -1, -1], others, cut_above=True)
        means.append(first)
        variances.append(second)
    return torch.stack(means), torch.stack(variances)


@pytest.mark.parametrize("constraints", [0, 1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_before_the_last_factor_it_is_gaussian_conditioning(constraints, seed):
    world = make_world(constraints, seed, at_x=60.0)  # surely worse than x*: the factor at x says nothing
    mean, covariance = dense(world)
    found = predict_at_x(world)
    torch.testing.assert_close(found.mean, mean[..., -1], rtol=0, atol=1e-6)
    torch.testing.assert_close(found.variance, covariance[..., -1, -1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("constraints", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_last_factor_is_exact(constraints, seed):
    world = make_world(constraints, seed, at_x=float(-1.5 + seed))
    mean, covariance = dense(world)
    found = predict_at_x(world)
    for m in range(2):
        exact_mean, exact_variance = last_factor(mean[m], covariance[m])
        torch.testing.assert_close(found.mean[m], exact_mean, rtol=0, atol=2e-5)
        torch.testing.assert_close(found.variance[m], exact_variance, rtol=0, atol=2e-5)


def test_the_last_factor_agrees_with_weighted_samples():
    world = make_world(2, seed=5)
    mean, covariance = dense(world)
    found = predict_at_x(world)
    root = torch.linalg.cholesky(covariance[0])
    z = mean[0, ..., None] + root @ torch.randn(3, N + 2, 400_000, generator=torch.Generator().manual_seed(0))
    kept = ~((z[0, -1] < z[0, N]) & (z[1:, -1] >= 0).all(0))
    at_x = z[:, -1][:, kept]
    torch.testing.assert_close(found.mean[0], at_x.mean(-1), rtol=0, atol=0.02)
    torch.testing.assert_close(found.variance[0], at_x.var(-1), rtol=0.02, atol=0)


def test_the_minimum_has_the_moments_that_ep_gave_it():
    world = make_world(1, seed=6)
    mean, covariance = dense(world)
    torch.testing.assert_close(world.knowledge.minimum_mean, mean[:, 0, N], rtol=0, atol=1e-6)
    torch.testing.assert_close(world.knowledge.minimum_variance, covariance[:, 0, N, N], rtol=0, atol=1e-6)


def test_at_the_minimum_itself_the_factor_says_nothing():
    world = make_world(1, seed=7)
    k = world.knowledge
    k = Knowledge(k.weight.transpose(0, 1), k.reduction.transpose(0, 1), *k[2:])
    one = Knowledge(k.weight[:, :1], k.reduction[:, :1], *(t[:1] for t in k[2:]))
    covariance = world.covariance[0, :, :-1, :-1]
    found = predict(
        one,
        world.mean[0, :, None, N : N + 1],
        covariance[:, -1, -1][:, None, None],
        covariance[:, None, :, -1:],
        torch.ones(2),
    )
    mean, dense_covariance = dense(world)
    torch.testing.assert_close(found.mean[0, 0, 0], mean[0, 0, N], rtol=0, atol=1e-4)
    torch.testing.assert_close(found.variance[0, 0, 0], dense_covariance[0, 0, N, N], rtol=0, atol=1e-4)


def test_no_sites_and_a_neutral_factor_leave_the_belief():
    world = make_world(1, seed=8, at_x=60.0)
    k = world.knowledge
    weight, reduction, with_minimum = (torch.zeros_like(t) for t in k[:3])
    nothing = Knowledge(weight, reduction, with_minimum, k.minimum_mean, k.minimum_variance)
    found = predict_at_x(world._replace(knowledge=nothing))
    torch.testing.assert_close(found.mean, world.mean[..., -1])
    torch.testing.assert_close(found.variance, world.covariance[..., -1, -1])


def test_differences_are_taken_to_the_last():
    values = torch.tensor([[1.0, 10.0], [2.0, 30.0], [5.0, 7.0]])
    assert differences(values).tolist() == [[-4.0, 3.0], [-3.0, 23.0], [5.0, 7.0]]


def test_only_the_objective_turns_into_differences():
    world = make_world(2, seed=9)
    mean, covariance = to_objective_differences(world.mean, world.covariance)
    change = torch.eye(N + 2)
    change[:-1, -1] = -1.0
    torch.testing.assert_close(mean[:, 0], world.mean[:, 0] @ change.mT)
    torch.testing.assert_close(covariance[:, 0], change @ world.covariance[:, 0] @ change.mT)
    torch.testing.assert_close(mean[:, 1:], world.mean[:, 1:])
    torch.testing.assert_close(covariance[:, 1:], world.covariance[:, 1:])


def test_variances_never_fall_below_the_floor():
    world = make_world(1, seed=10)
    k = world.knowledge
    drained = Knowledge(k.weight, 1e6 * torch.eye(N + 1).expand_as(k.reduction), *k[2:])
    found = predict_at_x(world._replace(knowledge=drained))
    assert (found.variance > 0).all()
    assert (found.variance < 1e-6).all()
