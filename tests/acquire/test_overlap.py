"""How much of a question is asked by others: against the belief that has their answers."""

import pytest
import torch
from small_beliefs import make_belief

from pesky.acquire.fantasy import Pending
from pesky.acquire.overlap import overlap
from pesky.model import GaussianProcess

X = torch.tensor([0.4, 0.7])
NEAR = torch.tensor([[0.45, 0.6], [0.8, 0.2]])
BOTH = torch.tensor([True, True])


@pytest.mark.parametrize(("rows", "counted"), [([True, True], [0, 1]), ([True, False], [0]), ([False, True], [1])])
@pytest.mark.parametrize("noise", [1e-6, 0.3])
def test_it_is_what_the_answers_take_from_the_variance(rows, counted, noise):
    belief = make_belief(noise=noise)
    asked = torch.tensor([[True, True], [False, True]])
    told = GaussianProcess(
        belief.kernel,
        torch.cat([belief.X, NEAR.expand(2, 2, 2)], 1),
        torch.cat([belief.y, torch.zeros(2, 2)], 1),
        torch.cat([belief.mask, asked.mT], 1),
        belief.hyperparameters,
    )
    before, after = belief.variance(X[None])[:, 0], told.variance(X[None])[:, 0]
    expected = float((1 - after / before)[counted].max())
    assert overlap(belief, X, torch.tensor(rows), Pending(NEAR, asked)) == pytest.approx(expected, abs=1e-5)
    assert 0 < expected < 1


def test_the_same_question_is_asked_wholly_without_noise_and_hardly_where_noise_is_all():
    same = Pending(X[None], BOTH[None])
    assert overlap(make_belief(noise=1e-9), X, BOTH, same) > 0.999
    assert overlap(make_belief(noise=100.0), X, BOTH, same) < 0.02


def test_answers_of_other_rows_tell_nothing():
    others = Pending(X[None], torch.tensor([[False, True]]))
    assert overlap(make_belief(), X, torch.tensor([True, False]), others) == 0.0


def test_what_was_measured_without_noise_is_explained_by_nobody():
    """Its variance is a rounding error, and so would be any share of it."""
    belief = make_belief(noise=0.0)
    measured = belief.points[0]
    assert overlap(belief, measured, BOTH, Pending(measured[None] + 1e-3, BOTH[None])) < 0.1
