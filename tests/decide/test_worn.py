"""Places that were asked in vain are left alone, while nothing feasible is known."""

import torch
from made import make_belief

from pesky import Real
from pesky.acquire.names import rule_of
from pesky.acquire.rule import Named, Scene
from pesky.decide import Menu, choose, fixed_prices, worn_out
from pesky.decide.choose import Analysis
from pesky.decide.worn import Worn
from pesky.space import Space

CONFIDENCE = torch.full((1,), 0.95)
HERE = torch.tensor([0.3, 0.6])
THRICE = HERE + torch.tensor([[0.0, 0.0], [0.005, -0.005], [-0.004, 0.002], [0.5, 0.3]])


def test_a_place_is_worn_out_by_the_third_question_if_nothing_is_feasible():
    hopeless = make_belief(rows=2, offsets=(-6.0,))
    worn = worn_out(hopeless, CONFIDENCE, THRICE)
    assert worn is not None
    assert worn.is_worn.tolist() == [True, True, True, False]
    assert worn_out(hopeless, CONFIDENCE, THRICE[1:]) is None
    assert worn_out(make_belief(rows=2, offsets=(6.0,)), CONFIDENCE, THRICE) is None
    assert worn_out(make_belief(rows=1), CONFIDENCE[:0], THRICE) is None


def test_questions_keep_away_from_worn_out_places():
    belief = make_belief(rows=2, offsets=(-6.0,))
    space = Space({"x": Real(0, 1), "y": Real(0, 1)})
    scene = Scene(belief, space, CONFIDENCE, torch.Generator().manual_seed(0))
    stubborn = Analysis(scene, rule_of("random"), Named(belief, HERE, torch.ones(2)), True)
    menu = Menu(torch.ones(1, 2), (None,), fixed_prices(torch.ones(1)))
    torch.testing.assert_close(choose(stubborn, menu).u, HERE)
    moved = choose(stubborn, menu, worn=Worn(THRICE[:3], torch.ones(3, dtype=torch.bool))).u
    assert (moved - THRICE[:3]).abs().amax(-1).min() >= 0.02
    assert (moved - HERE).abs().max() < 0.1
