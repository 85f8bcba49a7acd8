"""The evidence against the multivariate normal, and its derivatives against finite differences."""

import math

import pytest
import torch
from small_beliefs import hyperparameters, make_belief
from torch.distributions import MultivariateNormal

from pesky.model import Hyperparameters
from pesky.model.evidence import log_likelihood, marginal_likelihood, profile_likelihood
from pesky.model.hyper import padded_gram
from pesky.model.kernel import Kernel
from pesky.model.parts import AT_ONCE

MASK = torch.tensor([[True] * 7, [True, True, False, True, True, False, False]])
DATA = make_belief(n=7, mask=MASK, mean=0.6)
H = hyperparameters(2, 2, lengthscale=0.45, amplitude=1.7, noise=0.03)


def measured(row: int, kernel: Kernel, h: Hyperparameters):
    """Covariance and values of one row without its padding."""
    keep = MASK[row]
    gram = padded_gram(kernel, DATA.X, MASK, h)[row]
    return gram[keep][:, keep], DATA.y[row][keep]


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_log_likelihood_is_that_of_the_normal(kernel):
    found = log_likelihood(kernel, DATA.X, DATA.y, MASK, H)
    for row in range(2):
        gram, y = measured(row, kernel, H)
        normal = MultivariateNormal(H.mean[row].expand(len(y)), gram)
        assert found[row].item() == pytest.approx(normal.log_prob(y).item())


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_evidence_is_the_likelihood_at_the_best_mean(kernel):
    found = marginal_likelihood(kernel, DATA.X, DATA.y, MASK, H)
    for row in range(2):
        gram, y = measured(row, kernel, H)
        inverse = torch.linalg.inv(gram)
        best = (inverse.sum(0) @ y) / inverse.sum()
        assert found.mean[row].item() == pytest.approx(best.item())
        at = [MultivariateNormal((best + s).expand(len(y)), gram).log_prob(y).item() for s in (-0.01, 0.0, 0.01)]
        assert found.log_likelihood[row].item() == pytest.approx(at[1])
        assert at[1] > max(at[0], at[2])


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_derivatives_by_the_logs_are_those_of_finite_differences(kernel):
    found = marginal_likelihood(kernel, DATA.X, DATA.y, MASK, H)
    step = 1e-5

    def numeric(change) -> torch.Tensor:
        high, low = (marginal_likelihood(kernel, DATA.X, DATA.y, MASK, change(math.exp(s))) for s in (step, -step))
        return (high.log_likelihood - low.log_likelihood) / (2 * step)

    for i in range(2):
        axis = torch.eye(2)[i]
        by_length = numeric(lambda s, axis=axis: H._replace(lengthscale=H.lengthscale * s**axis))
        torch.testing.assert_close(found.by_log_lengthscale[:, i], by_length, rtol=1e-5, atol=1e-6)
    by_amplitude = numeric(lambda s: H._replace(amplitude=H.amplitude * s))
    torch.testing.assert_close(found.by_log_amplitude, by_amplitude, rtol=1e-5, atol=1e-6)
    by_noise = numeric(lambda s: H._replace(noise=H.noise * s))
    torch.testing.assert_close(found.by_log_noise, by_noise, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_the_average_information_is_that_of_its_definition(kernel):
    """From the covariance by finite differences, and without what is padded."""
    moves = torch.randn(2, 7, 3, generator=torch.Generator().manual_seed(0)) * MASK[..., None]
    found = marginal_likelihood(kernel, DATA.X, DATA.y, MASK, H, moves=moves, is_informed=True).information
    for row in range(2):

        def covariance(logs: torch.Tensor, row: int = row) -> torch.Tensor:
            own = Hyperparameters(logs[None, :2].exp(), logs[None, 2].exp(), logs[None, 3].exp(), torch.zeros(1))
            keep = MASK[row]
            return padded_gram(kernel, DATA.X[row : row + 1], MASK[row : row + 1], own)[0][keep][:, keep]

        logs = torch.cat([H.lengthscale[row], H.amplitude[row : row + 1], H.noise[row : row + 1]]).log()
        step = 1e-5 * torch.eye(4)
        by_logs = [(covariance(logs + each) - covariance(logs - each)) / 2e-5 for each in step]
        inverse, y = torch.linalg.inv(covariance(logs)), DATA.y[row][MASK[row]]
        of_ones = inverse.sum(-1)
        projected = inverse - torch.outer(of_ones, of_ones) / of_ones.sum()
        z = torch.stack([each @ projected @ y / math.sqrt(2) for each in by_logs], -1)
        z = torch.cat([z, -moves[row][MASK[row]]], -1)
        torch.testing.assert_close(found[row], z.mT @ projected @ z, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_the_likelihood_without_derivatives_is_the_same(kernel):
    several = Hyperparameters(*(torch.stack([part, 1.3 * part]) for part in H))
    noise = torch.linspace(0.01, 0.1, DATA.y.numel()).view_as(DATA.y)
    for data_noise in (None, noise):
        with_them = marginal_likelihood(kernel, DATA.X, DATA.y, MASK, several, data_noise)
        without = profile_likelihood(kernel, DATA.X, DATA.y, MASK, several, data_noise)
        for name in ("log_likelihood", "mean", "mean_precision"):
            torch.testing.assert_close(getattr(without, name), getattr(with_them, name))


def test_starts_are_a_leading_dimension():
    other = hyperparameters(2, 2, lengthscale=0.9, noise=0.2)
    both = marginal_likelihood(
        "se", DATA.X, DATA.y, MASK, Hyperparameters(*(torch.stack(p) for p in zip(H, other, strict=True)))
    )
    for s, h in enumerate((H, other)):
        one = marginal_likelihood("se", DATA.X, DATA.y, MASK, h)
        for whole, single in zip(both, one, strict=True):
            torch.testing.assert_close(whole[s], single)


def test_a_row_without_data_has_no_evidence():
    none = torch.zeros(2, 7, dtype=torch.bool)
    found = marginal_likelihood("se", torch.zeros_like(DATA.X), torch.zeros_like(DATA.y), none, H)
    for part in found:
        torch.testing.assert_close(part, torch.zeros_like(part))


def test_a_covariance_without_factor_has_no_likelihood():
    X = torch.full((1, 3, 1), 0.5)
    bad = Hyperparameters(torch.ones(1, 1), torch.ones(1), torch.tensor([-0.5]), torch.zeros(1))
    value = log_likelihood("se", X, torch.zeros(1, 3), torch.ones(1, 3, dtype=torch.bool), bad)
    assert value.item() == -math.inf


@pytest.mark.parametrize("entries", [1, 200])
def test_parts_of_the_rows_have_the_likelihoods_that_all_have_at_once(monkeypatch, entries):
    several = Hyperparameters(*(torch.stack([part, 1.3 * part]) for part in H))
    found = []
    for at_once in (10**9, entries):
        monkeypatch.setitem(AT_ONCE, "cpu", at_once)
        data = ("matern52", DATA.X, DATA.y, MASK, several)
        found.append((marginal_likelihood(*data, is_informed=True), profile_likelihood(*data)))
    for together, apart in zip(*found, strict=True):
        for a, b in zip(together, apart, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-10)
