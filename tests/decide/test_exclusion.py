"""Places that were asked in vain are left alone, while nothing feasible is known."""

import torch
from small_beliefs import make_belief

from pesky import Real
from pesky.acquire.base import Context, PointPreference
from pesky.acquire.registry import rule_of
from pesky.decide import TaskOptions, choose, excluded_regions, fixed_prices
from pesky.decide.exclusion import ExcludedRegions
from pesky.decide.select import Analysis
from pesky.space import Space

CONFIDENCE = torch.full((1,), 0.95)
HERE = torch.tensor([0.3, 0.6])
THRICE = HERE + torch.tensor([[0.0, 0.0], [0.005, -0.005], [-0.004, 0.002], [0.5, 0.3]])


def test_a_place_is_worn_out_by_the_third_question_if_nothing_is_feasible():
    hopeless = make_belief(rows=2, offsets=(-6.0,))
    excluded = excluded_regions(hopeless, CONFIDENCE, THRICE)
    assert excluded is not None
    assert excluded.is_excluded.tolist() == [True, True, True, False]
    assert excluded_regions(hopeless, CONFIDENCE, THRICE[1:]) is None
    assert excluded_regions(make_belief(rows=2, offsets=(6.0,)), CONFIDENCE, THRICE) is None
    assert excluded_regions(make_belief(rows=1), CONFIDENCE[:0], THRICE) is None


def test_questions_keep_away_from_worn_out_places():
    belief = make_belief(rows=2, offsets=(-6.0,))
    space = Space({"x": Real(0, 1), "y": Real(0, 1)})
    context = Context(belief, space, CONFIDENCE, torch.Generator().manual_seed(0))
    stubborn = Analysis(context, rule_of("random"), PointPreference(belief, HERE, torch.ones(2)), True)
    task_options = TaskOptions(torch.ones(1, 2), (None,), fixed_prices(torch.ones(1)))
    torch.testing.assert_close(choose(stubborn, task_options).u, HERE)
    moved = choose(stubborn, task_options, excluded=ExcludedRegions(THRICE[:3], torch.ones(3, dtype=torch.bool))).u
    assert (moved - THRICE[:3]).abs().amax(-1).min() >= 0.02
    assert (moved - HERE).abs().max() < 0.1
