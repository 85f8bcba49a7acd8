"""The formulas of those problems that BoTorch does not have, at points that can be computed by hand."""

from math import cos, pi, sin, sqrt

import pytest
import torch

from pesky.test_functions import branin_disk, gardner1, gardner2


@pytest.mark.parametrize(("x", "y"), [(0.3, 2.0), (4.0, 5.5), (2.0, 0.7)])
def test_gardner1(x, y):
    values = gardner1().evaluate({"x": x, "y": y}, torch.Generator())
    assert values == pytest.approx({"f": cos(2 * x) * cos(y) + sin(x), "c1": 0.5 - cos(x + y)})


def test_gardner2():
    values = gardner2().evaluate({"x": 7 * pi / 6, "y": pi / 2}, torch.Generator())
    assert values == pytest.approx({"f": -0.5 + pi / 2, "c1": 0.5 - 0.95})


@pytest.mark.parametrize(("x1", "x2", "c1"), [(2.5, 7.5, 50), (2.5 + sqrt(50), 7.5, 0), (7.5, 12.5, 0), (-5, 0, -62.5)])
def test_disk(x1, x2, c1):
    values = branin_disk().evaluate({"x1": x1, "x2": x2}, torch.Generator())
    assert values["c1"] == pytest.approx(c1, abs=1e-12)
