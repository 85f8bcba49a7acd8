"""Yes/no rows: EP against exact integrals, its derivatives against finite differences, and data that are hard on it."""

import math

import pytest
import torch
from scipy.special import roots_hermitenorm
from small_beliefs import hyperparameters

from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.binary import Answers, Sites, absorb, evidence, match, pseudo_measurements, run
from pesky.model.kernel import correlation, squared_distance


def prior(X: torch.Tensor, lengthscale: float = 0.3, amplitude: float = 4.0) -> torch.Tensor:
    return amplitude * correlation("se", squared_distance(X / lengthscale, X / lengthscale))


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
    found = run(Answers(torch.full((1, 1), amplitude), torch.tensor(mean), torch.tensor([sign])))
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
    found = run(Answers(covariance, torch.tensor(mean), sign))
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
    found = run(Answers(prior(X, 0.4, 6.0), torch.tensor(0.3), sign))
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


MASK = torch.tensor([[True] * 7, [True, True, False, True, True, False, False]])
X = torch.rand(2, 7, 2, generator=torch.Generator().manual_seed(5))
Y = torch.tensor([[1.0, -1, 1, 1, -1, 1, 1], [1, 1, 0, 1, -1, 0, 0]])
H = hyperparameters(2, 2, lengthscale=0.45, amplitude=3.0, mean=0.3)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_derivatives_are_those_of_finite_differences(kernel):
    found = evidence(kernel, X, Y, MASK, H)
    step = 1e-4

    def numeric(change) -> torch.Tensor:
        high, low = (evidence(kernel, X, Y, MASK, change(s), tolerance=1e-11).log_z for s in (step, -step))
        return (high - low) / (2 * step)

    for i in range(2):
        axis = torch.eye(2)[i]
        by_length = numeric(lambda s, axis=axis: H._replace(lengthscale=H.lengthscale * math.exp(s) ** axis))
        torch.testing.assert_close(found.by_log_lengthscale[:, i], by_length, rtol=1e-5, atol=1e-7)
    by_amplitude = numeric(lambda s: H._replace(amplitude=H.amplitude * math.exp(s)))
    torch.testing.assert_close(found.by_log_amplitude, by_amplitude, rtol=1e-5, atol=1e-7)
    by_mean = numeric(lambda s: H._replace(mean=H.mean + s))
    torch.testing.assert_close(found.by_mean, by_mean, rtol=1e-5, atol=1e-7)


def test_padding_and_batches_change_nothing():
    batch = Hyperparameters(*(torch.stack([part, 1.3 * part]) for part in H))
    together = evidence("se", X, Y, MASK, batch)
    for s, scale in enumerate((1.0, 1.3)):
        for row in range(2):
            keep = MASK[row]
            one = Hyperparameters(*(scale * part[row : row + 1] for part in H))
            alone = evidence("se", X[row : row + 1, keep], Y[row : row + 1, keep], keep[keep][None], one)
            assert together.log_z[s, row].item() == pytest.approx(alone.log_z.item(), abs=1e-9)
            torch.testing.assert_close(together.by_log_lengthscale[s, row], alone.by_log_lengthscale[0])
            torch.testing.assert_close(together.by_mean[s, row], alone.by_mean[0])
            torch.testing.assert_close(together.sites.tau[s, row, keep], alone.sites.tau[0], rtol=0, atol=1e-7)
    assert (together.sites.tau[:, ~MASK] == 0).all()


def test_no_answers_have_no_evidence():
    found = evidence("se", torch.zeros(2, 0, 2), torch.zeros(2, 0), torch.zeros(2, 0, dtype=torch.bool), H)
    assert torch.equal(found.log_z, torch.zeros(2))
    assert torch.equal(found.by_mean, torch.zeros(2))


def test_opposite_answers_give_the_opposite_function():
    one, other = evidence("se", X, Y, MASK, H), evidence("se", X, -Y, MASK, H._replace(mean=-H.mean))
    torch.testing.assert_close(one.log_z, other.log_z)
    torch.testing.assert_close(one.by_log_lengthscale, other.by_log_lengthscale)
    torch.testing.assert_close(one.by_mean, -other.by_mean)
    torch.testing.assert_close(one.sites.nu, -other.sites.nu, rtol=0, atol=1e-7)


def belief_of(kernel, X, y, mask, h) -> GaussianProcess:
    values, noise = pseudo_measurements(kernel, X, y, mask, h)
    return GaussianProcess(kernel, X, values, mask, h, None, ("probit",) * len(X), noise)


def test_the_belief_of_the_pseudo_measurements_is_eps_posterior():
    belief = belief_of("se", X, Y, MASK, H)
    for row in range(2):
        keep = MASK[row]
        scaled = X[row][keep] / H.lengthscale[row]
        covariance = H.amplitude[row] * correlation("se", squared_distance(scaled, scaled))
        found = run(Answers(covariance, H.mean[row], Y[row][keep]))
        at = X[row][keep]
        torch.testing.assert_close(belief.mean(at)[row], H.mean[row] + found.q.mean, rtol=0, atol=1e-6)
        torch.testing.assert_close(belief.variance(at)[row], found.q.variance, rtol=0, atol=1e-6)
        # anywhere else: R&W 3.60 and 3.61
        new = torch.rand(5, 2, generator=torch.Generator().manual_seed(2))
        cross = H.amplitude[row] * correlation("se", squared_distance(scaled, new / H.lengthscale[row]))
        inverse = torch.linalg.inv(covariance + torch.diag(1 / found.sites.tau))
        mean = H.mean[row] + cross.mT @ inverse @ (found.sites.nu / found.sites.tau)
        torch.testing.assert_close(belief.mean(new)[row], mean, rtol=0, atol=1e-6)
        left = H.amplitude[row] - (cross * (inverse @ cross)).sum(0)
        torch.testing.assert_close(belief.variance(new)[row], left, rtol=0, atol=1e-6)


def test_an_answer_that_was_certain_before_says_nothing_and_is_finite():
    """A site of zero precision: without a cap its noise would be infinite, its value zero over zero."""
    h = hyperparameters(1, 1, amplitude=1.0, mean=60.0)
    at = torch.tensor([[[0.3], [0.6]]])
    belief = belief_of("se", at, torch.ones(1, 2), torch.ones(1, 2, dtype=torch.bool), h)
    assert torch.isfinite(belief.y).all()
    assert torch.isfinite(belief.data_noise).all()  # pyright: ignore[reportArgumentType]
    torch.testing.assert_close(belief.mean(at[0]), torch.full((1, 2), 60.0), rtol=0, atol=1e-6)
    torch.testing.assert_close(belief.variance(at[0]), torch.ones(1, 2), rtol=0, atol=1e-6)
    drawn = belief.paths(2000, torch.Generator().manual_seed(0)).values(at[0])
    assert drawn.mean().item() == pytest.approx(60.0, abs=0.1)
    assert drawn.std().item() == pytest.approx(1.0, abs=0.05)


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
        found = run(Answers(prior(X, lengthscale, amplitude), torch.tensor(mean), sign))
        assert found.converged, (what, len(X), lengthscale, amplitude)
        assert (found.sites.tau >= 0).all()
        assert (found.sites.tau <= 1).all()
        assert (found.q.variance > 0).all()
        assert torch.isfinite(found.log_z)
        assert found.log_z < 0


def test_damping_is_needed():
    """Sixty answers of one kind and a long lengthscale: undamped parallel updates oscillate for ever."""
    at = torch.rand(60, 2, generator=torch.Generator().manual_seed(0))
    answers = Answers(prior(at, 1.0, 100.0), torch.tensor(0.0), torch.ones(60))
    assert run(answers).converged
    sites = Sites(torch.zeros(60), torch.zeros(60))
    for _ in range(200):
        sites = match(answers, sites, absorb(answers.covariance, sites)).sites
    wanted = match(answers, sites, absorb(answers.covariance, sites)).sites
    assert (sites.tau - wanted.tau).abs().max() > 1e-3


def test_a_start_changes_the_way_and_not_the_result():
    covariance = prior(X[0], 0.5)
    answers = Answers(covariance, torch.tensor(0.2), Y[0])
    cold = run(answers)
    near = run(Answers(1.2 * covariance, torch.tensor(0.0), Y[0]))
    warm = run(answers, near.sites)
    torch.testing.assert_close(warm.q.mean, cold.q.mean, rtol=0, atol=1e-7)
    assert warm.log_z.item() == pytest.approx(cold.log_z.item(), abs=1e-9)
