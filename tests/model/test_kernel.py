"""Kernels against GPyTorch, their slopes against finite differences, their frequencies against the kernel."""

from typing import get_args

import pytest
import torch
from gpytorch.kernels import MaternKernel, RBFKernel

from pesky.model.kernel import KERNELS as OURS
from pesky.model.kernel import (
    Kernel,
    correlation,
    correlation_and_slope,
    correlations,
    frequencies,
    slope,
    squared_distance,
)

KERNELS = {"se": RBFKernel(), "matern52": MaternKernel(nu=2.5)}


def test_every_kernel_has_a_name_and_is_tested_here():
    assert list(get_args(Kernel)) == list(OURS) == list(KERNELS)


@pytest.mark.parametrize("kernel", KERNELS)
def test_correlations_are_those_of_gpytorch(kernel):
    theirs = KERNELS[kernel].double()
    theirs.lengthscale = 1.0
    x, z = torch.randn(5, 3), torch.randn(7, 3)
    with torch.no_grad():
        expected = theirs(x, z).to_dense()
    torch.testing.assert_close(correlation(kernel, squared_distance(x, z)), expected)


@pytest.mark.parametrize("shapes", [((4, 3), (6, 3)), ((2, 4, 3), (2, 6, 3)), ((5, 1, 4, 3), (2, 6, 3))])
def test_squared_distances_are_those_of_the_definition(shapes):
    g = torch.Generator().manual_seed(0)
    x, z = (torch.randn(*shape, generator=g) for shape in shapes)
    expected = (x[..., :, None, :] - z[..., None, :, :]).square().sum(-1)
    torch.testing.assert_close(squared_distance(x, z), expected)


def test_squared_distances_are_never_negative():
    x = 1e3 * torch.rand(50, 4, generator=torch.Generator().manual_seed(0))
    assert (squared_distance(x, x) >= 0).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_slope_is_minus_twice_the_derivative_of_the_correlation(kernel):
    d2, step = torch.tensor([0.01, 0.5, 2.0, 9.0]), 1e-6
    numeric = (correlation(kernel, d2 + step) - correlation(kernel, d2 - step)) / (2 * step)
    torch.testing.assert_close(slope(kernel, d2), -2 * numeric, rtol=1e-6, atol=1e-9)
    assert slope(kernel, torch.zeros(1)).item() == pytest.approx({"se": 1.0, "matern52": 5 / 3}[kernel])
    both = correlation_and_slope(kernel, torch.cat([d2, torch.zeros_like(d2[:1])]))
    torch.testing.assert_close(both[0][:-1], correlation(kernel, d2))
    torch.testing.assert_close(both[1][:-1], slope(kernel, d2))
    assert [each[-1].item() for each in both] == pytest.approx([1.0, slope(kernel, torch.zeros(1)).item()])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shapes", [((4, 3), (6, 3)), ((5, 1, 4, 3), (2, 6, 3))])
def test_gradients_of_correlations_are_those_of_finite_differences(kernel, shapes):
    g = torch.Generator().manual_seed(0)
    x, z = (torch.randn(*shape, generator=g).requires_grad_() for shape in shapes)
    torch.autograd.gradcheck(lambda *points: correlations(kernel, *points), (x, z))
    torch.testing.assert_close(correlations(kernel, x, z), correlations(kernel, x.detach(), z.detach()))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gradient_where_two_points_are_one_is_zero(kernel):
    x = torch.rand(3, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(correlations(kernel, x, x.detach()).diagonal().sum(), x)
    assert gradient.abs().max() < 1e-7


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_mean_cosine_of_the_frequencies_is_the_kernel(kernel):
    w = frequencies(kernel, 2**14, 2, torch.Generator().manual_seed(0))
    for x in torch.tensor([[0.3, -0.2], [1.0, 0.5], [2.0, -1.5]]):
        mean = torch.cos(w @ x).mean()
        assert mean.item() == pytest.approx(correlation(kernel, x.square().sum()).item(), abs=2e-3)
