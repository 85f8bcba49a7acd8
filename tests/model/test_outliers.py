"""Outliers: residuals that leave one out against refits, and what is never one."""

import math

import pytest
import torch
from small_beliefs import make_belief
from torch import Tensor

from pesky import GP, Problem, Real
from pesky.model.gp import GaussianProcess
from pesky.model.outliers import SUSPECT, explain, is_at_edge, is_outlier, studentized, suspects
from pesky.model.surrogate import Fitted
from pesky.observations import Observations, collect
from pesky.space import Space

LINE = Problem({"x": Real(0, 1)}, minimize="f")


def observed(X: Tensor, values: Tensor) -> Observations:
    return collect(LINE, Space.of(LINE), [(x, {"f": float(v)}) for x, v in zip(X, values, strict=True)])


def without(X: Tensor, values: Tensor, datum: int) -> Observations:
    keep = torch.arange(len(X)) != datum
    return observed(X[keep], values[keep])


def judged(X: Tensor, values: Tensor, datum: int) -> bool:
    return is_outlier(GP(), observed(X, values), without(X, values, datum), datum, float(values[datum]), True)


def test_a_suspect_is_far_from_what_the_others_expect_by_their_own_spread():
    belief = make_belief(rows=2, n=9)
    y = belief.y.clone()
    y[1, 4] += 1.5
    belief = GaussianProcess(belief.kernel, belief.X, y, belief.mask, belief.hyperparameters)
    gram = belief.root @ belief.root.mT
    residual = y - belief.prior_mean[:, None]
    size = torch.zeros(2, 9)
    for j in range(2):
        for i in range(9):
            keep = torch.arange(9) != i
            K, k = gram[j][keep][:, keep], gram[j][keep, i]
            mean, variance = k @ torch.linalg.solve(K, residual[j][keep]), gram[j, i, i] - k @ torch.linalg.solve(K, k)
            z2 = (residual[j, i] - mean).square() / variance
            # by the amplitude at which the others would be as likely as can be, but for a factor
            spread = residual[j][keep] @ torch.linalg.solve(K, residual[j][keep])
            total = residual[j] @ torch.linalg.solve(gram[j], residual[j])
            torch.testing.assert_close(spread + z2, total)
            size[j, i] = (z2 * 7 / (9 - z2).clamp(min=1e-6)).sqrt()
    torch.testing.assert_close(studentized(belief), size)
    assert int(size[1].argmax()) == 4
    zero = torch.zeros(2)
    one = Observations(belief.X, y, belief.mask, zero, zero, zero, zero, ("gaussian",) * 2)
    found = suspects(Fitted(belief, one), torch.tensor([False, True]))
    assert found == [[], [i for i in size[1].argsort(descending=True).tolist() if size[1, i] > SUSPECT]]
    assert found[1][:1] == [4]


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_evidence_is_of_values_in_their_own_units(scale):
    """Densities in smaller units are larger."""
    X = torch.linspace(0, 1, 12)[:, None]
    values = torch.sin(5 * X[:, 0])
    for model in (GP(), GP(warp=False)):
        one, other = (explain(model, observed(X, unit * values), True).evidence for unit in (1.0, scale))
        assert other - one == pytest.approx(-12 * math.log(scale), abs=1e-6)


def test_edges_are_those_of_columns_and_of_two_at_once():
    others = torch.tensor([[0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]])
    assert not is_at_edge(others, torch.tensor([0.5, 0.5]))
    assert is_at_edge(others, torch.tensor([0.95, 0.5]))
    assert is_at_edge(others, torch.tensor([0.5, 0.05]))
    assert not is_at_edge(others[:3], torch.tensor([0.4, 0.4]))
    assert is_at_edge(others[:3], torch.tensor([0.6, 0.6]))
    assert not is_at_edge(torch.cat([others, torch.tensor([[0.95, 0.5]])]), torch.tensor([0.95, 0.5]))


def test_one_value_off_a_smooth_curve_is_an_outlier_and_one_of_a_step_is_none():
    g = torch.Generator().manual_seed(0)
    X = torch.rand(20, 1, generator=g)
    smooth = torch.sin(4 * X[:, 0]) + 0.02 * torch.randn(20, generator=g)
    datum = int(X[:, 0].argsort()[10])
    assert not judged(X, smooth, datum)
    assert judged(X, smooth.index_add(0, torch.tensor(datum), torch.tensor([2.0])), datum)
    step = smooth + 5 * (X[:, 0] > 0.5)
    assert not any(judged(X, step, i) for i in X[:, 0].argsort()[9:12].tolist())
