"""Warps: their likelihood against the definition and finite differences, when they are found, and what they leave."""

import math
from functools import partial

import pytest
import torch
from contexts import context, points
from small_beliefs import make_belief
from torch import Tensor
from torch.distributions import MultivariateNormal, Normal

from pesky import GP, Problem, Real
from pesky.acquire import rule_of
from pesky.model import surrogate
from pesky.model.evidence import marginal_likelihood
from pesky.model.fit import maximize, objective
from pesky.model.hyper import Hyperparameters, datum_noise, padded_gram, typical_amplitude
from pesky.model.warping import LOG_STRENGTH, RowData, choose, row_data, warp_data, warped_objective
from pesky.numerics.warp import Warp, warped
from pesky.observations import Observations, collect
from pesky.space import Space

MASK = torch.tensor([[True] * 9, [True] * 6 + [False] * 3])


def data(noise: list[float], seed: int = 0) -> RowData:
    drawn = make_belief(n=9, mask=MASK, seed=seed)
    y = drawn.y / drawn.y.std(-1, keepdim=True)
    return RowData(drawn.X, y, MASK, torch.tensor(noise), torch.tensor([-0.8, 0.0]), 0.9 * y, torch.zeros(2))


def derivative(warp: Warp, values: Tensor) -> Tensor:
    values = values.detach().requires_grad_()
    return torch.autograd.grad(warped(values, warp.strength, warp.shift).sum() / warp.unit, values)[0]


def parameters(log_strength: float) -> Tensor:
    return torch.tensor([[-0.7, -0.4, 0.3, -4.0, log_strength, -0.6], [-0.5, -0.2, -0.2, -5.0, log_strength, 0.4]])[
        None
    ]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("noise", [[math.nan, 0.02], [0.0, math.nan]])
def test_the_likelihood_of_a_warp_is_that_of_the_values_it_came_from(sign, noise):
    """Densities of warped values, times the slope of the warp at each, and the priors."""
    given, p = data(noise), parameters(0.3)
    found, *_ = warped_objective("matern52", given, torch.full((1, 2), sign), p)
    for row in range(2):
        keep, q = MASK[row], p[0, row]
        w = warp_data(given, torch.full((2,), sign) * q[4].exp(), q[5].expand(2))
        warp = Warp(sign * q[4].exp(), q[5], w.unit[row], given.reference[row])
        torch.testing.assert_close(warp.apply(given.y[row][keep]), w.y[row][keep])
        slope = partial(derivative, warp)
        unknown = math.isnan(noise[row])
        deviation = q[3].exp().sqrt() / slope(given.reference)[row] if unknown else torch.tensor(noise[row]).sqrt()
        each = (deviation * slope(given.expected[row])).square().clamp(min=1e-10 * float(q[2].exp()))
        stated = (deviation * slope(given.reference)[row]).square().clamp(min=1e-10 * q[2].exp())
        h = Hyperparameters(q[None, :2].exp(), q[None, 2].exp(), stated[None], torch.zeros(1))
        gram = padded_gram("matern52", given.X[row : row + 1], keep[None], h, each[None])[0][keep][:, keep]
        inverse = torch.linalg.inv(gram)
        y = w.y[row][keep]
        mean = (inverse.sum(0) @ y) / inverse.sum()
        value = MultivariateNormal(mean.expand(len(y)), gram).log_prob(y) + slope(given.y[row][keep]).log().sum()
        center, spread = LOG_STRENGTH[int(sign)]
        value = value - 0.5 * ((q[4] - center) / spread) ** 2
        value = value - 0.5 * (q[2] - y.square().mean().log()) ** 2
        d = 2
        z = (q[:2] - math.sqrt(2) - 0.5 * math.log(d)) / math.sqrt(3)
        value = value - (0.5 * z.square() + q[:2]).sum()
        if unknown:
            value = value - 0.5 * ((stated.log() + 6) / (4 if stated.log() < -6 else 2)) ** 2
        assert found[0, row].item() == pytest.approx(value.item(), rel=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("noise", [[math.nan, 0.02], [0.0, math.nan]])
def test_its_gradient_is_that_of_finite_differences(sign, noise):
    given, p, signs = data(noise), parameters(0.2), torch.full((1, 2), sign)
    _, gradient, _ = warped_objective("se", given, signs, p)
    for i in range(p.shape[-1]):
        step = torch.zeros(p.shape[-1])
        step[i] = 1e-5
        high, low = (warped_objective("se", given, signs, p + s * step)[0] for s in (1, -1))
        torch.testing.assert_close(gradient[..., i], (high - low) / 2e-5, rtol=1e-4, atol=1e-5)


def test_a_warp_that_does_nothing_has_the_likelihood_of_none():
    given = data([math.nan, 0.02])
    p = parameters(math.log(1e-6))
    found, *_ = warped_objective("se", given, torch.ones(1, 2), p)
    unit = torch.stack([y[m].std(correction=0) for y, m in zip(given.y, MASK, strict=True)])
    y, count = given.y / unit[:, None], MASK.sum(-1)
    plain, *_ = objective(
        "se", given.X, y, MASK, given.noise / unit.square(), typical_amplitude(y, MASK), p[..., :-2]
    )  # fmt: skip
    center, spread = LOG_STRENGTH[1]
    prior = Normal(center, spread).log_prob(p[..., -2]) - Normal(center, spread).log_prob(torch.tensor(center))
    torch.testing.assert_close(found, plain - count * unit.log() + prior, rtol=1e-5, atol=1e-4)


def drawn(rows: int, n: int, noise: float = 0.0, seed: int = 0) -> tuple[Tensor, Tensor]:
    belief = make_belief(rows=rows, n=n, seed=seed, kernel="matern52", noise=noise + 1e-9, lengthscale=0.4)
    return belief.X, belief.y


def strengths(X: Tensor, values: Tensor, noise: float) -> Tensor:
    y = (values - values.mean(-1, keepdim=True)) / values.std(-1, keepdim=True)
    rows, n = y.shape
    mask, given = torch.ones(rows, n, dtype=torch.bool), torch.full((rows,), noise)
    plain = maximize("matern52", X, y, mask, given)
    one = torch.ones(rows)
    o = Observations(X, y, mask, given, one, one, one, ("gaussian",) * rows)
    return choose("matern52", row_data("matern52", o, plain, False), plain).warp.strength


@pytest.mark.parametrize(("noise", "given"), [(0.0, 0.0), (0.05, math.nan)])
def test_gaussian_processes_are_left_alone_and_their_exponentials_are_not(noise, given):
    X, f = drawn(30, 24, noise, seed=3)
    assert (strengths(X, f, given) != 0).sum() <= 3
    assert (strengths(X, (1.5 * f).exp(), given) != 0).sum() >= 25


def test_few_values_and_equal_ones_are_left_alone():
    X, f = drawn(2, 7)
    assert (strengths(X, (3 * f).exp(), 0.0) == 0).all()
    X, f = drawn(2, 12)
    equal = torch.stack([torch.zeros(12), (2.5 * f[1]).exp()])
    y = torch.stack([equal[0], (equal[1] - equal[1].mean()) / equal[1].std()])
    mask, noise = torch.ones(2, 12, dtype=torch.bool), torch.zeros(2)
    plain = maximize("matern52", X, y, mask, noise)
    one = torch.ones(2)
    o = Observations(X, y, mask, noise, one, one, one, ("gaussian",) * 2)
    found = choose("matern52", row_data("matern52", o, plain, False), plain)
    assert found.warp.strength[0] == 0
    assert all(torch.isfinite(part).all() for part in (*found.warp, *found.h))


PROBLEM = Problem({"x": Real(0, 1), "y": Real(0, 1)}, minimize="f", constraints=["c >= 3", "d <= 2"], noise=0.0)


def told(n: int = 16) -> Observations:
    """An objective and a constraint over three decades, and a plain one."""
    U = torch.rand(n, 2, generator=torch.Generator().manual_seed(5))
    f, c, d = torch.exp(5 * U[:, 0] - 2 * U[:, 1]), torch.exp(5 * U[:, 1] - U[:, 0]), 3 * (4 * U[:, 0]).cos() + U[:, 1]
    rows = [{"f": float(f[i]), "c": float(c[i]), "d": float(d[i])} for i in range(n)]
    return collect(PROBLEM, Space.of(PROBLEM), list(zip(U, rows, strict=True)))


@pytest.mark.parametrize("hyperparameters", ["maximum", "slice"])
def test_a_model_warps_what_it_should_and_stays_in_the_units_of_users(hyperparameters, monkeypatch):
    monkeypatch.setattr(surrogate, "FIRST_SWEEPS", 2)
    monkeypatch.setattr(surrogate, "LATER_SWEEPS", 1)
    o, model = told(), GP(hyperparameters=hyperparameters, samples=2)
    fitted = model.fit_warped(o, PROBLEM.rows, None, None, torch.Generator().manual_seed(0), True)
    seen = fitted.observations
    assert seen.warp is not None
    assert (seen.warp.strength[..., :2] != 0).all()
    assert ((seen.y[..., 1:, :] >= 0) == (o.y[1:] >= 0)).all()
    means = fitted.belief.mean(o.X[0].expand(*fitted.belief.amplitude.shape[:-1], -1, -1))
    for row in range(3):
        back = seen.to_user(row, means[..., row, :].movedim(-1, 0))
        told_values = o.to_user(row, o.y[row])
        torch.testing.assert_close(
            back, told_values.view(-1, *(1,) * (back.dim() - 1)).expand_as(back), rtol=0.02, atol=0.02
        )
    again = model.fit_warped(o, PROBLEM.rows, None, fitted, torch.Generator().manual_seed(0), True)
    assert again.observations.warp is not None
    assert (again.observations.warp.strength[..., :2] != 0).all()


def test_a_warp_can_be_switched_off():
    o = told()
    fitted = GP(warp=False).fit_warped(o, PROBLEM.rows, None, None, torch.Generator(), True)
    assert fitted.observations is o
    plain = GP().fit(o, PROBLEM.rows, None, None, torch.Generator())
    torch.testing.assert_close(fitted.belief.hyperparameters.lengthscale, plain.hyperparameters.lengthscale)


def test_gains_do_not_depend_on_which_of_two_scales_the_values_were_told_on():
    """Where the warp is given: values of a Gaussian process, and what a warp of its inverse makes of them."""
    belief = make_belief(rows=3, n=8, seed=2, noise=1e-10, kernel="matern52")
    one = torch.ones(3)
    o = Observations(belief.X, belief.y, belief.mask, 0 * one, one, one, one, ("gaussian",) * 3)
    warp = Warp(torch.tensor([2.0, 0.0, -0.6]), torch.tensor([-0.5, 0.0, 0.3]), torch.tensor([0.7, 1.0, 1.2]), 0 * one)
    told_otherwise = Observations(
        o.X, warp.along_data().invert(o.y), o.mask, 0 * one, one, one, one, o.kinds
    ).warped(warp)  # fmt: skip
    rule = rule_of({"name": "pesc-ep", "samples": 6, "draws": 30, "polish_steps": 3, "candidates": 64})
    X = points(6)
    gains = [
        rule.acquisition(context(GP().condition(each, belief.hyperparameters, None))).forward(X)
        for each in (o, told_otherwise)
    ]
    assert gains[0].abs().max() > 0.01
    torch.testing.assert_close(gains[1], gains[0], rtol=1e-6, atol=1e-8)


def test_the_noise_of_warped_data_is_that_of_the_belief():
    given = data([0.04, 0.02])
    w = warp_data(given, torch.tensor([2.0, 1.0]), torch.tensor([0.1, -0.3]))
    noise = given.noise * (2 * w.at_reference).exp()
    each = datum_noise(noise, torch.ones(2), w.relative.exp())
    assert each is not None
    h = Hyperparameters(torch.full((2, 2), 0.5), torch.ones(2), noise, torch.zeros(2))
    alone = marginal_likelihood("se", given.X, w.y, MASK, h)
    assert (marginal_likelihood("se", given.X, w.y, MASK, h, each).log_likelihood != alone.log_likelihood).all()
    assert (each[0] / noise[0]).amax() / (each[0] / noise[0]).amin() > 2
