"""What is answered already is not asked: the best of the others is."""

import torch
from small_beliefs import make_belief

from pesky import Integer, Real
from pesky.acquire.base import Context, PointPreference
from pesky.acquire.registry import rule_of
from pesky.model import GaussianProcess
from pesky.space import Space
from pesky.strategy.masks import LATTICE, Duplicates, Masks
from pesky.strategy.select import select
from pesky.strategy.task_values import TaskOptions, TaskValues, fixed_prices

SQUARE = Space({"x": Real(0, 1), "y": Real(0, 1)})
GRID = Space({"x": Integer(0, 3), "y": Integer(0, 3)})
HERE = torch.tensor([0.3, 0.6])
CONFIDENCE = torch.full((1,), 0.95)
BOTH = TaskOptions(torch.eye(2), (None, None), fixed_prices(torch.ones(2)))


def context(belief: GaussianProcess, space: Space = SQUARE) -> Context:
    return Context(belief, space, CONFIDENCE, torch.Generator().manual_seed(0))


def stubborn(space: Space) -> TaskValues:
    """Wants the first task at a point, and nowhere else as much."""
    belief = make_belief(rows=2)
    preference = PointPreference(belief, HERE, torch.tensor([1.0, 0.99]))
    return TaskValues(context(belief, space), rule_of("random"), preference, BOTH)


def all_but(index: int) -> torch.Tensor:
    points = GRID.combinations(16)
    assert points is not None
    return torch.cat([points[:index], points[index + 1 :]])


def test_each_task_is_a_duplicate_where_it_was_measured_up_to_rounding():
    at = Duplicates(SQUARE, (HERE[None], torch.zeros(0, 2))).at(torch.stack([HERE, HERE + 1e-12, HERE + 1e-6]))
    assert at.tolist() == [[True, False], [True, False], [False, False]]
    # on a lattice what is measured is the nearest point
    lattice = GRID.snap(HERE[None])
    assert Duplicates(GRID, (lattice,)).at(torch.stack([HERE, HERE + 0.3])).tolist() == [[True], [False]]


def test_a_space_is_gone_through_where_it_is_small_or_nearly_exhausted():
    nothing, wide = torch.zeros(0, 1), Space({"n": Integer(0, LATTICE)})
    assert Duplicates(wide, (nothing,)).lattice() is None
    many = Duplicates(wide, (nothing, torch.rand(LATTICE // 2 + 1, 1))).lattice()
    assert many is not None
    assert len(many) == LATTICE + 1
    assert Duplicates(SQUARE, (HERE[None],)).lattice() is None


def test_a_duplicate_gives_way_to_the_next_best():
    """The same task at the best point beside it, or the other task at the same point if that is worth more."""
    torch.testing.assert_close(select(stubborn(SQUARE)).u, HERE)
    beside = select(stubborn(SQUARE), Masks(duplicates=Duplicates(SQUARE, (HERE[None], HERE[None]))))
    assert beside.task == 0
    assert 1e-9 < (beside.u - HERE).norm() < 0.2
    here = GRID.snap(HERE)
    other = select(stubborn(GRID), Masks(duplicates=Duplicates(GRID, (here[None], torch.zeros(0, 2)))))
    assert other.task == 1
    torch.testing.assert_close(other.u, here)


def test_of_a_lattice_the_very_last_point_is_found():
    points = GRID.combinations(16)
    assert points is not None
    for index in (0, 7, 15):
        duplicates = Duplicates(GRID, (points, all_but(index)))
        found = select(stubborn(GRID), Masks(duplicates=duplicates))
        assert found.task == 1
        torch.testing.assert_close(found.u, points[index])
