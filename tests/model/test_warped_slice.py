"""Slice sampling of warps with hyperparameters, against a grid, and in studies."""

import math

import pytest
import torch
from small_beliefs import make_belief

from pesky import GP, Problem, Real, Study
from pesky.model import surrogate
from pesky.model.evidence import log_likelihood
from pesky.model.hyper import Hyperparameters, datum_noise, typical_amplitude
from pesky.model.prior import log_prior
from pesky.model.warped_slice import sample
from pesky.model.warping import RowData, log_warp_prior, warp_bounds, warp_data
from pesky.numerics.warp import Warp


def exponential(n: int = 10) -> RowData:
    """The exponential of a draw, with a given noise."""
    drawn = make_belief(rows=1, n=n, d=1, seed=4, kernel="matern52", noise=1e-6, lengthscale=0.4)
    y = (2 * drawn.y).exp()
    y = (y - y.mean()) / y.std()
    mask = torch.ones_like(y, dtype=torch.bool)
    return RowData(drawn.X, y, mask, torch.tensor([1e-3]), y.amin(-1), y, torch.zeros(1))


def test_chains_have_the_posterior_of_a_grid():
    """Of the two parameters of the warp, at hyperparameters that the prior holds fast."""
    data, chains = exponential(), 600
    sign = torch.ones(chains, 1)
    h = Hyperparameters(torch.full((chains, 1, 1), 0.5), sign, 0.1 * sign, 0 * sign)
    warp = Warp(8 * sign, data.y.amin() * sign, sign, data.reference * sign)
    found, drawn = sample("matern52", data, h, warp, 12, torch.Generator().manual_seed(0))
    assert (drawn.strength > 0).all()
    assert drawn.strength.log().std() > 0.2
    # the same by weights of draws from a wide proposal of all six parameters
    g = torch.Generator().manual_seed(1)
    lower, upper = warp_bounds(data, torch.ones(1))
    count = 400_000
    p = lower + (upper - lower) * torch.rand(count, 1, 2, generator=g)
    w = warp_data(data, p[..., 0].exp(), p[..., 1])
    log_l, log_a = -4 + 4.69 * torch.rand(count, 1, 1, generator=g), -4 + 8 * torch.rand(count, 1, generator=g)
    mean = -4 + 8 * torch.rand(count, 1, generator=g)
    noise = data.noise * (2 * w.at_reference).exp()
    given = Hyperparameters(log_l.exp(), log_a.exp(), noise, mean)
    each = datum_noise(given.noise, given.amplitude, w.relative.exp())
    value = log_likelihood("matern52", data.X, w.y, data.mask, given, each) + w.log_jacobian
    value = value + log_prior(given, torch.tensor([False]), typical_amplitude(w.y, data.mask))[0]
    value = value + log_warp_prior(torch.ones(count, 1), p[..., 0])
    weight = value[:, 0].softmax(0)
    assert 1 / weight.square().sum() > 150
    for own, wide in (
        (drawn.strength.log(), p[..., 0]),
        (drawn.shift, p[..., 1]),
        (found.lengthscale[..., 0].log(), log_l[..., 0]),
    ):
        expected = (weight * wide[:, 0]).sum()
        deviation = (weight * (wide[:, 0] - expected).square()).sum().sqrt()
        assert abs(own.mean() - expected) < 0.3 * deviation
        assert own.std().item() == pytest.approx(deviation.item(), rel=0.3)


def told(model: GP, count: int = 14) -> Study:
    problem = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 5"], noise=0.01)
    study = Study(problem, model=model, rule="random")
    for i in range(count):
        x = (i + 0.5) / count
        study.add({"x": x}, {"f": math.exp(9 * (x - 0.3) ** 2) ** 2, "c": math.exp(4 * x)})
    return study


@pytest.fixture
def short(monkeypatch):
    """Chains of a few sweeps."""
    monkeypatch.setattr(surrogate, "FIRST_SWEEPS", 4)
    monkeypatch.setattr(surrogate, "LATER_SWEEPS", 1)


@pytest.mark.usefixtures("short")
def test_a_study_by_slices_has_a_warp_for_each_sample_and_answers_in_the_units_of_its_user():
    study = told(GP(hyperparameters="slice", samples=4))
    warp = study._inference.of(study._snapshot()).observations.warp
    assert warp is not None
    assert warp.strength.shape == (4, 2)
    assert len(set(warp.strength[:, 0].tolist())) == 4
    belief, o = study.inferred().belief, study.inferred().observations
    u = study.space.encode({"x": 0.7})
    moments = (
        part.reshape(4, 2, 1)[:, 0, 0] for part in (belief.mean(u.expand(4, 1, 1)), belief.variance(u.expand(4, 1, 1)))
    )
    expected = o.mean_to_user(0, *moments).mean()
    assert study.predict({"x": 0.7}).outcomes["f"].mean == pytest.approx(float(expected))
    found = study.predict({"x": 0.3}).outcomes["f"]
    assert found.interval[0] <= found.mean <= found.interval[1]
    assert found.mean == pytest.approx(1, abs=0.3)
    best = study.recommend()
    assert best.is_confident
    assert best.probabilities["c >= 5"] >= 0.95
    stricter = study.what_if({"c": 20.0})
    x = stricter.params["x"]
    assert isinstance(x, float)
    assert x > math.log(20) / 4 - 0.02
    assert study.ask().params


@pytest.mark.usefixtures("short")
def test_chains_of_warps_go_on_where_the_last_ended():
    study = told(GP(hyperparameters="slice", samples=3))
    first = study._inference.of(study._snapshot()).observations.warp
    study.add({"x": 0.31}, {"f": 1.0, "c": math.exp(1.24)})
    second = study._inference.of(study._snapshot()).observations.warp
    assert first is not None
    assert second is not None
    assert second.strength.shape == first.strength.shape
    assert not torch.equal(first.strength, second.strength)
