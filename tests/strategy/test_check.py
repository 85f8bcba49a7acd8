"""A model that is sure of a wrong answer is checked where its answer lies."""

from dataclasses import replace

import torch
from small_beliefs import make_belief

import pesky
from pesky import Integer, Real
from pesky.acquire.base import AcquisitionFunction, Context
from pesky.acquire.registry import rule_of
from pesky.data.pending import Pending
from pesky.model import GaussianProcess, Hyperparameters
from pesky.optimum.recommend import recommend
from pesky.space import Space
from pesky.strategy.check import CheckModel
from pesky.strategy.masks import Duplicates, Masks
from pesky.strategy.select import Decision, select
from pesky.strategy.task_values import TaskOptions, TaskValues, fixed_prices

SPACE = Space({"x": Real(0, 1), "y": Real(0, 1)})
BOTH, CONFIDENCE = TaskOptions(torch.eye(2), (None, None), fixed_prices(torch.ones(2))), torch.tensor([0.95])


class Nothing(AcquisitionFunction):
    """Nothing is to be learnt anywhere."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return 0.0 * X[..., :2].mT


def context(belief: GaussianProcess, pending: Pending | None = None, space: Space = SPACE) -> Context:
    return Context(belief, space, CONFIDENCE, torch.Generator().manual_seed(0), pending)


def asked_by(values: TaskValues, masks: Masks = Masks()) -> Decision:  # noqa: B008
    """What is asked: the rule's best question, or what checks the model."""
    best, check = select(values, masks), CheckModel()
    return check.checked(best, values, masks)[0] if values.rule.in_nats and bool(check.is_sure(best)) else best


def advised(belief: GaussianProcess) -> torch.Tensor:
    """The recommendation that is checked."""
    return recommend(belief, SPACE, CONFIDENCE, context(belief).draw_seed()).u


def sure_belief() -> GaussianProcess:
    """A well known objective, lowest at the origin, and a constraint that three values make look safe everywhere."""
    grid = torch.cartesian_prod(*[torch.linspace(0, 1, 6)] * 2)
    X = torch.stack([grid, grid])
    y = torch.stack([grid.sum(-1) - 1, torch.full((36,), 20.0)])
    mask = torch.ones(2, 36, dtype=torch.bool)
    mask[1] = grid.amin(-1) > 0.7
    h = Hyperparameters(
        torch.tensor([[1.0, 1.0], [0.3, 0.3]]), torch.ones(2), torch.full((2,), 1e-8), torch.tensor([0.0, 20.0])
    )
    return GaussianProcess("se", X, torch.where(mask, y, 0.0), mask, h)


def sure_of(belief: GaussianProcess, asked: int = 5, pending: Pending | None = None) -> TaskValues:
    """What a rule makes of it that expects to learn nothing."""
    rule, here = rule_of("pesc"), replace(context(belief, pending), asked=asked)
    return TaskValues(here, rule, Nothing(belief, rule.acquisition(here).search_centers), BOTH)


def test_the_constraint_that_three_values_make_look_safe_is_measured_at_the_recommendation():
    belief = sure_belief()
    asked = asked_by(sure_of(belief))
    assert asked.task == 1
    torch.testing.assert_close(asked.u, advised(belief), atol=1e-3, rtol=0)


def test_a_yes_or_no_is_not_what_is_least_known():
    """The constraint's latent function is uncertain, as it always is; the objective is known."""
    assert asked_by(sure_of(replace(sure_belief(), kinds=("gaussian", "probit")))).task == 0


def test_what_is_dear_is_checked_less():
    values = sure_of(sure_belief())
    assert asked_by(values).task == 1
    dear = values.task_options._replace(prices=fixed_prices(torch.tensor([1.0, 1e9])))
    assert asked_by(values._replace(task_options=dear)).task == 0


def test_the_query_is_where_to_improve_on_the_recommendation():
    """Not where most is unknown: the constraint surely fails beyond x = 0.5, of which little is known."""
    grid = torch.cartesian_prod(torch.linspace(0, 0.5, 6), torch.linspace(0, 1, 6))
    X, mask = torch.stack([grid, grid]), torch.ones(2, 36, dtype=torch.bool)
    y = torch.stack([(grid - torch.tensor([0.2, 0.0])).square().sum(-1), 5 - 20 * grid[:, 0]])
    h = Hyperparameters(
        torch.tensor([[1.0, 1.0], [2.0, 2.0]]), torch.tensor([1.0, 100.0]), torch.full((2,), 1e-8), torch.zeros(2)
    )
    belief, rule = GaussianProcess("matern52", X, y, mask, h), rule_of("eic")
    here = replace(context(belief), asked=5)
    better = asked_by(TaskValues(here, rule, rule.acquisition(here), BOTH)).u
    assert (better - advised(belief)).norm() > 0.01
    assert better[0] < 0.3
    for is_coarse in (False, True):
        sure = sure_of(belief)
        sure.acquisition.is_coarse = is_coarse
        torch.testing.assert_close(asked_by(sure).u, better, atol=0.02, rtol=0)


def test_a_coarse_look_that_sees_one_solution_doubts_the_model():
    """Joint samples say 1e-4 nats or so where there is nothing: their own error, and no reason to ask there."""
    belief, rule = sure_belief(), rule_of("pesc")
    third = replace(context(belief), asked=3)
    acquisition = rule.acquisition(third)
    assert acquisition.is_coarse
    best = asked_by(TaskValues(third, rule, acquisition, BOTH))
    assert best.per_task.amax() < 1e-2
    assert best.task == 1
    torch.testing.assert_close(best.u, advised(belief), atol=1e-3, rtol=0)


def test_what_is_checked_is_no_duplicate():
    grid = Space({"x": Integer(0, 3), "y": Integer(0, 3)})
    base, points = make_belief(rows=2), grid.combinations(16)
    assert points is not None
    belief = GaussianProcess(base.kernel, grid.snap(base.X), base.y, base.mask, base.hyperparameters, grid.snap)
    duplicates = Duplicates(grid, (points, torch.cat([points[:5], points[6:]])))
    rule, here = rule_of("pesc"), context(belief, space=grid)
    nothing = Nothing(belief, rule.acquisition(here).search_centers)
    best = asked_by(TaskValues(here, rule, nothing, BOTH), Masks(duplicates=duplicates))
    assert best.task == 1
    torch.testing.assert_close(best.u, points[5])


def test_a_study_misled_by_its_first_values_finds_out():
    """Three equal values far above the threshold, and a cliff where the objective is lowest."""
    problem = pesky.Problem(
        {"x": Real(0, 1), "y": Real(0, 1)}, minimize="f", constraints=["c >= 0"],
        tasks={"f": ["f"], "c": ["c"]}, noise=0.0,
    )  # fmt: skip

    def measure(params: dict) -> dict[str, float]:
        return {"f": params["x"] + params["y"], "c": 5.0 if params["x"] + params["y"] > 0.4 else -5.0}

    study = pesky.Study(problem, seed=1, rule={"name": "pesc", "samples": 10})
    for x, y in ((0.6, 0.6), (0.9, 0.3), (0.4, 0.8)):
        study.add({"x": x, "y": y}, {**measure({"x": x, "y": y}), "c": 5.0 + 0.01 * x})
    told = []
    for _ in range(25):
        evaluation = study.ask()
        outcome = evaluation.task
        value = measure(dict(evaluation.params))[outcome]
        study.tell(evaluation, {outcome: value})
        told.append((outcome, value))
        if outcome == "c" and value < 0:
            break
    assert told[-1] == ("c", -5.0)
