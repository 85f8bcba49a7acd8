"""A question in a millisecond: a sample of x* that was not asked yet."""

from dataclasses import replace

import torch
from small_beliefs import make_belief

from pesky import Integer, Real
from pesky.acquire import EntropySearchByEP
from pesky.acquire.base import Context
from pesky.model import GaussianProcess
from pesky.optimum.assessment import assess
from pesky.space import Space
from pesky.strategy.masks import Duplicates, Masks
from pesky.strategy.select import Decision
from pesky.strategy.task_values import TaskOptions, TaskValues, fixed_prices
from pesky.strategy.thompson import select_optimum, values_at_optima

QUICK = EntropySearchByEP(samples=8, draws=40, local_reach=0.2, polish_steps=3, candidates=64, fine_from=0, coarse=None)
SQUARE = Space({"x": Real(0, 1), "y": Real(0, 1)})
GRID = Space({"x": Integer(0, 3), "y": Integer(0, 3)})
NONE = torch.zeros(0, 2)


def values_of(belief: GaussianProcess, task_options: TaskOptions, space: Space = SQUARE) -> TaskValues:
    confidence = torch.full((belief.amplitude.shape[-1] - 1,), 0.95)
    context = Context(belief, space, confidence, torch.Generator().manual_seed(0))
    return TaskValues(context, QUICK, QUICK.acquisition(context), task_options)


def draw(values: TaskValues, asked: torch.Tensor, seed: int, restrictions: Masks | None = None) -> Decision:
    generator = torch.Generator().manual_seed(seed)
    return select_optimum(values, values_at_optima(values), asked, generator, restrictions or Masks())


def test_it_is_an_x_star_that_was_not_asked_and_the_task_of_most_gain_per_cost_there():
    belief = replace(make_belief(rows=3, seed=1), kinds=("gaussian", "gaussian", "probit"))
    costs = torch.tensor([5.0, 1.0, 1.0])
    values = values_of(belief, TaskOptions(torch.eye(3), (None,) * 3, fixed_prices(costs)))
    assert values.acquisition.optima is not None
    optima, asked = values.acquisition.optima.chosen.x, NONE
    for i in range(len(optima)):
        found = draw(values, asked, i)
        assert torch.cdist(found.u[None], optima).min() < 1e-12
        assert not len(asked) or torch.cdist(found.u[None], asked).min() > 1e-3
        assert found.task == (values.acquisition(found.u[None])[0] / costs).argmax()
        asked = torch.cat([asked, found.u[None]])
    beyond = draw(values, asked, 99)
    assert 0 < torch.cdist(beyond.u[None], asked).min() < 0.5


def test_it_is_where_the_constraints_probably_hold_if_any_sample_is():
    together = TaskOptions(torch.ones(1, 3), (None,), fixed_prices(torch.ones(1)))
    for seed in range(3):
        belief = replace(make_belief(rows=3, seed=seed, offsets=(2.0, 4.0)), kinds=("gaussian", "gaussian", "probit"))
        values = values_of(belief, together)
        assert values.acquisition.optima is not None
        confidence = values.context.confidence
        likely = assess(belief, values.acquisition.optima.chosen.x, confidence).log_probability.sum(0).exp()
        for least in (0.5, 0.9):
            u = draw(values, NONE, 0, Masks(least)).u
            if (likely >= least).any():
                assert assess(belief, u[None], confidence).log_probability.sum().exp() >= least


def test_it_is_no_duplicate():
    base, points = make_belief(rows=2), GRID.combinations(16)
    assert points is not None
    belief = GaussianProcess(base.kernel, GRID.snap(base.X), base.y, base.mask, base.hyperparameters, GRID.snap)
    values = values_of(belief, TaskOptions(torch.eye(2), (None, None), fixed_prices(torch.ones(2))), GRID)
    for index in range(0, 16, 3):
        all_but = torch.cat([points[:index], points[index + 1 :]])
        found = draw(values, points, index, Masks(duplicates=Duplicates(GRID, (points, all_but))))
        assert found.task == 1
        torch.testing.assert_close(found.u, points[index])
