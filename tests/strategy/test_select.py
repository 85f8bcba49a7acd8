"""Which task and where: gain per cost, points of the space, diagnostics."""

from typing import Any

import torch
from small_beliefs import make_belief

from pesky import Choice, Integer, Real
from pesky.acquire import EntropySearchByEP
from pesky.acquire.base import Context, PointPreference
from pesky.acquire.pesc.rule import PredictiveEntropySearch
from pesky.data.pending import Pending
from pesky.model import GaussianProcess
from pesky.space import Space
from pesky.strategy.masks import Masks
from pesky.strategy.select import best_of_each_task, cloud, select
from pesky.strategy.task_values import TaskOptions, TaskValues, fixed_prices

QUICK = EntropySearchByEP(samples=8, draws=40, local_reach=0.2, polish_steps=3, candidates=64, fine_from=0, coarse=None)
SPACE = Space({"x": Real(0, 1), "y": Real(0, 1)})
EACH = torch.eye(2)


def decide(belief, shares=EACH, costs=(1.0, 1.0), space=SPACE, seed=0, **given) -> Any:
    generator = torch.Generator().manual_seed(seed)
    confidence = torch.full((belief.amplitude.shape[-1] - 1,), 0.95)
    task_options = TaskOptions(shares, (None,) * len(shares), fixed_prices(torch.tensor(costs)))
    context = Context(belief, space, confidence, generator, given.pop("pending", None))
    return select(TaskValues(context, QUICK, QUICK.acquisition(context), task_options), Masks(**given))


def test_the_task_of_most_gain_per_cost_is_chosen():
    belief = make_belief(rows=2, seed=1)
    plain = decide(belief)
    assert plain.task == int(plain.per_task.argmax())
    assert plain.gain == plain.per_task[plain.task]
    for cheap in (0, 1):
        costs = [1000.0, 1000.0]
        costs[cheap] = 1.0
        found = decide(belief, costs=tuple(costs))
        assert found.task == cheap
        # the gain itself is in nats, whatever the price
        torch.testing.assert_close(found.per_task, plain.per_task, rtol=0.05, atol=0.01)


def test_tasks_are_compared_by_estimates_that_did_not_choose_their_points():
    """The largest of many estimates is too large; by other samples of the functions it is not."""
    belief, rule = make_belief(rows=2, seed=1), PredictiveEntropySearch(samples_per_cell=5)
    options = TaskOptions(EACH, (None, None), fixed_prices(torch.ones(2)))
    own, other = [], []
    for seed in range(16):
        context = Context(belief, SPACE, torch.tensor([0.95]), torch.Generator().manual_seed(seed), None)
        values = TaskValues(context, rule, rule.acquisition(context), options)
        best, found = best_of_each_task(values, Masks(), is_quick=False), select(values, Masks())
        by_others = [values.judged_anew().value(best.x).diagonal() for _ in range(10)]
        truth = torch.stack(by_others).mean(0)
        own.append((best.value - truth).sum())
        other.append((found.per_task - truth).sum())
    too_large, error = (of(torch.stack([torch.stack(own), torch.stack(other)]), 1) for of in (torch.mean, torch.std))
    assert too_large[0] > 3 * error[0] / 4
    assert too_large[1].abs() < 2 * error[1] / 4


def test_a_joint_task_gains_the_sum_of_its_rows():
    belief = make_belief(rows=2, seed=2)
    joint, single = decide(belief, torch.ones(1, 2), (1.0,)), decide(belief)
    assert joint.gain >= single.per_task.max() - 0.02
    assert joint.gain <= single.per_task.sum() + 0.02


def test_pending_points_are_not_asked_again():
    belief = make_belief(rows=2, noise=1e-8, seed=3)
    first = decide(belief, torch.ones(1, 2), (1.0,))
    second = decide(
        belief, torch.ones(1, 2), (1.0,), pending=Pending(first.u[None], torch.ones(1, 2, dtype=torch.bool))
    )
    assert (first.u - second.u).norm() > 1e-3


def test_in_a_discrete_space_the_point_is_one_of_its_points():
    space = Space({"n": Integer(1, 5), "kind": Choice(["a", "b"]), "x": Real(0, 1)})
    base = make_belief(rows=2, d=4, seed=4)
    belief = GaussianProcess(base.kernel, space.snap(base.X), base.y, base.mask, base.hyperparameters, space.snap)
    found = decide(belief, space=space)
    torch.testing.assert_close(space.snap(found.u), found.u)


def test_the_same_generator_decides_the_same():
    belief = make_belief(rows=2, seed=5)
    assert torch.equal(decide(belief, seed=3).u, decide(belief, seed=3).u)


def test_it_says_how_long_each_stage_took_and_how_ep_fared():
    found = decide(make_belief(rows=2, seed=6))
    assert set(found.seconds) == {"x*", "ep", "maximize"}
    assert all(seconds >= 0 for seconds in found.seconds.values())
    assert found.acquisition.conditioning.info.converged.double().mean() > 0.9


def test_a_cloud_stays_in_the_cube_around_its_centers():
    belief = make_belief(rows=2, lengthscale=0.1)
    centers = torch.tensor([[0.0, 0.5], [1.0, 1.0]])
    mask = torch.ones(2, dtype=torch.bool)
    points = cloud(centers, mask, belief, 200, torch.Generator().manual_seed(0), SPACE.snap)
    assert ((points >= 0) & (points <= 1)).all()
    near = torch.cdist(points, centers).amin(-1)
    assert near.max() < 0.6
    assert near.min() < 1e-3
    assert near.median() < 0.1


def test_a_cloud_is_around_the_centers_of_its_mask_alone():
    belief = make_belief(rows=2, lengthscale=0.01)
    centers = torch.tensor([[0.1, 0.5], [0.9, 0.9], [0.5, 0.1]])
    mask = torch.tensor([True, False, True])
    points = cloud(centers, mask, belief, 200, torch.Generator().manual_seed(0), SPACE.snap)
    nearest = torch.cdist(points, centers).argmin(-1)
    assert nearest.unique().tolist() == [0, 2]


def test_a_gain_below_zero_is_none():
    belief = make_belief(rows=2)
    task_options = TaskOptions(EACH, (None, None), fixed_prices(torch.ones(2)))

    def worth(gain: float) -> TaskValues:
        context = Context(belief, SPACE, torch.full((1,), 0.95), torch.Generator().manual_seed(0))
        preference = PointPreference(belief, torch.tensor([0.3, 0.6]), torch.tensor([gain, gain]))
        return TaskValues(context, QUICK, preference, task_options)

    found = select(worth(-0.3), Masks(1e-9))
    assert found.gain == 0.0
    assert (found.per_task == 0).all()
    assert select(worth(torch.nan)).gain == 0.0
