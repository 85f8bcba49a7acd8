"""Which of many measured points are looked at: the same ones, however their means are come by."""

import torch
from small_beliefs import make_belief

from pesky.optimum.measured import best_measured, expected_rank, rank_of_some


def test_of_many_points_the_best_are_those_of_the_lowest_rank():
    belief = make_belief(rows=3, n=40, seed=1, offsets=(0.5, 0.5))
    order = expected_rank(belief, belief.points).argsort()
    assert torch.equal(best_measured(belief, 7), belief.points[order[:7]])
    assert best_measured(belief, 40) is belief.points


def test_points_that_were_measured_have_their_rank_in_any_order():
    belief = make_belief(rows=3, n=40, seed=1, offsets=(0.5, 0.5))
    some = belief.points[torch.tensor([31, 2, 2, 17])]
    torch.testing.assert_close(rank_of_some(belief, some), expected_rank(belief, some))


def test_others_among_them_are_ranked_as_well():
    belief = make_belief(rows=3, n=40, seed=1, offsets=(0.5, 0.5))
    some = torch.cat([belief.points[:3], torch.full((1, 2), 0.123)])
    torch.testing.assert_close(rank_of_some(belief, some), expected_rank(belief, some))
