"""The factor "no better point here" against Monte Carlo, quadrature and finite differences."""

import itertools

import mpmath
import pytest
import torch

from pesky.infer.factors import no_better

MEANS = {
    0: [[-2.5], [-0.4], [0.0], [1.3]],
    1: [[-2.0, 0.5], [0.4, -1.0], [0.2, 2.5], [-1.5, 3.0], [1.0, 0.0]],
    2: [[-1.0, 0.3, 1.2], [0.5, -0.5, 2.0], [-2.5, 1.0, 1.0]],
    3: [[-1.0, 0.8, 1.2, 0.1], [0.3, 2.0, -0.4, 1.0]],
}
CASES = [means for each in MEANS.values() for means in each]


def exact_log_z(a):
    """Log of the expectation of 1 - [d < 0] prod_k [c_k >= 0], in 50 digits."""
    feasible = mpmath.mpf(1)
    for mean in a[1:]:
        feasible *= mpmath.erfc(-mean / mpmath.sqrt(2)) / 2
    return mpmath.log1p(-feasible * mpmath.erfc(a[0] / mpmath.sqrt(2)) / 2)


def column(means) -> torch.Tensor:
    return torch.tensor(means)[:, None]


@pytest.mark.parametrize("means", CASES, ids=str)
def test_moments_are_derivatives_of_log_z(means):
    """Shift = d log Z / da and remaining = 1 + d^2 log Z / da^2, for every coordinate of unit variance."""
    found = no_better(column(means))
    with mpmath.workdps(50):
        exact = [mpmath.mpf(mean) for mean in means]
        assert found.log_z.item() == pytest.approx(float(exact_log_z(exact)), rel=1e-12)
        for j in range(len(means)):
            along = lambda t, j=j: exact_log_z([*exact[:j], t, *exact[j + 1 :]])  # noqa: E731
            assert found.shift[j, 0].item() == pytest.approx(float(mpmath.diff(along, exact[j])), rel=1e-9)
            second = float(mpmath.diff(along, exact[j], 2))
            assert found.remaining[j, 0].item() == pytest.approx(1 + second, rel=1e-9)


@pytest.mark.parametrize("means", [each[0] for each in MEANS.values()], ids=str)
def test_moments_are_those_of_weighted_samples(means):
    a = column(means)
    z = a + torch.randn(len(means), 400_000, generator=torch.Generator().manual_seed(0))
    kept = ~((z[0] < 0) & (z[1:] >= 0).all(0))
    found, kept = no_better(a), z[:, kept]
    torch.testing.assert_close(found.log_z.exp().item(), kept.shape[1] / z.shape[1], rtol=0, atol=5e-3)
    torch.testing.assert_close(kept.mean(1), a[:, 0] + found.shift[:, 0], rtol=0, atol=0.012)
    torch.testing.assert_close(kept.var(1), found.remaining[:, 0], rtol=0.02, atol=0)


@pytest.mark.parametrize("constraints", [0, 1, 2, 3])
def test_moments_are_finite_and_variances_positive_in_every_tail(constraints):
    grid = [-40.0, -9.0, -1.0, 0.0, 1.0, 9.0, 40.0]
    a = torch.tensor(list(itertools.product(grid, repeat=constraints + 1))).T.contiguous().requires_grad_()
    found = no_better(a)
    for part in found:
        assert torch.isfinite(part).all()
    assert (found.log_z <= 1e-12).all()
    assert (found.remaining > 0).all()
    (gradient,) = torch.autograd.grad(torch.stack([part.sum() for part in found]).sum(), a)
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize(
    ("means", "tolerance"),
    [
        ([-40.0], 1e-6),
        ([-20.0, 40.0], 1e-6),
        ([-40.0, 40.0], 1e-6),
        ([-39.0, 38.5, 40.0], 1e-6),
        ([-12.0, 12.0], 1e-6),
        ([-8.0, 6.0, 7.0], 1e-6),
        ([-40.0, -40.0], 1e-6),
        ([40.0, 2.0], 1e-6),
        ([-15.0, 9.0, -3.0], 1e-6),
    ],
    ids=str,
)
def test_tails_keep_their_digits(means, tolerance):
    found = no_better(column(means))
    with mpmath.workdps(1200):
        exact = [mpmath.mpf(mean) for mean in means]
        step = mpmath.mpf(10) ** -300
        for j in range(len(means)):
            low, mid, high = (exact_log_z([*exact[:j], exact[j] + s, *exact[j + 1 :]]) for s in (-step, 0, step))
            shift, second = float((high - low) / (2 * step)), float((high - 2 * mid + low) / step**2)
            remaining = float(1 + (high - 2 * mid + low) / step**2)
            assert found.shift[j, 0].item() == pytest.approx(shift, rel=tolerance, abs=1e-250)
            assert found.remaining[j, 0].item() == pytest.approx(remaining, rel=tolerance), second


def test_a_surely_infeasible_or_surely_worse_point_moves_nothing():
    found = no_better(torch.tensor([[0.3, 30.0], [-30.0, 0.5], [1.0, 1.0]]))
    assert (found.shift.abs() < 1e-100).all()
    torch.testing.assert_close(found.remaining, torch.ones(3, 2))


def test_surely_feasible_constraints_leave_the_unconstrained_factor():
    d = torch.tensor([[-2.0, 0.1, 1.5]])
    free = no_better(d)
    bound = no_better(torch.cat([d, torch.full((2, 3), 15.0)]))
    torch.testing.assert_close(bound.log_z, free.log_z)
    torch.testing.assert_close(bound.shift[:1], free.shift)
    torch.testing.assert_close(bound.remaining[:1], free.remaining)


def test_the_or_factor_may_widen():
    """A point that is either infeasible or just feasible: cutting out the middle leaves two far parts."""
    assert no_better(column([-3.0, 0.3])).remaining.max() > 0.3
    assert no_better(column([-0.3, 1.8])).remaining[1].item() > 1


def test_every_leading_dimension_is_a_batch():
    a = torch.randn(3, 4, 2, 5, generator=torch.Generator().manual_seed(1))
    whole = no_better(a)
    torch.testing.assert_close(whole.shift[2, 1], no_better(a[2, 1]).shift)
    assert (whole.log_z.shape, whole.remaining.shape) == ((3, 4, 5), (3, 4, 2, 5))


def test_the_order_of_constraints_changes_nothing():
    a = torch.randn(4, 6, generator=torch.Generator().manual_seed(2))
    order = [0, 3, 1, 2]
    one, other = no_better(a), no_better(a[order])
    torch.testing.assert_close(one.log_z, other.log_z)
    torch.testing.assert_close(one.shift[order], other.shift)
    torch.testing.assert_close(one.remaining[order], other.remaining)
