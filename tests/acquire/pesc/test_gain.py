"""The gain against brute force under the same factors, its gradient, its invariances and its edge cases."""

from typing import Any

import pytest
import torch
from scipy.stats import bernoulli, norm
from small_beliefs import difference_quotient, hyperparameters, make_belief
from torch import Tensor

from pesky.acquire import base
from pesky.acquire.pesc.gain import InformationGain, information_gain
from pesky.data.pending import Pending
from pesky.likelihood.probit import YES_NO_NOISE, ProbitLikelihood
from pesky.likelihood.rows import PROBIT
from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.latent import pseudo_measurements
from pesky.optimum import Optima, Representatives, sample_optima


def grid(n: int = 12, d: int = 2) -> Tensor:
    return torch.rand(n, d, generator=torch.Generator().manual_seed(123))


def gain_of(
    belief: GaussianProcess,
    samples: int = 8,
    draws: int | None = 60,
    reach: float | None = 0.2,
    pending: Pending | None = None,
    seed: int = 0,
) -> InformationGain:
    g = torch.Generator().manual_seed(seed)
    optima = sample_optima(belief, samples, draws, 64, 4, g)
    return information_gain(belief, optima, reach, g, pending)


def at_points(belief: GaussianProcess, x: Tensor, weight: Tensor | None = None, reach: float | None = None):
    """The gain from given x*, whatever the belief thinks of them."""
    weight = torch.full((len(x),), 1 / len(x)) if weight is None else weight
    chosen = Representatives(x, weight, torch.arange(len(x)))
    g = torch.Generator().manual_seed(0)
    return information_gain(belief, Optima(chosen, belief.paths(len(x), g), 0.0), reach, g)


def brute_force(belief: GaussianProcess, x: Tensor, weight: Tensor, X: Tensor, count: int = 300_000) -> Tensor:
    """Gains by weighing joint samples at (measured points, x*, x) with the exact factors: METHOD 2 to 4, no EP."""
    gains = []
    for at in X:
        after = torch.zeros(belief.amplitude.shape[-1])
        for minimum, share in zip(x, weight, strict=True):
            P = torch.cat([belief.points, minimum[None], at[None]])
            root = torch.linalg.cholesky(belief.covariance(P, P) + 1e-10 * torch.eye(len(P)))
            normal = torch.randn(*root.shape[:-1], count, generator=torch.Generator().manual_seed(1))
            z = belief.mean(P)[..., None] + root @ normal
            others = [*range(len(belief.points)), len(P) - 1]
            better = (z[0, others] < z[0, -2]) & (z[1:, others] >= 0).all(0)
            kept = ~better.any(0) & (z[1:, -2] >= 0).all(0)
            assert kept.sum() > 3000
            chosen = z[:, -1][:, kept]
            after += share * entropy(belief, torch.special.ndtr(chosen).mean(-1), chosen.var(-1))
        mean, variance = belief.mean(at[None])[:, 0], belief.variance(at[None])[:, 0]
        gains.append(entropy(belief, torch.special.ndtr(mean / (1 + variance).sqrt()), variance) - after)
    return torch.stack(gains)


def entropy(belief: GaussianProcess, yes: Tensor, variance: Tensor) -> Tensor:
    """Of a measurement of each row: of an answer that is yes with this probability, or of a normal up to a constant."""
    of_answer = torch.distributions.Bernoulli(yes).entropy()
    return torch.where(belief.likelihoods.is_gaussian, 0.5 * torch.log(variance + belief.noise), of_answer)


def answered(rows: int = 3, n: int = 6, **given: Any) -> GaussianProcess:
    """A belief whose last row is a yes or no, answered as its own draw says."""
    base = make_belief(rows=rows, n=n, **given)
    yes_no = torch.arange(rows) == rows - 1
    h = base.hyperparameters._replace(
        noise=torch.where(yes_no, YES_NO_NOISE, base.noise), amplitude=torch.where(yes_no, 4.0, base.amplitude)
    )
    last = slice(rows - 1, rows)
    signs = torch.where(base.y[last] > 0, 1.0, -1.0)
    values, noise = pseudo_measurements(PROBIT, "se", base.X[last], signs, base.mask[last], h.rows(yes_no))
    y, data_noise = base.y.clone(), h.noise[:, None].repeat(1, n)
    y[last], data_noise[last] = values, noise
    return GaussianProcess("se", base.X, y, base.mask, h, None, (*("gaussian",) * (rows - 1), "probit"), data_noise)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "seed"), [(1, 0), (2, 1), (3, 2)])
def test_gains_agree_with_brute_force_under_the_same_factors(rows, seed):
    """At single points EP is off by up to a quarter of the largest gain, on average by half of that (METHOD 18)."""
    belief = make_belief(rows=rows, n=3, d=1, seed=seed, noise=0.2, lengthscale=0.25, offsets=(0.4, 0.4)[: rows - 1])
    x, weight = torch.tensor([[0.15], [0.6]]), torch.tensor([0.7, 0.3])
    X = torch.tensor([[0.05], [0.3], [0.5], [0.62], [0.95]])
    exact = brute_force(belief, x, weight, X)
    found = at_points(belief, x, weight)(X)
    assert exact.max() > 0.05
    assert (found - exact).abs().max() < 0.25 * exact.max() + 0.005
    assert (found - exact).abs().mean() < 0.12 * exact.max() + 0.003


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "seed"), [(2, 0), (3, 0), (3, 2)])
def test_gains_of_answers_agree_with_brute_force_under_the_same_factors(rows, seed):
    belief = answered(rows, n=3, d=1, seed=seed, noise=0.2, lengthscale=0.25, offsets=(0.4,)[: rows - 2])
    x, weight = torch.tensor([[0.15], [0.6]]), torch.tensor([0.7, 0.3])
    X = torch.tensor([[0.05], [0.3], [0.5], [0.62], [0.95]])
    exact = brute_force(belief, x, weight, X)
    found = at_points(belief, x, weight)(X)
    assert exact[:, -1].max() > 0.02
    assert (found - exact)[:, -1].abs().max() < 0.25 * exact[:, -1].max() + 0.005
    assert (found - exact).abs().max() < 0.25 * exact.max() + 0.005
    assert (found - exact).abs().mean() < 0.12 * exact.max() + 0.003


def test_the_gain_of_an_answer_is_what_its_entropy_loses():
    """From the moments of METHOD 8, by SciPy's normal and the definition of the entropy of a yes or no."""
    belief = answered()
    x, weight = torch.tensor([[0.2, 0.4], [0.7, 0.3], [0.5, 0.9]]), torch.tensor([0.5, 0.3, 0.2])
    gain = at_points(belief, x, weight, reach=0.2)
    seen = gain.evaluate(grid())
    after = gain.predict(seen)

    def fallback(mean: Tensor, variance: Tensor) -> Tensor:
        p = norm.cdf((mean / (1 + variance).sqrt()).numpy())
        return torch.as_tensor(bernoulli.entropy(p))

    expected = fallback(belief.mean(grid())[-1], belief.variance(grid())[-1])
    expected = expected - (weight[:, None] * fallback(after.mean[-1], after.variance[-1])).sum(0)
    torch.testing.assert_close(gain(grid())[:, -1], expected, rtol=0, atol=1e-10)


def test_the_gain_of_an_answer_never_exceeds_a_bit():
    for seed in range(3):
        gains = gain_of(answered(seed=seed), samples=20, draws=200)(grid(100))[:, -1]
        assert gains.min() > -0.05
        assert 0.02 < gains.max() < 0.6932


def test_the_gradient_of_the_gain_of_an_answer_is_that_of_finite_differences():
    gain = gain_of(answered())
    X = grid(6).requires_grad_()
    (gradient,) = torch.autograd.grad(gain(X)[:, -1].sum(), X)
    with torch.no_grad():
        numeric = difference_quotient(lambda x: gain(x)[:, -1], X.detach(), 1e-6)
    torch.testing.assert_close(gradient, numeric, rtol=2e-4, atol=2e-5)


def test_a_yes_that_is_certain_changes_nothing_and_is_worth_nothing():
    belief = make_belief(rows=2, seed=2)
    h = belief.hyperparameters
    more = Hyperparameters(
        torch.cat([h.lengthscale, h.lengthscale[1:]]),
        torch.cat([h.amplitude, torch.tensor([4.0])]),
        torch.cat([h.noise, torch.tensor([YES_NO_NOISE])]),
        torch.cat([h.mean, torch.tensor([16.0])]),
    )
    yes_no = torch.tensor([False, False, True])
    X = belief.X[[0, 0, 0]]
    values, noise = pseudo_measurements(PROBIT, "se", X[2:], torch.ones(1, 6), belief.mask[:1], more.rows(yes_no))
    data_noise = torch.cat([h.noise[:, None].expand(2, 6), noise])
    certain = GaussianProcess(
        "se",
        X,
        torch.cat([belief.y, values]),
        belief.mask[[0, 0, 0]],
        more,
        None,
        ("gaussian", "gaussian", "probit"),
        data_noise,
    )
    x = torch.tensor([[0.2, 0.4], [0.7, 0.3], [0.5, 0.9]])
    one, other = at_points(belief, x, reach=0.2)(grid()), at_points(certain, x, reach=0.2)(grid())
    torch.testing.assert_close(other[:, :2], one, rtol=0, atol=1e-5)
    assert (other[:, 2].abs() < 1e-6).all()


def test_with_a_pending_answer_each_sample_has_an_entropy_of_its_own():
    belief = answered()
    X = grid(5)
    pending = Pending(X[:1], torch.tensor([[False, False, True]]))
    gain, before = gain_of(belief, 20, 200, pending=pending), gain_of(belief, 20, 200)
    seen = gain.evaluate(X)
    assert seen.mean.shape[-2] == 20
    after = gain.predict(seen)
    entropy, none = ProbitLikelihood().entropy, torch.zeros(())
    lost = entropy(seen.mean[2], seen.variance[2], none) - entropy(after.mean[2], after.variance[2], none)
    torch.testing.assert_close(gain(X)[:, 2], (gain.optima.chosen.weight[:, None] * lost).sum(0))
    # the same question again is worth less, and the answer is no longer in the samples' one mind
    assert gain(X)[0, 2] < 0.75 * before(X)[0, 2]
    assert seen.mean[2, :, 0].std() > 0.3


def test_answers_in_samples_of_hyperparameters_are_averaged_too():
    belief = answered()
    h = belief.hyperparameters
    several = GaussianProcess(
        "se", belief.X, belief.y.expand(2, 3, 6), belief.mask, Hyperparameters(*(torch.stack([p, p]) for p in h)),
        None, belief.kinds, belief.data_noise.expand(2, 3, 6),  # pyright: ignore[reportOptionalMemberAccess]
    )  # fmt: skip
    x = torch.tensor([[0.2, 0.4], [0.7, 0.3]])
    chosen = Representatives(x.expand(2, 2, 2), torch.full((2, 2), 0.5), torch.arange(2).expand(2, 2))
    g = torch.Generator().manual_seed(0)
    both = information_gain(several, Optima(chosen, several.paths(2, g), 0.0), 0.2, g)(grid())
    torch.testing.assert_close(both, at_points(belief, x, reach=0.2)(grid()), rtol=0, atol=1e-3)


def test_local_points_add_to_what_is_known():
    """With a reach, two more points per axis may not be better: the same as having them measured nowhere else."""
    belief = make_belief(rows=2, n=4, d=1, seed=1, noise=0.05, lengthscale=0.25, offsets=(0.4,))
    x = torch.tensor([[0.5]])
    reach = 0.3
    step = reach * belief.lengthscale.amin()
    local = torch.stack([x[0] + step, x[0] - step])
    found = at_points(belief, x, reach=reach)(grid(d=1))
    plain = at_points(belief, x)(grid(d=1))
    assert (found - plain).abs().max() > 0.01

    class WithPoints(GaussianProcess):
        @property
        def points(self):  # pyright: ignore
            return torch.cat([belief.points, local])

    more = WithPoints(belief.kernel, belief.X, belief.y, belief.mask, belief.hyperparameters)
    torch.testing.assert_close(at_points(more, x)(grid(d=1)), found, rtol=0, atol=2e-3)


@pytest.mark.parametrize("noise", [0.05, 1e-10])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_the_gradient_is_that_of_finite_differences(rows, noise, kernel):
    gain = gain_of(make_belief(rows=rows, noise=noise, kernel=kernel))
    X = grid(6).requires_grad_()
    values = gain(X)
    for row in range(rows):
        (gradient,) = torch.autograd.grad(values[:, row].sum(), X, retain_graph=True)
        with torch.no_grad():
            numeric = difference_quotient(lambda x, row=row: gain(x)[:, row], X.detach(), 1e-6)
        torch.testing.assert_close(gradient, numeric, rtol=2e-4, atol=2e-5)


def test_an_inactive_constraint_changes_nothing_and_is_worth_nothing():
    belief = make_belief(rows=2, seed=2)
    more = make_belief(rows=3, seed=2)
    h = more.hyperparameters
    lifted = Hyperparameters(
        torch.cat([belief.lengthscale, belief.lengthscale[1:]]),
        torch.cat([belief.amplitude, belief.amplitude[1:]]),
        torch.cat([belief.noise, belief.noise[1:]]),
        torch.cat([belief.prior_mean, torch.tensor([12.0])]),
    )
    assert h.mean.shape == lifted.mean.shape
    y = torch.cat([belief.y, 12.0 + 0.1 * belief.y[1:]])
    inactive = GaussianProcess("se", more.X[[0, 0, 0]], y, more.mask, lifted)
    x = torch.tensor([[0.2, 0.4], [0.7, 0.3], [0.5, 0.9]])
    one, other = at_points(belief, x, reach=0.2)(grid()), at_points(inactive, x, reach=0.2)(grid())
    torch.testing.assert_close(other[:, :2], one, rtol=0, atol=1e-5)
    assert (other[:, 2].abs() < 1e-6).all()


def test_the_order_of_constraints_and_of_data_changes_nothing():
    belief = make_belief(rows=4, seed=3, mask=torch.rand(4, 6, generator=torch.Generator().manual_seed(1)) < 0.8)
    rows, data = [0, 2, 3, 1], [3, 0, 5, 1, 4, 2]
    h = Hyperparameters(*(part[rows] for part in belief.hyperparameters))
    shuffled = GaussianProcess("se", belief.X[rows][:, data], belief.y[rows][:, data], belief.mask[rows][:, data], h)
    x = torch.tensor([[0.2, 0.4], [0.7, 0.3]])
    one, other = at_points(belief, x, reach=0.2)(grid()), at_points(shuffled, x, reach=0.2)(grid())
    torch.testing.assert_close(one[:, rows], other, rtol=0, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_noise_free_point_already_measured_is_worth_nothing(rows):
    belief = make_belief(rows=rows, noise=1e-10, n=8, seed=4)
    gains = gain_of(belief)(belief.points)
    # a variance at the floor can still be halved, which is nothing against what a new point gives
    assert (gains.abs() < 0.02).all()
    assert gain_of(belief)(grid()).sum(-1).max() > 0.2


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("row", [0, 1])
def test_the_units_of_an_outcome_change_no_gain(scale, row):
    belief = make_belief(rows=3, seed=5)
    h = belief.hyperparameters
    unit = torch.ones(3)
    unit[row] = scale
    scaled = GaussianProcess(
        "se", belief.X, belief.y * unit[:, None], belief.mask,
        Hyperparameters(h.lengthscale, h.amplitude * unit.square(), h.noise * unit.square(), h.mean * unit),
    )  # fmt: skip
    x = torch.tensor([[0.2, 0.4], [0.7, 0.3]])
    torch.testing.assert_close(
        at_points(scaled, x, reach=0.2)(grid()),
        at_points(belief, x, reach=0.2)(grid()),
        rtol=0,
        atol=1e-6,
    )


def test_many_points_are_taken_in_turns_with_the_same_result(monkeypatch):
    gain = gain_of(make_belief(rows=2))
    whole = gain(grid(30))
    monkeypatch.setitem(base.CHUNK, "cpu", 1)
    torch.testing.assert_close(gain(grid(30)), whole)


def test_hyperparameter_samples_are_averaged():
    belief = make_belief(rows=2)
    others = [hyperparameters(2, 2, lengthscale=length, noise=0.02) for length in (0.2, 0.5)]
    x = torch.tensor([[0.2, 0.4], [0.7, 0.3]])
    stacked = Hyperparameters(*(torch.stack(p) for p in zip(*others, strict=True)))
    several = GaussianProcess("se", belief.X, belief.y, belief.mask, stacked)
    chosen = Representatives(x.expand(2, 2, 2), torch.full((2, 2), 0.5), torch.arange(2).expand(2, 2))
    g = torch.Generator().manual_seed(0)
    both = information_gain(several, Optima(chosen, several.paths(2, g), 0.0), 0.2, g)(grid())
    single = [
        at_points(GaussianProcess("se", belief.X, belief.y, belief.mask, h), x, reach=0.2)(grid()) for h in others
    ]
    torch.testing.assert_close(both, (single[0] + single[1]) / 2, rtol=0, atol=1e-3)
    assert not torch.allclose(single[0], single[1], atol=1e-2)


@pytest.mark.parametrize("rows", [1, 2, 4])
@pytest.mark.parametrize("seed", range(2))
def test_gains_are_nowhere_clearly_negative(rows, seed):
    """The total, that is; EP's own error can push one of several constraints a little lower."""
    for draws, reach in ((None, None), (200, 0.15)):
        gains = gain_of(make_belief(rows=rows, seed=seed), 25, draws, reach)(grid(200))
        assert gains.sum(-1).min() > -0.02
        assert gains.min() > (-0.05 if rows < 3 else -0.12)
        assert gains.sum(-1).max() > 0.05


def edge_cases():
    one = torch.zeros(2, 6, dtype=torch.bool)
    one[:, 0] = True
    yield "one observation", make_belief(mask=one), True
    unseen = torch.ones(2, 6, dtype=torch.bool)
    unseen[1] = False
    yield "constraint never observed", make_belief(mask=unseen), True
    yield "objective never observed", make_belief(mask=unseen.flip(0)), True
    yield "nothing feasible", make_belief(offsets=(-5.0,)), False
    yield "hardly a feasible draw", make_belief(offsets=(-2.5,)), True
    yield "noise-free", make_belief(noise=1e-10, n=15), True
    base = make_belief(noise=1e-10)
    yield (
        "noise-free duplicates",
        GaussianProcess(
            "se", base.X.repeat(1, 2, 1), base.y.repeat(1, 2), base.mask.repeat(1, 2), base.hyperparameters
        ),
        True,
    )
    yield "noise only", make_belief(noise=1.0, amplitude=1e-3), False
    yield "huge lengthscale", make_belief(lengthscale=20.0, noise=1e-10), False


@pytest.mark.parametrize("case", list(edge_cases()), ids=lambda case: case[0])
@pytest.mark.parametrize("draws", [None, 40])
def test_edge_cases_give_finite_sensible_gains(case, draws):
    _, belief, is_informative = case
    gain = gain_of(belief, draws=draws, reach=None if draws is None else 0.2)
    X = torch.cat([grid(40), belief.points]).requires_grad_()
    gains = gain(X)
    assert torch.isfinite(gains).all()
    assert torch.isfinite(torch.autograd.grad(gains.sum(), X)[0]).all()
    assert gains.min() > -0.1
    assert not is_informative or gains.max() > 0.01


def test_no_data_at_all_gives_a_finite_gain():
    none = torch.zeros(2, 0, dtype=torch.bool)
    belief = GaussianProcess("se", torch.zeros(2, 0, 2), torch.zeros(2, 0), none, hyperparameters(2, 2))
    assert torch.isfinite(gain_of(belief)(grid())).all()


def test_an_outcome_that_is_never_observed_is_worth_observing():
    unseen = torch.ones(2, 6, dtype=torch.bool)
    unseen[1] = False
    gains = gain_of(make_belief(mask=unseen), samples=20)(grid(100))
    assert gains[:, 1].max() > 0.05
