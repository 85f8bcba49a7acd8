"""The part of the space that constraints on parameters leave."""

import pytest
import torch

from pesky import Choice, Integer, Problem, ProblemError, Real
from pesky.numerics.rng import source_of
from pesky.space import Space
from pesky.space.region import POOL, Region

SQUARE = {"x": Real(0, 1), "z": Real(0, 1)}
MIXED = {"x": Real(1, 100, log=True), "n": Integer(0, 9), "kind": Choice(["a", "b"])}


def region(parameters, *constraints) -> Region:
    problem = Problem(parameters, minimize="f", constraints=constraints)
    found = Region.of(problem, Space.of(problem))
    assert found is not None
    return found


def test_without_constraints_on_parameters_there_is_none():
    problem = Problem(SQUARE, minimize="f", constraints=["c <= 1"], known={"c": lambda p: p["x"]})
    assert Region.of(problem, Space.of(problem)) is None


@pytest.mark.parametrize(
    ("parameters", "constraints", "holds"),
    [
        (SQUARE, ["x + z <= 1"], lambda p: p["x"] + p["z"] <= 1),
        (SQUARE, ["x + z <= 1", "x + z >= 0.9999"], lambda p: 0.9999 <= p["x"] + p["z"] <= 1),
        (SQUARE, ["x + 2*z <= 1e-3"], lambda p: p["x"] + 2 * p["z"] <= 1e-3),
        (SQUARE, ["x*z >= 0.99"], lambda p: p["x"] * p["z"] >= 0.99),
        (MIXED, ["x * n <= 50", "n >= 3"], lambda p: p["x"] * p["n"] <= 50 and p["n"] >= 3),
    ],
)
def test_points_of_it_hold_exactly_what_the_text_says(parameters, constraints, holds):
    r = region(parameters, *constraints)
    assert 0 < len(r.pool) <= POOL
    decoded = [r.space.decode(u) for u in r.pool]
    assert all(map(holds, decoded))
    latin = r.repaired(r.space.latin(5, source_of(1)))
    assert latin.shape == (5, r.space.dim)
    assert all(holds(r.space.decode(u)) for u in latin)
    assert len({tuple(r.space.decode(u).values()) for u in latin}) == 5
    U = r.space.sobol(64, seed=3)
    assert r.contains(U).tolist() == [holds(r.space.decode(u)) for u in U]
    for u in U[:8]:
        assert holds(r.space.decode(r.nearest(u)))


def test_the_nearest_point_is_on_the_edge_and_one_inside_stays():
    r = region(SQUARE, "x + z <= 1")
    inside = torch.tensor([0.2, 0.3], dtype=torch.float64)
    assert r.nearest(inside) is inside
    corner = r.nearest(torch.tensor([1.0, 1.0], dtype=torch.float64))
    assert float(corner.sum()) == pytest.approx(1, abs=1e-9)


def test_a_design_inside_stays_and_another_is_spread_out():
    r = region(SQUARE, "x + z <= 1")
    design = torch.tensor([[0.1, 0.1], [0.9, 0.9]], dtype=torch.float64)
    repaired = r.repaired(design)
    torch.testing.assert_close(repaired[0], design[0])
    assert float((repaired[1] - design[0]).norm()) > 0.8


def test_the_margin_has_gradients():
    r = region(SQUARE, "x + z <= 1")
    X = torch.tensor([[[0.2, 0.3], [0.9, 0.9]]], dtype=torch.float64, requires_grad=True)
    margin = r.margin(X)
    assert (margin > 0).tolist() == [[True, False]]
    (slope,) = torch.autograd.grad(margin.sum(), X)
    torch.testing.assert_close(slope, torch.full_like(slope, -1 / r.bounds[0].scale))


def test_points_of_a_finite_space_are_counted():
    assert region({"n": Integer(0, 4), "m": Integer(0, 4)}, "n + m <= 2").size == 6
    assert region(SQUARE, "x <= z").size is None


def test_an_empty_region_is_refused():
    nowhere = "(x - z) * (x - z) <= -1e-9"  # which the problem itself leaves open
    with pytest.raises(ProblemError, match=r"no point .* 'x \+ z <= 1' and '.* <= -1e-09' hold: widen"):
        _ = region(SQUARE, "x + z <= 1", nowhere).pool
