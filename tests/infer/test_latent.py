"""EP for latent values behind yes and no: against exact integrals, and with data that are hard on it."""

import pytest
import torch
from scipy.special import roots_hermitenorm

from pesky.infer import latent
from pesky.infer.gaussian import Sites
from pesky.infer.latent import Factors, LatentPosterior, LatentPrior, absorb, match
from pesky.likelihood.rows import PROBIT


def prior(X: torch.Tensor, lengthscale: float = 0.3, amplitude: float = 4.0) -> torch.Tensor:
    return amplitude * (-0.5 * (torch.cdist(X, X) / lengthscale).square()).exp()


def answers(sign: torch.Tensor) -> Factors:
    return lambda mean, variance: PROBIT.tilt(sign, mean, variance)


def run(covariance: torch.Tensor, mean: float, sign: torch.Tensor, start: Sites | None = None) -> LatentPosterior:
    return latent.run(LatentPrior(covariance, torch.tensor(mean), sign != 0), answers(sign), start)


def integrate(covariance: torch.Tensor, mean: float, sign: torch.Tensor, nodes: int = 40):
    """Log evidence, means and variances of the latent values, by Gauss-Hermite quadrature in all dimensions."""
    x, w = (torch.as_tensor(each) for each in roots_hermitenorm(nodes))
    n = len(sign)
    points = torch.cartesian_prod(*[x] * n).reshape(-1, n)
    weights = torch.cartesian_prod(*[w / w.sum()] * n).reshape(-1, n).prod(-1)
    root = torch.linalg.cholesky(covariance + 1e-13 * torch.eye(n))
    z = mean + points @ root.mT
    weights = weights * torch.special.ndtr(sign * z).prod(-1)
    total = weights.sum()
    first = (weights[:, None] * z).sum(0) / total
    return total.log(), first, (weights[:, None] * (z - first).square()).sum(0) / total


@pytest.mark.parametrize("amplitude", [0.5, 4.0, 30.0])
@pytest.mark.parametrize("mean", [-3.0, 0.4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_answer_has_exact_moments_and_evidence(amplitude, mean, sign):
    found = run(torch.full((1, 1), amplitude), mean, torch.tensor([sign]))
    log_z, first, second = integrate(torch.full((1, 1), amplitude), mean, torch.tensor([sign]), nodes=300)
    assert found.log_z.item() == pytest.approx(log_z.item(), abs=1e-6)
    assert (mean + found.q.mean).item() == pytest.approx(first.item(), abs=1e-5)
    assert found.q.variance.item() == pytest.approx(second.item(), abs=1e-5)


@pytest.mark.parametrize(
    ("x", "sign"),
    [
        ([0.2, 0.5], [1.0, 1.0]),
        ([0.2, 0.5], [1.0, -1.0]),
        ([0.2, 0.4, 0.8], [-1.0, -1.0, 1.0]),
        ([0.1, 0.35, 0.4, 0.9], [1.0, 1.0, -1.0, 1.0]),
        ([0.3, 0.3, 0.3], [1.0, -1.0, 1.0]),
    ],
)
@pytest.mark.parametrize("mean", [0.0, -0.7])
def test_few_answers_agree_with_the_exact_integral(x, sign, mean):
    """EP is no exact method: up to 0.006 of log Z, 0.01 deviations and 3 % of a variance are its own error here."""
    covariance, sign = prior(torch.tensor(x)[:, None]), torch.tensor(sign)
    found = run(covariance, mean, sign)
    assert found.converged
    log_z, first, second = integrate(covariance, mean, sign)
    assert found.log_z.item() == pytest.approx(log_z.item(), abs=6e-3)
    deviation = second.sqrt()
    assert ((mean + found.q.mean - first) / deviation).abs().max() < 0.01
    assert (found.q.variance / second - 1).abs().max() < 0.03


def test_at_the_fixed_point_every_factor_has_the_moments_of_the_posterior():
    """The condition that defines EP: each cavity times its exact factor has the mean and variance of q."""
    g = torch.Generator().manual_seed(0)
    X = torch.rand(25, 2, generator=g)
    sign = torch.where(X[:, 0] + 0.3 * torch.randn(25, generator=g) > 0.6, -1.0, 1.0)
    found = run(prior(X, 0.4, 6.0), 0.3, sign)
    tau, nu = found.sites
    precision = 1 / found.q.variance - tau
    cavity = (found.q.mean / found.q.variance - nu) / precision
    x, w = (torch.as_tensor(each) for each in roots_hermitenorm(200))
    g_values = cavity[:, None] + x / precision.sqrt()[:, None]
    weights = w * torch.special.ndtr(sign[:, None] * (0.3 + g_values))
    weights = weights / weights.sum(-1, keepdim=True)
    first = (weights * g_values).sum(-1)
    second = (weights * (g_values - first[:, None]).square()).sum(-1)
    torch.testing.assert_close(found.q.mean, first, rtol=0, atol=1e-6)
    torch.testing.assert_close(found.q.variance, second, rtol=0, atol=1e-6)


def hard_cases():
    g = torch.Generator().manual_seed(1)
    usual, rare = [(0.2, 4.0), (1.0, 100.0)], [(5.0, 400.0), (0.3, 0.1)]
    for n, d, priors in ((1, 1, usual + rare), (10, 1, usual + rare), (60, 2, usual + rare), (300, 2, usual[1:])):
        for lengthscale, amplitude in priors:
            X = torch.rand(n, d, generator=g)
            few = X[torch.randint(max(1, n // 5), (n,), generator=g)]
            coin = torch.where(torch.rand(n, generator=g) > 0.4, 1.0, -1.0)
            step = torch.where(X[:, 0] > 0.6, -1.0, 1.0)
            yield X, torch.ones(n), lengthscale, amplitude, "all yes"
            yield X, step, lengthscale, amplitude, "two regions"
            yield X, coin, lengthscale, amplitude, "a coin"
            yield few, coin, lengthscale, amplitude, "contradictions at the same points"
            yield X, torch.where(X[:, 0] == X[0, 0], -1.0, 1.0), lengthscale, amplitude, "one no"


@pytest.mark.parametrize("mean", [0.0, -3.0])
def test_ep_settles_whatever_the_answers(mean):
    for X, sign, lengthscale, amplitude, what in hard_cases():
        found = run(prior(X, lengthscale, amplitude), mean, sign)
        assert found.converged, (what, len(X), lengthscale, amplitude)
        assert (found.sites.tau >= 0).all()
        assert (found.sites.tau <= 1).all()
        assert (found.q.variance > 0).all()
        assert torch.isfinite(found.log_z)
        assert found.log_z < 0


def test_damping_is_needed():
    """Sixty answers of one kind and a long lengthscale: undamped parallel updates oscillate for ever."""
    at = torch.rand(60, 2, generator=torch.Generator().manual_seed(0))
    covariance, yes = prior(at, 1.0, 100.0), torch.ones(60)
    assert run(covariance, 0.0, yes).converged
    given, sites = LatentPrior(covariance, torch.tensor(0.0), yes != 0), Sites(torch.zeros(60), torch.zeros(60))
    for _ in range(200):
        sites = match(given, answers(yes), sites, absorb(covariance, sites)).sites
    wanted = match(given, answers(yes), sites, absorb(covariance, sites)).sites
    assert (sites.tau - wanted.tau).abs().max() > 1e-3


def test_a_start_changes_the_way_and_not_the_result():
    covariance = prior(torch.rand(7, 2, generator=torch.Generator().manual_seed(5)), 0.5)
    sign = torch.tensor([1.0, -1, 1, 1, -1, 1, 1])
    cold, near = run(covariance, 0.2, sign), run(1.2 * covariance, 0.0, sign)
    warm = run(covariance, 0.2, sign, near.sites)
    torch.testing.assert_close(warm.q.mean, cold.q.mean, rtol=0, atol=1e-7)
    assert warm.log_z.item() == pytest.approx(cold.log_z.item(), abs=1e-9)
