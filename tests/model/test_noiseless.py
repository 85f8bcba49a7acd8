"""Whether values speak for no noise at all, against integrals of the likelihood and by how often they seem to."""

import math

import pytest
import torch
from torch import Tensor

from pesky.model.evidence import marginal_likelihood
from pesky.model.fit import maximize
from pesky.model.hyper import NOISE_FLOOR
from pesky.model.kernel import correlation_alone, squared_distance
from pesky.model.noiseless import EVIDENCE, is_noiseless
from pesky.model.prior import log_noise_prior
from pesky.observations import Observations


def observations(X: Tensor, y: Tensor, noise: float = math.nan) -> Observations:
    rows = len(y)
    zero, one = torch.zeros(rows), torch.ones(rows)
    mask = torch.ones_like(y, dtype=torch.bool)
    y = (y - y.mean(-1, keepdim=True)) / y.std(-1, keepdim=True)
    given = torch.full((rows,), noise, dtype=torch.float64)
    return Observations(X, y, mask, given, one, zero, one, ("gaussian",) * rows)


def smooth(rows: int, n: int, deviation: float) -> Observations:
    """Values of waves, which a Gaussian process finds easy, with noise."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(rows, n, 2, generator=generator, dtype=torch.float64)
    phase = torch.rand(rows, 1, generator=generator, dtype=torch.float64)
    y = torch.sin(2 * X[..., 0] + phase) + X[..., 1] ** 2
    return observations(X, y + deviation * torch.randn(rows, n, generator=generator, dtype=torch.float64))


def drawn(rows: int, n: int, d: int, lengthscale: float, deviation: float) -> Observations:
    """Values of functions that are drawn from a Gaussian process, with noise."""
    generator = torch.Generator().manual_seed(n + d)
    X = torch.rand(rows, n, d, generator=generator, dtype=torch.float64)
    scaled = (X - 0.5) / lengthscale
    K = correlation_alone("matern52", squared_distance(scaled, scaled)) + 1e-12 * torch.eye(n, dtype=torch.float64)
    y = (torch.linalg.cholesky(K) @ torch.randn(rows, n, 1, generator=generator, dtype=torch.float64))[..., 0]
    return observations(X, y + deviation * torch.randn(rows, n, generator=generator, dtype=torch.float64))


def share(o: Observations) -> float:
    """How many of the rows are taken to have no noise."""
    h = maximize("matern52", o.X, o.y, o.mask, o.noise)
    return float(is_noiseless("matern52", o, h).double().mean())


def test_smooth_values_without_noise_speak_for_none() -> None:
    assert share(smooth(50, 20, 0.0)) > 0.9


@pytest.mark.parametrize("deviation", [0.01, 0.1])
def test_noise_is_noticed(deviation: float) -> None:
    assert share(smooth(50, 20, deviation)) == 0


@pytest.mark.parametrize(("n", "d", "lengthscale"), [(8, 1, 0.2), (12, 2, 0.3), (20, 6, 0.8)])
@pytest.mark.parametrize("deviation", [0.1, 0.3])
def test_few_values_with_noise_hardly_ever_seem_to_have_none(n: int, d: int, lengthscale: float, deviation) -> None:
    assert share(drawn(200, n, d, lengthscale, deviation)) <= 0.02


def test_noise_that_is_declared_is_not_judged() -> None:
    o = observations(smooth(5, 20, 0.0).X, smooth(5, 20, 0.0).y, noise=1e-6)
    h = maximize("matern52", o.X, o.y, o.mask, o.noise)
    assert not is_noiseless("matern52", o, h).any()


def test_none_is_as_many_nats_ahead_as_likelihood_and_prior_say() -> None:
    o = smooth(40, 12, 0.0)
    h = maximize("matern52", o.X, o.y, o.mask, o.noise)
    none = h._replace(noise=NOISE_FLOOR * h.amplitude)
    with_noise, without = (marginal_likelihood("matern52", o.X, o.y, o.mask, each).log_likelihood for each in (h, none))
    expected = (without >= with_noise + log_noise_prior(h.noise) + EVIDENCE) & (h.noise < 3e-4)
    assert expected.any()
    assert not expected.all()
    assert torch.equal(is_noiseless("matern52", o, h), expected)
