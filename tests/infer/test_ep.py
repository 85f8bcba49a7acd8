"""EP against exact moments where it is exact, against Monte Carlo where it is not, and its invariances."""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from pesky.infer import ep
from pesky.infer.factors import no_better
from pesky.infer.gaussian import log_cdf, truncation


class Joint(NamedTuple):
    """Prior moments of (d_1..d_N, f_0) and (c_k(u_1)..c_k(u_N), c_k(x*)), for a batch."""

    mean: Tensor
    covariance: Tensor


def draw_joint(batch: int, constraints: int, points: int, seed: int, correlated: float = 1.0) -> Joint:
    """Random correlated Gaussians of about unit variance."""
    g = torch.Generator().manual_seed(seed)
    n = points + 1
    root = torch.eye(n) + correlated * 0.6 * torch.randn(batch, constraints + 1, n, n, generator=g)
    mean = 0.8 * torch.randn(batch, constraints + 1, n, generator=g)
    return Joint(mean, root @ root.mT)


def prior_of(joint: Joint, active: Tensor | None = None) -> ep.Prior:
    batch, rows, n = joint.mean.shape
    active = torch.ones(batch, n - 1, dtype=torch.bool) if active is None else active
    return ep.prior(joint.mean, joint.covariance, torch.ones(batch, rows), active)


def converge(prior: ep.Prior) -> tuple[ep.EPState, ep.Info]:
    return ep.run(prior, tolerance=1e-11, max_iterations=2000)


def weighted_moments(joint: Joint, count: int, seed: int = 0) -> tuple[Tensor, Tensor, float]:
    """Mean and variance of every coordinate under prior times the exact factors, by rejection; and the share kept."""
    root = torch.linalg.cholesky(joint.covariance[0])
    noise = torch.randn(*joint.mean.shape[1:], count, generator=torch.Generator().manual_seed(seed))
    z = joint.mean[0, ..., None] + root @ noise
    better = (z[0, :-1] < 0) & (z[1:, :-1] >= 0).all(0)
    kept = ~better.any(0) & (z[1:, -1] >= 0).all(0)
    return z[..., kept].mean(-1), z[..., kept].var(-1), float(kept.double().mean())


@pytest.mark.parametrize("constraints", [0, 1, 2])
def test_independent_sites_are_exact(constraints):
    """Without correlations each factor stands alone, and EP has its exact moments after one step."""
    joint = draw_joint(4, constraints, 5, seed=0, correlated=0.0)
    scale = torch.linspace(0.3, 2.0, 6).square()
    joint = Joint(joint.mean, joint.covariance * scale)
    state, _ = converge(prior_of(joint))
    deviation = joint.covariance.diagonal(dim1=-2, dim2=-1).sqrt()
    a = joint.mean / deviation
    h = no_better(a[..., :-1])
    torch.testing.assert_close(state.q.mean[..., :-1], joint.mean[..., :-1] + deviation[..., :-1] * h.shift)
    torch.testing.assert_close(state.q.variance[..., :-1], deviation[..., :-1].square() * h.remaining)
    last = a[:, 1:, -1]
    shift, remaining = truncation(last, log_cdf(last))
    torch.testing.assert_close(state.q.mean[:, 1:, -1], joint.mean[:, 1:, -1] + deviation[:, 1:, -1] * shift)
    torch.testing.assert_close(state.q.variance[:, 1:, -1], deviation[:, 1:, -1].square() * remaining)
    torch.testing.assert_close(state.q.mean[:, 0, -1], joint.mean[:, 0, -1])


@pytest.mark.parametrize("constraints", [0, 1, 2])
def test_a_single_site_is_exact_for_every_correlated_coordinate(constraints):
    """Everything else follows the touched coordinate by linear regression."""
    joint = draw_joint(3, constraints, 4, seed=1)
    joint.mean[:, 1:, -1] = 60.0  # surely feasible at x*: those factors say nothing
    active = torch.zeros(3, 4, dtype=torch.bool)
    active[:, 1] = True
    state, info = converge(prior_of(joint, active))
    assert info.converged.all()
    variance = joint.covariance[..., 1, 1]
    h = no_better((joint.mean[..., 1] / variance.sqrt())[..., None])
    slope = joint.covariance[..., :, 1] / variance[..., None]
    mean = joint.mean + slope * (variance.sqrt() * h.shift[..., 0])[..., None]
    spread = joint.covariance.diagonal(dim1=-2, dim2=-1)
    expected = spread + slope.square() * (variance * (h.remaining[..., 0] - 1))[..., None]
    torch.testing.assert_close(state.q.mean, mean, rtol=0, atol=1e-7)
    torch.testing.assert_close(state.q.variance, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize(("constraints", "points"), [(0, 1), (0, 4), (1, 1), (1, 3), (1, 6), (2, 2), (2, 5)])
def test_moments_agree_with_monte_carlo_under_the_same_factors(constraints, points):
    """Stated tolerance: 0.1 prior deviations and 0.12 prior variances at worst, 0.03 on average (METHOD 18)."""
    errors = []
    for seed in range(4):
        joint = draw_joint(1, constraints, points, seed=10 * seed + points)
        state, _ = converge(prior_of(joint))
        mean, variance, kept = weighted_moments(joint, 300_000)
        if kept < 0.02:
            continue  # too few samples to judge by
        prior_variance = joint.covariance[0].diagonal(dim1=-2, dim2=-1)
        errors.append((state.q.mean[0] - mean).abs() / prior_variance.sqrt())
        errors.append((state.q.variance[0] - variance).abs() / prior_variance)
        assert errors[-2].max() < 0.1
        assert errors[-1].max() < 0.12
        # and conditioning did change something
        assert ((mean - joint.mean[0]).abs() / prior_variance.sqrt()).max() > 0.2
    assert len(errors) >= 4
    assert torch.cat([e.flatten() for e in errors]).mean() < 0.03


def test_a_further_step_from_the_fixed_point_changes_nothing():
    prior = prior_of(draw_joint(6, 2, 5, seed=2))
    state, info = converge(prior)
    assert info.converged.all()
    after, halvings, bad = ep.step(prior, state._replace(damping=torch.ones(6)))
    assert not bad.any()
    assert (halvings == 0).all()
    for one, other in zip(state.sites + state.q[:2], after.sites + after.q[:2], strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-8)


def test_the_damping_does_not_move_the_fixed_point():
    prior = prior_of(draw_joint(5, 1, 4, seed=3))
    state, now = converge(prior)[0], ep.init(prior)
    for _ in range(400):
        now, _, _ = ep.step(prior, now._replace(damping=torch.full((5,), 0.3)))
    torch.testing.assert_close(now.q.mean, state.q.mean, rtol=0, atol=1e-7)
    torch.testing.assert_close(now.q.variance, state.q.variance, rtol=0, atol=1e-7)


def test_a_damped_step_goes_part_of_the_way():
    prior = prior_of(draw_joint(2, 1, 3, seed=3))
    start = ep.init(prior)
    whole = ep.match(start.q, start.sites, prior.active)
    half, _, _ = ep.step(prior, start._replace(damping=torch.tensor([0.5, 0.1])))
    torch.testing.assert_close(half.sites.tau, torch.tensor([0.5, 0.1])[:, None, None] * whole.tau)
    torch.testing.assert_close(half.sites.nu, torch.tensor([0.5, 0.1])[:, None, None] * whole.nu)
    assert (half.damping < torch.tensor([0.5, 0.1])).all()


def test_masked_sites_are_exactly_neutral():
    joint = draw_joint(3, 2, 6, seed=4)
    keep = [0, 2, 3, 6]
    active = torch.tensor([True, False, True, True, False, False]).expand(3, 6)
    masked, _ = converge(prior_of(joint, active))
    smaller = Joint(joint.mean[..., keep], joint.covariance[..., keep, :][..., keep])
    without, _ = converge(prior_of(smaller))
    assert (masked.sites.tau[..., [1, 4, 5]] == 0).all()
    assert (masked.sites.nu[..., [1, 4, 5]] == 0).all()
    torch.testing.assert_close(masked.q.mean[..., keep], without.q.mean, rtol=0, atol=1e-8)
    torch.testing.assert_close(masked.q.variance[..., keep], without.q.variance, rtol=0, atol=1e-8)


def test_the_minimum_of_the_objective_carries_no_site():
    state, _ = converge(prior_of(draw_joint(3, 1, 4, seed=5)))
    assert (state.sites.tau[:, 0, -1] == 0).all()
    assert (state.sites.nu[:, 0, -1] == 0).all()
    assert (state.sites.tau[:, 1, -1] > 0).all()


def test_factors_that_say_nothing_leave_exact_zeros():
    """Denormal sites would slow the linear algebra (METHOD 12.4)."""
    joint = draw_joint(1, 1, 3, seed=6)
    joint.mean[:, 0, 0], joint.mean[:, 1, 1] = 40.0, -40.0
    state, _ = converge(prior_of(joint))
    assert (state.sites.tau[..., :2] == 0).all()
    assert (state.sites.nu[..., :2] == 0).all()
    assert (state.sites.tau[..., 2] != 0).all()


def test_the_order_of_constraints_and_points_changes_nothing():
    joint = draw_joint(3, 3, 4, seed=7)
    rows, points = [0, 3, 1, 2], [2, 0, 3, 1, 4]
    shuffled = Joint(joint.mean[:, rows][..., points], joint.covariance[:, rows][..., points, :][..., points])
    one, other = converge(prior_of(joint))[0], converge(prior_of(shuffled))[0]
    torch.testing.assert_close(one.q.mean[:, rows][..., points], other.q.mean, rtol=0, atol=1e-8)
    torch.testing.assert_close(one.q.variance[:, rows][..., points], other.q.variance, rtol=0, atol=1e-8)
    torch.testing.assert_close(one.sites.tau[:, rows][..., points], other.sites.tau, rtol=0, atol=1e-7)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_a_batch_gives_what_single_runs_give(tolerance):
    """Elements finish at different times; those that are done leave the batch without a trace."""
    joint = draw_joint(9, 1, 5, seed=8)
    joint.mean[:3, 0, :-1] = 30.0  # done at once
    whole, info = ep.run(prior_of(joint), tolerance, 1000)
    assert info.iterations.unique().numel() > 2
    for i in range(9):
        single, alone = ep.run(prior_of(Joint(joint.mean[i : i + 1], joint.covariance[i : i + 1])), tolerance, 1000)
        assert (int(alone.iterations), bool(alone.converged)) == (int(info.iterations[i]), bool(info.converged[i]))
        deviation = joint.covariance[i].diagonal(dim1=-2, dim2=-1).sqrt()
        assert ((whole.q.mean[i] - single.q.mean[0]).abs() / deviation).max() < 3 * tolerance
        assert ((whole.q.variance[i] - single.q.variance[0]).abs() / deviation.square()).max() < 3 * tolerance
        covariance = whole.q.root_transposed[i].mT @ whole.q.root_transposed[i]
        torch.testing.assert_close(covariance.diagonal(dim1=-2, dim2=-1), whole.q.variance[i])


def test_convergence_is_in_units_of_the_prior():
    joint = draw_joint(4, 1, 3, seed=9)
    scale = torch.tensor([1e-6, 1e5])[:, None]
    tiny = Joint(joint.mean * scale, joint.covariance * scale[..., None].square())
    amplitude = scale.square().expand(2, 4).mT
    active = torch.ones(4, 3, dtype=torch.bool)
    state, info = ep.run(ep.prior(tiny.mean, tiny.covariance, amplitude, active))
    same, other = ep.run(prior_of(joint))
    assert torch.equal(info.iterations, other.iterations)
    torch.testing.assert_close(state.q.mean / scale, same.q.mean, rtol=0, atol=1e-6)
    torch.testing.assert_close(state.q.variance / scale.square(), same.q.variance, rtol=0, atol=1e-6)


def test_absorb_is_gaussian_conditioning_with_sites_of_either_sign():
    joint = draw_joint(2, 1, 3, seed=10)
    g = torch.Generator().manual_seed(11)
    sites = ep.Sites(torch.rand(2, 2, 4, generator=g) - 0.1, torch.randn(2, 2, 4, generator=g))
    q, good = ep.absorb(prior_of(joint), sites)
    assert good.all()
    precision = torch.linalg.inv(joint.covariance)
    covariance = torch.linalg.inv(precision + torch.diag_embed(sites.tau))
    mean = covariance @ (precision @ joint.mean[..., None] + sites.nu[..., None])
    torch.testing.assert_close(q.mean, mean[..., 0], rtol=0, atol=1e-7)
    torch.testing.assert_close(q.variance, covariance.diagonal(dim1=-2, dim2=-1), rtol=0, atol=1e-7)
    torch.testing.assert_close(q.root_transposed.mT @ q.root_transposed, covariance, rtol=0, atol=1e-7)


def test_absorb_says_where_the_covariance_is_not_positive_definite():
    joint = draw_joint(3, 1, 2, seed=12)
    tau = torch.zeros(3, 2, 3)
    tau[1, 1, 0] = -1e3
    _, good = ep.absorb(prior_of(joint), ep.Sites(tau, torch.zeros_like(tau)))
    assert good.tolist() == [True, False, True]


def propose(monkeypatch, tau: Tensor) -> None:
    """Lets every step propose these precisions."""

    def match(q: ep.Approximation, sites: ep.Sites, active: Tensor, *limits: None) -> ep.Sites:
        return ep.Sites(tau[: len(active)], torch.zeros_like(tau[: len(active)]))

    monkeypatch.setattr(ep, "match", match)


def test_a_step_too_long_is_halved_until_the_covariance_is_positive_definite(monkeypatch):
    joint = Joint(torch.zeros(2, 1, 2), torch.eye(2).expand(2, 1, 2, 2))
    tau = torch.zeros(2, 1, 2)
    tau[1, 0, 0] = -3.0  # 1 + eps tau > 0 needs eps < 1/3: two halvings
    propose(monkeypatch, tau)
    prior = prior_of(joint)
    state, halvings, bad = ep.step(prior, ep.init(prior))
    assert halvings.tolist() == [0, 2]
    assert not bad.any()
    torch.testing.assert_close(state.sites.tau[1, 0, 0], torch.tensor(-0.75))
    torch.testing.assert_close(state.q.variance[1, 0], torch.tensor([4.0, 1.0]), rtol=1e-6, atol=0)
    assert state.damping[0] > 3.9 * state.damping[1]
    _, info = ep.run(prior, max_iterations=1)
    assert info.halvings.tolist() == [0, 2]


def test_where_no_step_is_short_enough_the_last_good_sites_are_kept(monkeypatch):
    joint = Joint(torch.zeros(2, 1, 2), torch.eye(2).expand(2, 1, 2, 2))
    tau = torch.full((2, 1, 2), 0.5)
    tau[1, 0, 0] = -1e12
    propose(monkeypatch, tau)
    prior = prior_of(joint)
    state, info = ep.run(prior)
    assert info.stopped.tolist() == [False, True]
    assert info.converged.tolist() == [True, False]
    assert (state.sites.tau[1] == 0).all()
    torch.testing.assert_close(state.q.variance[1], torch.ones(1, 2))
    torch.testing.assert_close(state.q.variance[0], torch.full((1, 2), 1 / 1.5), rtol=1e-3, atol=0)


def test_improper_cavities_leave_the_sites_of_the_point_alone():
    """Tau v >= 1 in one row: the whole point waits, the other points and x* move on (METHOD 6.1)."""
    joint = draw_joint(1, 1, 3, seed=13)
    prior = prior_of(joint)
    q = ep.init(prior).q
    tau = torch.zeros(1, 2, 4)
    tau[0, 1, 1] = 2.0 / q.variance[0, 1, 1]
    sites = ep.match(q, ep.Sites(tau, torch.full_like(tau, 0.1)), prior.active)
    torch.testing.assert_close(sites.tau[..., 1], tau[..., 1])
    torch.testing.assert_close(sites.nu[..., 1], torch.full((1, 2), 0.1))
    assert (sites.tau[..., [0, 2]] != 0).all()
    assert (sites.tau[0, 1, 3] != 0).all()


def test_relevance_is_the_largest_shift_of_any_row():
    a = torch.tensor([[-3.0, 4.0, -1.0], [2.0, 0.0, -4.0]])
    score = ep.relevance(a)
    torch.testing.assert_close(score, no_better(a).shift.abs().amax(0))
    assert score[0] > 0.5
    assert (score[1:] < 1e-3).all()


def test_resuming_from_converged_sites_stays_where_they_are():
    prior = prior_of(draw_joint(6, 2, 5, seed=11))
    state, _ = converge(prior)
    again = ep.resume(prior, state.sites)
    torch.testing.assert_close(again.q.mean, state.q.mean)
    torch.testing.assert_close(again.q.variance, state.q.variance)


def test_sites_that_do_not_fit_are_halved_until_they_do_and_only_those():
    prior = prior_of(draw_joint(2, 1, 3, seed=12))
    good, _ = converge(prior)
    tau = good.sites.tau.clone()
    tau[1] = -1e3
    state = ep.resume(prior, ep.Sites(tau, good.sites.nu))
    torch.testing.assert_close(state.sites.tau[0], good.sites.tau[0])
    assert (state.sites.tau[1] > -1e3).all()
    assert torch.isfinite(state.q.mean).all()
    assert (state.q.variance > 0).all()
