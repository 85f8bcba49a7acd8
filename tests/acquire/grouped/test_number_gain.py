"""The gain of numbers by its formulas, against the same by the moments and entropies of the groups."""

import pytest
import torch
from small_beliefs import make_belief

from pesky.acquire.base import Context
from pesky.acquire.grouped.gain import GroupedGain, sample_gain
from pesky.acquire.grouped.moments import GroupSums, last_of_all, sizes, sum_powers
from pesky.problem import Real
from pesky.space import Space


def gain_of(noise: float, dtype: torch.dtype = torch.float64) -> GroupedGain:
    belief = make_belief(3, 8, 2, noise=noise)
    cells = torch.rand(25, 2, generator=torch.Generator().manual_seed(4))
    space = Space({"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)})
    context = Context(belief, space, torch.full((2,), 0.95), torch.Generator().manual_seed(5))
    return sample_gain(context, cells, cells, torch.ones(25, dtype=torch.bool), 400, 2, dtype=dtype)


def by_moments(gain: GroupedGain, X: torch.Tensor) -> torch.Tensor:
    at = gain._at(X)
    sums = tuple(map(last_of_all, sum_powers(gain._powers(at), gain._members)))
    return gain._gains(at, GroupSums(sizes(gain.groups), sums))


@pytest.mark.parametrize("noise", [1e-2, 1e-10])
def test_values_and_gradients_are_those_of_moments_and_entropies(noise):
    gain = gain_of(noise)
    X = torch.rand(7, 2, generator=torch.Generator().manual_seed(6)).requires_grad_()
    weight = torch.randn(3, 7, generator=torch.Generator().manual_seed(7))
    found, expected = gain.forward(X), by_moments(gain, X)
    torch.testing.assert_close(found, expected)
    slopes = [torch.autograd.grad((weight * each).sum(), X)[0] for each in (found, expected)]
    torch.testing.assert_close(*slopes)


def test_gradients_are_those_of_finite_differences():
    gain = gain_of(1e-2)
    X = torch.rand(3, 2, generator=torch.Generator().manual_seed(8)).requires_grad_()
    torch.autograd.gradcheck(gain.forward, X)


def test_single_precision_is_enough():
    X = torch.rand(7, 2, generator=torch.Generator().manual_seed(6))
    exact, rounded = (gain_of(1e-2, dtype)(X) for dtype in (torch.float64, torch.float32))
    torch.testing.assert_close(rounded, exact, rtol=0, atol=1e-5)
