"""Rows that decide nothing: they are left out, and what is left says the same."""

from dataclasses import replace

import pytest
import torch
from contexts import context
from small_beliefs import make_belief

from pesky.acquire.grouped.active import active_rows
from pesky.acquire.grouped.gain import GroupedGain
from pesky.acquire.registry import rule_of
from pesky.data.pending import Pending
from pesky.likelihood import Conditions
from pesky.model.limited import with_conditions

CELLS = torch.linspace(0, 1, 30)[:, None]
X = torch.linspace(0, 1, 9)[:, None]


def belief(*offsets: float, **given):
    return make_belief(rows=1 + len(offsets), n=6, d=1, offsets=offsets, lengthscale=0.2, **given)


def test_a_constraint_that_holds_at_all_cells_is_left_out():
    found = active_rows(belief(0.3, 40.0, -40.0), CELLS)
    assert found.which.tolist() == [0, 1, 3]
    assert active_rows(belief(40.0), CELLS).which.tolist() == [0]


def test_its_gain_is_zero_and_those_of_the_others_are_the_same_as_without_it():
    whole = belief(0.3, 40.0)
    some = whole.select_rows(torch.tensor([0, 1]))
    values = [rule_of("rs", cells=41, samples=4000).acquisition(context(each))(X) for each in (whole, some)]
    assert (values[0][:, 2] == 0).all()
    # their seeds are others, since there are more of them
    assert (values[0][:, :2] - values[1]).abs().max() < 0.05
    near = rule_of("rs", cells=41, samples=4000).acquisition(context(belief(0.3, 3.0)))
    assert isinstance(near, GroupedGain)
    assert near.samples.coordinates.shape[-3] == 3


def test_left_in_it_would_have_told_nothing(monkeypatch):
    def gain():
        return rule_of("rs", cells=41, samples=4000).acquisition(context(belief(0.3, 40.0)))(X)

    left_out = gain()
    monkeypatch.setattr("pesky.acquire.grouped.active.DEVIATIONS", 1e3)
    left_in = gain()
    torch.testing.assert_close(left_in[:, :2], left_out[:, :2])  # the same samples of the other rows
    assert left_in[:, 2].abs().max() < 5e-3


def test_a_pending_row_that_is_left_out_changes_nothing_for_the_others():
    whole, at = belief(0.3, 40.0), torch.tensor([[0.4]])
    pending = [Pending(at, torch.tensor([[True, True, last]])) for last in (True, False)]
    values = [rule_of("rs", cells=41, samples=2000).acquisition(context(whole, each))(X) for each in pending]
    torch.testing.assert_close(*values)


@pytest.mark.parametrize("bound", [60.0, 42.0])
def test_of_several_bounds_each_counts(bound):
    """Row 2 is about 40: far above its lower bound, and below its upper one, or at it."""
    conditions = Conditions((1, 2, 2), (1, 1, -1), torch.tensor([0.0, 0.0, bound]), 3)
    found = active_rows(with_conditions(belief(0.3, 40.0), conditions), CELLS)
    assert found.which.tolist() == ([0, 1] if bound == 60.0 else [0, 1, 2])
    left = found.belief.likelihoods.conditions
    assert left is not None
    assert (left.row, left.rows) == (((1,), 2) if bound == 60.0 else ((1, 2, 2), 3))


def test_what_one_hyperparameter_sample_needs_all_have_and_no_study_has_what_it_does_not_need():
    near, far = belief(0.3, 1.0), belief(0.3, 40.0)
    h = type(near.hyperparameters)(
        *(torch.stack(pair) for pair in zip(near.hyperparameters, far.hyperparameters, strict=True))
    )
    both = replace(near, y=torch.stack([near.y, far.y]), hyperparameters=h)
    cells = CELLS.expand(2, *CELLS.shape)
    assert active_rows(both, cells).is_own[..., 0].tolist() == [[True] * 3] * 2
    lockstep = replace(both, X=near.X.expand(2, -1, -1, -1), mask=near.mask.expand(2, -1, -1))
    found = active_rows(lockstep, cells)
    assert found.is_own[..., 0].tolist() == [[True] * 3, [True, True, False]]
    assert (found.gains_of_all(torch.ones(2, 3, 4))[1, 2] == 0).all()


def test_the_belief_of_some_rows_is_that_of_all_at_these():
    whole = belief(0.3, 1.0)
    some, index = whole.select_rows(torch.tensor([0, 2])), [0, 2]
    torch.testing.assert_close(some.mean(X), whole.mean(X)[index])
    torch.testing.assert_close(some.covariance(X, X), whole.covariance(X, X)[index])
    torch.testing.assert_close(some.variance(X), whole.variance(X)[index])
    assert torch.equal(some.points, whole.points)
    assert len(some.likelihoods) == 2
