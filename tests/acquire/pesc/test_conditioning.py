"""Where the factors of each x* sample are."""

import pytest
import torch
from small_beliefs import make_belief
from torch import Tensor

from pesky.acquire.fantasy import Fantasies
from pesky.acquire.pesc import conditioning
from pesky.acquire.pesc.conditioning import factor_points, neighbors, relevant_points, smallest_lengthscale
from pesky.acquire.pesc.gain import InformationGain, information_gain
from pesky.data.pending import Pending
from pesky.infer import ep
from pesky.model import GaussianProcess
from pesky.optimum import Optima, Representatives, sample_optima


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def grid(n: int = 12) -> Tensor:
    return torch.rand(n, 2, generator=torch.Generator().manual_seed(123))


def at_points(belief: GaussianProcess, x: Tensor, reach: float) -> InformationGain:
    """The gain from given x*, whatever the belief thinks of them."""
    chosen = Representatives(x, torch.full((len(x),), 1 / len(x)), torch.arange(len(x)))
    return information_gain(belief, Optima(chosen, belief.paths(len(x), seeded()), 0.0), reach, seeded())


@pytest.mark.parametrize("rows", [1, 3])
def test_pruning_changes_gains_by_less_than_the_tolerance(rows, monkeypatch):
    belief = make_belief(rows=rows, n=40, seed=6, lengthscale=0.2)
    x = sample_optima(belief, 6, 60, 64, 4, torch.Generator().manual_seed(0)).chosen.x
    pruned = at_points(belief, x, reach=0.2)
    monkeypatch.setattr(conditioning, "RELEVANT", 0.0)
    whole = at_points(belief, x, reach=0.2)
    assert whole.conditioning.knowledge.weight.shape[-1] > pruned.conditioning.knowledge.weight.shape[-1]
    changed = (whole(grid()) - pruned(grid())).abs()
    assert changed.median() < 1e-4
    # It was a hundredth of it at most, over thirty sets of x*.
    assert changed.max() < 0.02 * whole(grid()).max()


def test_relevant_points_are_those_whose_factor_moves_something_the_most_relevant_first():
    belief = make_belief(rows=3, n=20, seed=7, lengthscale=0.4, offsets=(1.5, 1.5))
    likely = int(belief.mean(belief.points)[1:].amin(0).argmax())  # a measured point that is surely feasible
    x = torch.tensor([[0.3, 0.3], [0.8, 0.6], belief.points[likely].tolist()])
    candidates = factor_points(belief, x, None, None, None)
    points = candidates.all
    seen = Fantasies(belief).evaluator(points)(points)
    which, active = relevant_points(candidates, seen, smallest_lengthscale(belief))
    mean, covariance = belief.mean(points), belief.covariance(points, points)
    for m in range(3):
        spread = covariance[0].diagonal() + covariance[0, 20 + m, 20 + m] - 2 * covariance[0, :, 20 + m]
        a0 = (mean[0] - mean[0, 20 + m]) / spread.clamp(min=1e-300).sqrt()
        a = torch.cat([a0[None], mean[1:] / covariance.diagonal(dim1=-2, dim2=-1)[1:].sqrt()])[:, :20]
        score = torch.nan_to_num(ep.relevance(a))
        if m == 2:
            assert score[likely] > conditioning.RELEVANT
            score[likely] = 0.0  # x* itself says nothing of itself
        expected = [i for i in score.argsort(descending=True).tolist() if score[i] >= conditioning.RELEVANT]
        assert which[m, :-1][active[m]].tolist() == expected
        assert which[m, -1] == 20 + m
    assert 0 < active.sum() < active.numel()


def test_pending_points_may_not_be_better_than_the_minimum_either():
    none = torch.zeros(2, 6, dtype=torch.bool)
    none[:, 0] = True
    belief = make_belief(mask=none, offsets=(1.0,))
    pending = Pending(torch.tensor([[0.9, 0.1], [0.1, 0.9]]), torch.tensor([[True, False], [True, False]]))
    x = torch.tensor([[0.5, 0.5], [0.2, 0.7]])
    points = factor_points(belief, x, pending, None, None)
    optima = Optima(Representatives(x, torch.full((2,), 0.5), torch.arange(2)), belief.paths(2, seeded()), 0.0)
    which = information_gain(belief, optima, None, seeded(), pending).conditioning.factors.which
    assert torch.equal(points.shared[-2:], pending.X)
    assert set(which[:, :-1].flatten().tolist()) & {1, 2}


def test_neighbors_lie_one_reach_along_each_axis_reflected_at_the_faces():
    x = torch.tensor([[0.5, 0.05], [1.0, 0.4]])
    moved = neighbors(x, torch.tensor([0.1, 0.2]), None)
    expected = [
        [[0.6, 0.05], [0.5, 0.25], [0.4, 0.05], [0.5, 0.15]],
        [[0.9, 0.4], [1.0, 0.6], [0.9, 0.4], [1.0, 0.2]],
    ]
    torch.testing.assert_close(moved, torch.tensor(expected))
    assert (neighbors(x, torch.tensor([5.0, 5.0]), None) <= 1).all()
    rounded = neighbors(x, torch.tensor([0.1, 0.2]), lambda u: (4 * u).round() / 4)
    torch.testing.assert_close(rounded, (4 * moved).round() / 4)
