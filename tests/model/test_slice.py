"""Slice sampling leaves the posterior of the hyperparameters invariant, seen against importance sampling."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from pesky.model import Hyperparameters
from pesky.model.hyper import padded_gram
from pesky.model.prior import LOG_AMPLITUDE, LOG_LENGTHSCALE, LOG_NOISE
from pesky.model.slice import MAX_SHRINKS, Chains, sample, slice_along
from pesky.numerics.rng import source_of

X = torch.tensor([[[0.1], [0.35], [0.8], [0.85]]])
Y = torch.tensor([[0.9, -0.2, -0.8, -0.5]])
MASK = torch.ones(1, 4, dtype=torch.bool)


def start(chains: int, d: int = 1, rows: int = 1) -> Hyperparameters:
    one = torch.ones(chains, rows)
    return Hyperparameters(0.5 * torch.ones(chains, rows, d), one, 0.1 * one, 0 * one)


def moments_by_importance(given: float, count: int = 400_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation of (log l, log a, mean[, log s2]): draws from the prior, weighted by the likelihood."""
    g = torch.Generator().manual_seed(0)
    log_l = math.sqrt(2) - 3 + math.sqrt(3) * torch.randn(count, generator=g)
    log_a = Y.square().mean().log() + torch.randn(count, generator=g)
    mean = Y.min() - 1 + (Y.max() - Y.min() + 2) * torch.rand(count, generator=g)
    if math.isnan(given):
        # the halves of two normal distributions, each with the share of its width
        z, is_above = torch.randn(count, generator=g).abs(), torch.rand(count, generator=g) < 1 / 3
        log_s = -6 + torch.where(is_above, 2 * z, -4 * z)
    else:
        log_s = torch.full((count,), math.log(given))
    h = Hyperparameters(log_l.exp()[:, None, None], log_a.exp()[:, None], log_s.exp()[:, None], mean[:, None])
    gram = padded_gram("se", X, MASK, h)[:, 0] + 1e-12 * torch.eye(4)
    log_weight = MultivariateNormal(mean[:, None].expand(count, 4), gram, validate_args=False).log_prob(Y[0])
    pairs = ((log_l, LOG_LENGTHSCALE), (log_a, LOG_AMPLITUDE), (log_s, LOG_NOISE))
    within = torch.stack([(part > low) & (part < high) for part, (low, high) in pairs]).all(0)
    weight = torch.softmax(torch.where(within, log_weight, -torch.inf), 0)
    assert 1 / weight.square().sum() > 5000
    columns = [log_l, log_a, mean] + ([log_s] if math.isnan(given) else [])
    values = torch.stack(columns)
    first = values @ weight
    return first, ((values - first[:, None]).square() @ weight).sqrt()


def updated(density: Callable[[Tensor], Tensor], state: Tensor, direction: Tensor, g: torch.Generator) -> Tensor:
    """The state after one update."""
    uniforms = torch.rand(len(state), 2 + MAX_SHRINKS, generator=g)
    return slice_along(lambda s, _: density(s), Chains(state, density(state)), direction, uniforms).state


@pytest.mark.parametrize("given", [math.nan, 0.05])
def test_chains_recover_the_posterior_moments(given):
    chains = 1500
    h = sample("se", X, Y, MASK, torch.tensor([given]), start(chains), 40, torch.Generator().manual_seed(1))
    columns = [h.lengthscale[:, 0, 0].log(), h.amplitude[:, 0].log(), h.mean[:, 0]]
    columns += [h.noise[:, 0].log()] if math.isnan(given) else []
    values = torch.stack(columns)
    mean, deviation = moments_by_importance(given)
    # four standard errors of 1500 independent chains, and of the importance sample
    assert ((values.mean(1) - mean).abs() / deviation).max() < 0.12
    torch.testing.assert_close(values.std(1), deviation, rtol=0.12, atol=0)
    if not math.isnan(given):
        assert (h.noise == given).all()


def test_a_univariate_update_keeps_a_known_distribution():
    """Chains that start from an asymmetric density (log of an exponential) still follow it, and do move."""
    g = torch.Generator().manual_seed(2)
    state = torch.empty(4000, 1).exponential_(generator=g).log()
    first = state.clone()
    for _ in range(5):
        state = updated(lambda s: (s - s.exp())[..., 0], state, torch.ones_like(state), g)
    level = state.exp()
    assert level.mean().item() == pytest.approx(1.0, abs=0.06)
    assert level.median().item() == pytest.approx(math.log(2), abs=0.05)
    assert level.var().item() == pytest.approx(1.0, abs=0.15)
    assert torch.corrcoef(torch.stack([first.flatten(), state.flatten()]))[0, 1].abs() < 0.4


def test_an_update_keeps_a_density_much_narrower_than_its_first_interval():
    g = torch.Generator().manual_seed(7)
    state = torch.empty(40_000, 1).exponential_(10.0, generator=g)
    for _ in range(3):
        state = updated(lambda s: torch.where(s > 0, -10 * s, -torch.inf)[..., 0], state, torch.ones_like(state), g)
    assert state.mean().item() == pytest.approx(0.1, abs=0.002)
    assert state.std().item() == pytest.approx(0.1, abs=0.003)
    # one update from a single point is symmetric where the density is
    once = updated(lambda s: -50 * s.square()[..., 0], torch.zeros(40_000, 1), torch.ones(40_000, 1), g)
    assert once.mean().item() == pytest.approx(0.0, abs=0.002)


def test_the_first_interval_has_unit_width_and_lies_anywhere_around_the_point():
    looked = []

    def needle(s: torch.Tensor) -> torch.Tensor:
        looked.append(s[..., 0])
        return torch.where(s.abs()[..., 0] < 1e-6, 0.0, -torch.inf)

    updated(needle, torch.zeros(2000, 1), torch.ones(2000, 1), torch.Generator().manual_seed(8))
    left, right = looked[1], looked[2]
    torch.testing.assert_close(right - left, torch.ones(2000))
    assert right.min() > 0
    assert right.mean().item() == pytest.approx(0.5, abs=0.03)


def test_an_update_finds_the_whole_width_of_the_slice():
    """From one point, a single update spreads uniformly over a flat density much wider than the first interval."""
    g = torch.Generator().manual_seed(3)
    state = torch.full((4000, 1), 0.9)

    def flat(s):
        return torch.where(((s > -2) & (s < 4)).all(-1), 0.0, -torch.inf)

    moved = updated(flat, state, torch.ones_like(state), g).flatten()
    assert moved.min() > -2
    assert moved.max() < 4
    assert moved.mean().item() == pytest.approx(1.0, abs=0.12)
    assert moved.var().item() == pytest.approx(3.0, abs=0.25)


def test_an_update_moves_along_its_direction_only():
    g = torch.Generator().manual_seed(4)
    state = torch.randn(50, 3, generator=g)
    direction = torch.zeros_like(state)
    direction[..., 1] = 1.0
    moved = updated(lambda s: -0.5 * s.square().sum(-1), state, direction, g)
    assert torch.equal(moved[..., [0, 2]], state[..., [0, 2]])
    assert (moved[..., 1] != state[..., 1]).double().mean() > 0.99


def test_a_warm_start_needs_no_burn_in():
    """Chains already in equilibrium stay there after a single sweep."""
    noise, g = torch.tensor([math.nan]), torch.Generator().manual_seed(5)
    settled = sample("se", X, Y, MASK, noise, start(800), 30, g)
    later = sample("se", X, Y, MASK, noise, settled, 1, g)
    for one, other in zip(settled, later, strict=True):
        if one is not settled.mean:
            one, other = one.log(), other.log()
        assert abs((one.mean() - other.mean()) / one.std()).item() < 0.15
    assert not torch.equal(settled.lengthscale, later.lengthscale)


def test_no_data_one_datum_and_rows_of_different_length_are_fine():
    g = torch.Generator().manual_seed(6)
    for mask in (torch.zeros(2, 0), torch.ones(2, 1), torch.tensor([[1, 1, 0], [0, 0, 0]])):
        n = mask.shape[1]
        h = sample(
            "matern52", torch.rand(2, n, 2), torch.zeros(2, n), mask.bool(), torch.tensor([math.nan, 0.0]),
            start(3, d=2, rows=2), 3, g,
        )  # fmt: skip
        for part in h:
            assert torch.isfinite(part).all()
        assert h.lengthscale.shape == (3, 2, 2)


def test_studies_in_lockstep_have_the_chains_that_each_has_alone():
    g = torch.Generator().manual_seed(9)
    points, values = torch.rand(3, 2, 5, 2, generator=g), torch.randn(3, 2, 5, generator=g)
    mask = torch.arange(5) < torch.tensor([[5, 3], [2, 5], [4, 4]])[..., None]
    values, noise = torch.where(mask, values, 0.0), torch.tensor([math.nan, 0.01]).expand(3, 2)
    begun = start(4, d=2, rows=2)
    together = Hyperparameters(*(part.expand(3, *part.shape) for part in begun))
    found = sample("matern52", points, values, mask, noise, together, 3, source_of((5, 6, 7)))
    assert found.lengthscale.shape == (3, 4, 2, 2)
    for i, seed in enumerate((5, 6, 7)):
        alone = sample("matern52", points[i], values[i], mask[i], noise[i], begun, 3, source_of(seed))
        for part, own in zip(found, alone, strict=True):
            torch.testing.assert_close(part[i], own)
