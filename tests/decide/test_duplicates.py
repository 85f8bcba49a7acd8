"""Questions whose answers are known are not chosen: the best of the others is."""

import pytest
import torch
from small_beliefs import make_belief

from pesky import Choice, Integer, Real
from pesky.acquire import PescOptions
from pesky.acquire.base import Context, PointPreference
from pesky.acquire.maximize import best_of
from pesky.acquire.pesc.rule import PredictiveEntropySearch
from pesky.acquire.registry import rule_of
from pesky.decide import Duplicates, TaskOptions, analyze, choose, draw, fixed_prices, worth_at_optima
from pesky.decide.duplicates import LATTICE, size
from pesky.decide.fallback import fallback
from pesky.decide.select import Analysis
from pesky.model import GaussianProcess
from pesky.space import Space

SQUARE = Space({"x": Real(0, 1), "y": Real(0, 1)})
GRID = Space({"x": Integer(0, 3), "y": Integer(0, 3)})
HERE = torch.tensor([0.3, 0.6])
CONFIDENCE = torch.full((1,), 0.95)
BOTH = TaskOptions(torch.eye(2), (None, None), fixed_prices(torch.ones(2)))
QUICK = PredictiveEntropySearch(PescOptions(samples=8, draws=40, local_reach=0.2, polish_steps=3, candidates=64))


def grid(seed: int = 0) -> GaussianProcess:
    base = make_belief(rows=2, seed=seed)
    return GaussianProcess(base.kernel, GRID.snap(base.X), base.y, base.mask, base.hyperparameters, GRID.snap)


def context(belief: GaussianProcess, space: Space = SQUARE) -> Context:
    return Context(belief, space, CONFIDENCE, torch.Generator().manual_seed(0))


def stubborn(space: Space, u: torch.Tensor = HERE) -> Analysis:
    """Wants the first task at a point, and nowhere else as much."""
    belief = make_belief(rows=2)
    return Analysis(
        context(belief, space), rule_of("random"), PointPreference(belief, u, torch.tensor([1.0, 0.99])), True
    )


def all_but(index: int) -> torch.Tensor:
    points = GRID.combinations(16)
    assert points is not None
    return torch.cat([points[:index], points[index + 1 :]])


def test_each_task_is_settled_where_it_was_measured_up_to_rounding():
    at = Duplicates(SQUARE, (HERE[None], torch.zeros(0, 2))).at(torch.stack([HERE, HERE + 1e-12, HERE + 1e-6]))
    assert at.tolist() == [[True, False], [True, False], [False, False]]
    # on a lattice what is measured is the nearest point
    lattice = GRID.snap(HERE[None])
    assert Duplicates(GRID, (lattice,)).at(torch.stack([HERE, HERE + 0.3])).tolist() == [[True], [False]]


def test_the_size_of_a_space():
    assert size(GRID) == 16
    assert size(Space({"n": Integer(1, 10**12), "kind": Choice(["a", "b", "c"])})) == 3 * 10**12
    assert size(Space({"n": Integer(1, 5), "x": Real(0, 1)})) is None


def test_a_space_is_gone_through_where_it_is_small_or_nearly_exhausted():
    nothing, wide = torch.zeros(0, 1), Space({"n": Integer(0, LATTICE)})
    assert Duplicates(wide, (nothing,)).lattice() is None
    many = Duplicates(wide, (nothing, torch.rand(LATTICE // 2 + 1, 1))).lattice()
    assert many is not None
    assert len(many) == LATTICE + 1
    assert Duplicates(SQUARE, (HERE[None],)).lattice() is None


def test_what_is_settled_gives_way_to_the_next_best():
    """The same task at the best point beside it, or the other task at the same point if that is worth more."""
    torch.testing.assert_close(choose(stubborn(SQUARE), BOTH).u, HERE)
    beside = choose(stubborn(SQUARE), BOTH, duplicates=Duplicates(SQUARE, (HERE[None], HERE[None])))
    assert beside.task == 0
    assert 1e-9 < (beside.u - HERE).norm() < 0.2
    here = GRID.snap(HERE)
    other = choose(stubborn(GRID), BOTH, duplicates=Duplicates(GRID, (here[None], torch.zeros(0, 2))))
    assert other.task == 1
    torch.testing.assert_close(other.u, here)


def test_of_a_lattice_the_very_last_point_is_found():
    points = GRID.combinations(16)
    assert points is not None
    for index in (0, 7, 15):
        duplicates = Duplicates(GRID, (points, all_but(index)))
        found = choose(stubborn(GRID), BOTH, duplicates=duplicates)
        assert found.task == 1
        torch.testing.assert_close(found.u, points[index])


def test_of_what_a_task_is_allowed_the_best_is_taken_that_has_the_most_margin():
    """To the first all is allowed, also what is inside; to the second only what is outside, and of that the nearest."""
    line = torch.linspace(0, 1, 101)[:, None]
    allowed = torch.cat([torch.ones_like(line), (line > 0.595)], -1).bool()
    best = best_of(lambda X: X.expand(-1, 2), line, allowed, lambda X: 0.505 - X[:, 0])
    torch.testing.assert_close(best.x[:, 0], torch.tensor([0.5, 0.62]))
    torch.testing.assert_close(best.value, best.x[:, 0])


@pytest.mark.parametrize("nothing", [-torch.inf, torch.nan])
def test_what_is_allowed_is_taken_even_if_it_is_worth_nothing(nothing: float):
    line = torch.linspace(0, 1, 11)[:, None]
    best = best_of(lambda X: torch.full_like(X, nothing), line, line > 0.95)
    assert best.x.item() == 1.0


def test_doubt_checks_what_is_not_settled():
    belief = grid()
    points = GRID.combinations(16)
    assert points is not None
    duplicates = Duplicates(GRID, (points, all_but(5)))
    task, u = fallback(belief, GRID, BOTH, CONFIDENCE, 0, None, duplicates)
    assert task == 1
    torch.testing.assert_close(u, points[5])


def test_a_draw_is_not_settled():
    belief = grid()
    points = GRID.combinations(16)
    assert points is not None
    a = analyze(QUICK, context(belief, GRID))
    for index in range(0, 16, 3):
        duplicates = Duplicates(GRID, (points, all_but(index)))
        generator = torch.Generator().manual_seed(index)
        found = draw(a, BOTH, worth_at_optima(a, BOTH), points, generator, None, duplicates)
        assert found.task == 1
        torch.testing.assert_close(found.u, points[index])


def test_a_gain_below_zero_is_reported_as_none_and_kept_as_it_was():
    belief = make_belief(rows=2)
    space = context(belief)
    negative = Analysis(space, QUICK, PointPreference(belief, HERE, torch.tensor([-0.3, -0.3])), True)
    found = choose(negative, BOTH, 1e-9)
    assert found.gain == 0.0
    assert (found.per_task < 0).all()
    unknown = Analysis(space, QUICK, PointPreference(belief, HERE, torch.tensor([torch.nan, torch.nan])), True)
    assert choose(unknown, BOTH).gain == 0.0
