"""The formulas of those problems that BoTorch does not have, at points that can be computed by hand."""

from math import cos, log, pi, sin, sqrt

import pytest
import torch

from pesky.test_functions import PROBLEMS, branin_disk, g08, g12, gardner1, gardner2, keane_bump, three_bar_truss

# A point of each, and the rows there in 50 digits, from formulas that were written a second time for it.
ROWS = [
    ("g04", (80, 40, 30.5, 35, 28), (-30952.593961325, 0.9953536608695652, 0.004646339130434783, 0.1123860925,
                                     0.08986592431818182, -0.0792113425, 0.263369074)),
    ("g07", (1, -2, 3, 0.5, -1, 2, -0.5, 4, 6, -3), (690.25, 0.7, -42.5, -1.0, 1 / 48, 1.075, -11.0, -2.25, -54.0)),
    ("g08", (1.1, 3.7), (0.03023034395885646, 1.49, 0.01)),
    ("g09", (1, -2, 0.5, 3, -1.5, 2, -1), (1391.96875, 48 / 127, 274 / 282, 137 / 196, -35.5)),
    ("g10", (600, 1500, 5000, 200, 300, 250, 280, 390), (
        7100.0, -0.125, 0.05, 0.1, 0.08000194832000779, -0.004, -0.04,
    )),
    ("g24", (0.5, 1.25), (-1.75, 1.875, 5.0)),
    ("three-bar-truss", (0.5, 0.25), (166.4213562373095, -0.585786437626905, 0.585786437626905, -0.1715728752538099)),
    ("cantilever", (5, 4, 3, 2, 1), (0.936, -2.644828703703704)),
    ("mishra-bird", (-4, -3), (-3.577203194981785, 20.0)),
    ("townsend", (1, -0.5), (-1.409277128239289, 2.598660572088322)),
    ("simionescu", (0.3, 0.7), (0.021, 0.06152199654624881)),
    ("gomez-levy", (-0.3, 0.6), (-0.758367, 1.396802246667421)),
    ("g12", (1.25, 3, 6), ((3.75**2 + 4 + 1) / 100 - 1, 0.0)),
    ("g12", (0, 9.5, 10), (0.7025 - 1, 0.0625 - 2.25)),
    ("pressure-vessel-plates", (16, 8, 40, 100), (5022.29, 0.228, 0.1184, 736000 / 3 * pi / 1296000 - 1, 7 / 12)),
    ("concrete-beam", (7.2, 30, 6), (319.68, -0.25, (216 - 63.72) / 180 - 1)),
    ("process-synthesis", (0.5, 1, 2, 0, 1, 1, 1), (
        4.25 - log(2), -0.5, -0.75, 0.7, -0.2, -0.5, -0.3, -0.36, -0.75, -0.36,
    )),
]  # fmt: skip


@pytest.mark.parametrize(("name", "point", "rows"), ROWS)
def test_rows(name, point, rows):
    benchmark = PROBLEMS[name]()
    values = benchmark.evaluate(dict(zip(benchmark.problem.parameters, point, strict=True)), torch.Generator())
    assert list(values.values()) == pytest.approx(rows, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("make", [g08, g12, keane_bump, three_bar_truss])
def test_rows_are_finite_and_infeasible_where_a_formula_has_a_pole(make):
    benchmark = make()
    U = torch.zeros(2, len(benchmark.optimum), dtype=torch.float64)
    U[1, 1:] = 0.5  # on the face of the first parameter
    rows = benchmark.truth(U)
    assert bool(rows.isfinite().all())
    assert bool((rows[:, 1:] < 0).any(-1).all())


def test_g08_goes_on_to_its_edge():
    near, edge = (g08().evaluate({"x1": x1, "x2": 0.3}, torch.Generator())["f"] for x1 in (1e-7, 0.0))
    assert edge == pytest.approx(near, rel=1e-5)
    assert edge == pytest.approx(-((2 * pi) ** 3) * sin(0.6 * pi) / 0.3)


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
