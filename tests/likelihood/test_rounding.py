"""Counts and readings of a coarse scale: equal values are no proof that there is no noise."""

import math

import pytest
import torch

import pesky
from pesky.likelihood.rounding import unit_of
from pesky.observations import observe
from pesky.problem import Problem, Real


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ([3, 4, 4, 7, 12], 1),
        ([30, 40, 40, 70], 10),
        ([0.25, 0.5, 0.5, 1.75], 0.25),
        ([-0.3, 0.1, 0.1, 0.2], 0.1),
        ([1e6 + 1, 1e6 + 4, 1e6 + 4, 1e6 + 9], 1),
        ([0.123, 0.123, 0.456, 0.789, 0.4711], 0),  # a fine scale beside the range
        ([3, 4, 5, 7, 12], 0),  # none is met twice
        ([2, 2, 3, 3], 0),  # two values have no scale
        ([5, 5, 5], 0),
        ([], 0),
        ([math.pi, math.pi, math.e, 1.0], 0),
    ],
)
def test_the_unit_of_values_that_are_met_twice(values, unit) -> None:
    assert unit_of([float(each) for each in values]) == pytest.approx(unit, rel=1e-6)


def test_rounding_leaves_a_uniform_error_in_any_unit() -> None:
    problem = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c <= 30"])
    X = torch.linspace(0, 1, 5, dtype=torch.float64)[:, None]
    f, c = torch.tensor([1.0, 2, 2, 4, 7]).double(), torch.tensor([10.0, 20, 20, 40, 70]).double()
    o = observe(problem, [X, X], [f, c], {})
    assert o.least_noise is not None
    assert (o.least_noise * o.scale.square()).tolist() == pytest.approx([1 / 12, 100 / 12])


def counted(noise=None, step=1.0, deviation=2.0, seed=0, again=None):
    """A study of whole numbers that scatter, and an equal pair at one point."""
    g = torch.Generator().manual_seed(seed)
    study = pesky.Study(pesky.Problem({"x": pesky.Real(0, 1)}, minimize="f", noise=noise))
    for x in torch.linspace(0, 1, 11).tolist():
        value = 30 + 20 * math.sin(4 * x) + deviation * float(torch.randn((), generator=g))
        study.add({"x": x}, {"f": step * round(value / step) if step else value})
    study.add({"x": 0.5}, {"f": study.evaluations[5].outcomes["f"] if again is None else again})
    return study


@pytest.mark.parametrize("step", [1.0, 0.5])
def test_an_equal_pair_of_rounded_values_leaves_the_noise_of_rounding(step) -> None:
    for seed in range(4):
        assert counted(step=step, seed=seed).noise()["f"] >= 0.999 * step / math.sqrt(12)


def test_an_equal_pair_of_exact_values_is_a_proof() -> None:
    assert counted(step=0, deviation=0).noise()["f"] == 0


def test_noise_that_speaks_for_itself_or_is_declared_stays() -> None:
    assert counted(deviation=6, again=52.0).noise()["f"] > 1
    assert counted(noise=0.0).noise()["f"] == 0
    assert counted(noise=0.1).noise()["f"] == 0.1
