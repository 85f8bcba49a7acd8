"""Rows within limits: the factor, EP and the belief at x, against Monte Carlo (METHOD 24)."""

import torch
from infer.test_ep import Joint, converge, draw_joint

from pesky.infer import ep
from pesky.infer.factors import no_better
from pesky.infer.limits import Limits, log_reach

MANY = 400_000


def samples(rows: int, seed: int = 0, count: int = MANY) -> torch.Tensor:
    return torch.randn(rows, count, generator=torch.Generator().manual_seed(seed))


def test_the_factor_has_the_moments_of_weighted_samples():
    for a, ends, reach in (
        ([-0.4, 0.3, 0.8], [0.9, torch.inf], None),
        ([-1.5, 0.2, 0.4], [0.3, 0.5], None),
        ([0.3, -1.0], [1.5], 0.4),
        ([-0.8], [], 0.3),
    ):
        mean, width = torch.tensor(a)[:, None], torch.tensor(ends)[:, None]
        z = mean + samples(len(a))
        feasible = ((z[1:] >= 0) & (z[1:] <= mean[1:] + width)).all(0)
        if reach is not None:
            feasible = feasible & (torch.rand(MANY, generator=torch.Generator().manual_seed(1)) < reach)
        kept = z[:, ~(feasible & (z[0] < 0))]
        found = no_better(mean, width, None if reach is None else torch.tensor([reach]).log())
        torch.testing.assert_close(found.log_z.exp().item(), kept.shape[1] / MANY, rtol=0, atol=4e-3)
        torch.testing.assert_close(kept.mean(1), mean[:, 0] + found.shift[:, 0], rtol=0, atol=0.012)
        torch.testing.assert_close(kept.var(1), found.remaining[:, 0], rtol=0.02, atol=0)


def test_the_moments_of_a_band_are_derivatives_of_log_z():
    a, ends = torch.tensor([-0.7, 0.4, 1.1]), torch.tensor([0.6, 2.0])
    found = no_better(a[:, None], ends[:, None])

    def log_z(mean: torch.Tensor) -> torch.Tensor:
        inside = torch.special.ndtr(ends + a[1:] - mean[1:]) - torch.special.ndtr(-mean[1:])
        return torch.log1p(-inside.prod() * torch.special.ndtr(-mean[0]))

    torch.testing.assert_close(found.log_z[0], log_z(a))
    torch.testing.assert_close(found.shift[:, 0], torch.func.grad(log_z)(a))
    second = torch.func.hessian(log_z)(a).diagonal()
    torch.testing.assert_close(found.remaining[:, 0], 1 + second, rtol=1e-7, atol=0)


def test_limits_far_away_change_nothing():
    a = 2 * samples(3, count=50)
    plain, limited = no_better(a), no_better(a, torch.full((2, 50), torch.inf))
    torch.testing.assert_close(plain, limited, rtol=0, atol=1e-8)
    joint = draw_joint(3, 2, 4, seed=1)
    none = Limits(torch.full((3, 2), torch.inf), torch.full((3,), -torch.inf), torch.full((3,), torch.inf))
    one, other = (converge(limited_prior(joint, limits))[0].q for limits in (None, none))
    torch.testing.assert_close(one.mean, other.mean, rtol=0, atol=1e-6)
    torch.testing.assert_close(one.variance, other.variance, rtol=0, atol=1e-6)


def limited_prior(joint: Joint, limits: Limits | None) -> ep.Prior:
    batch, rows, n = joint.mean.shape
    active = torch.ones(batch, n - 1, dtype=torch.bool)
    return ep.prior(joint.mean, joint.covariance, torch.ones(batch, rows), active, limits)


def test_the_factor_stays_finite_in_every_tail():
    grid = torch.tensor([-1e5, -40.0, -1.0, 0.0, 2.0, 40.0, 1e5])
    a = torch.stack(torch.meshgrid(grid, grid, indexing="ij")).view(2, -1).requires_grad_()
    for width in (1e-12, 0.5, 1e3, torch.inf):
        found = no_better(a, width - a[1:], torch.full_like(a[0], -0.3))
        for part in found:
            assert torch.isfinite(part).all()
            (gradient,) = torch.autograd.grad(part.sum(), a, retain_graph=True)
            assert torch.isfinite(gradient).all()
        assert (found.remaining >= 0).all()


def test_ep_knows_where_rows_are_feasible():
    """Two points and x*, a band and a limited objective: rejection sampling has the same moments, about."""
    joint = draw_joint(1, 1, 2, seed=3, correlated=0.4)
    for limits in (
        Limits(torch.tensor([[0.8]]), torch.tensor([-torch.inf]), torch.tensor([torch.inf])),
        Limits(torch.tensor([[torch.inf]]), torch.tensor([-torch.inf]), torch.tensor([0.3])),
        Limits(torch.tensor([[1.0]]), torch.tensor([-0.5]), torch.tensor([1.0])),
    ):
        root = torch.linalg.cholesky(joint.covariance[0])
        z = joint.mean[0, ..., None] + root @ samples(6).view(2, 3, MANY)
        upper, low, high = limits.upper[0, 0], limits.low, limits.high
        value = z[0, :2] + z[0, 2]
        better = (z[0, :2] < 0) & (value >= low) & (z[1, :2] >= 0) & (z[1, :2] <= upper)
        at_minimum = (z[1, 2] >= 0) & (z[1, 2] <= upper) & (z[0, 2] >= low) & (z[0, 2] <= high)
        kept = z[..., ~better.any(0) & at_minimum]
        q = converge(limited_prior(joint, limits))[0].q
        deviation = joint.covariance[0].diagonal(dim1=-2, dim2=-1).sqrt()
        assert ((q.mean[0] - kept.mean(-1)).abs() / deviation).max() < 0.08
        assert ((q.variance[0] - kept.var(-1)).abs() / deviation.square()).max() < 0.12


def test_what_is_better_is_within_reach_of_the_lower_limit():
    root = torch.tensor([[1.0, 0.0], [0.6, 0.7]])
    mean = torch.tensor([0.3, -0.2])  # of f(u) and f(x*)
    f, minimum = mean[:, None] + root @ samples(2)
    d = f - minimum
    for low in (-2.0, -0.5, 0.4):
        both = ((f >= low) & (d < 0)).double().mean() / (d < 0).double().mean()
        c = root @ root.T
        spread = c[0, 0] + c[1, 1] - 2 * c[0, 1]
        found = log_reach(torch.tensor(low), mean[0], c[0, 0], mean[0] - mean[1], spread, c[0, 0] - c[0, 1]).exp()
        torch.testing.assert_close(found, both, rtol=0, atol=4e-3)
