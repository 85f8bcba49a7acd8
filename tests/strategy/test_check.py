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
from pesky.strategy.check import CheckModel, fallback, least_known
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


ELSEWHERE = torch.tensor([0.3, 0.6])


def elsewhere() -> torch.Tensor:
    return ELSEWHERE


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


def test_the_unchecked_constraint_is_measured_at_the_recommendation():
    belief = sure_belief()
    task, u, _ = fallback(context(belief), BOTH, elsewhere)
    assert task == 1
    torch.testing.assert_close(u, advised(belief))


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


def test_while_that_is_being_measured_the_question_is_another():
    belief = sure_belief()
    _, first, _ = fallback(context(belief), BOTH, elsewhere)
    task, second, _ = fallback(context(belief, Pending(first[None], torch.tensor([[False, True]]))), BOTH, elsewhere)
    assert task == 1
    torch.testing.assert_close(first, advised(belief))
    torch.testing.assert_close(second, ELSEWHERE)


def test_a_yes_or_no_does_not_keep_the_recommendation_unchecked():
    """The constraint's latent function is uncertain there, as it always is; the objective is known."""
    belief = replace(sure_belief(), kinds=("gaussian", "probit"))
    task, u, _ = fallback(context(belief), BOTH, elsewhere)
    assert task == 0
    torch.testing.assert_close(u, ELSEWHERE)


def test_what_is_least_known_is_far_from_all_that_was_and_is_being_measured():
    belief = replace(sure_belief(), mask=torch.ones(2, 36, dtype=torch.bool) & (sure_belief().X[..., 0] > 0.3))
    first = least_known(context(belief), BOTH)
    assert first[0] < 0.05
    second = least_known(context(belief, Pending(first[None], torch.tensor([[True, True]]))), BOTH)
    assert (first - second).abs().max() >= 0.1
    assert second[0] < 0.2


def test_once_the_recommendation_is_checked_the_question_is_where_to_improve_on_it():
    """Not where most is unknown: the constraint surely fails beyond x = 0.5, of which little is known."""
    grid = torch.cartesian_prod(torch.linspace(0, 0.5, 6), torch.linspace(0, 1, 6))
    X, mask = torch.stack([grid, grid]), torch.ones(2, 36, dtype=torch.bool)
    y = torch.stack([(grid - torch.tensor([0.2, 0.0])).square().sum(-1), 5 - 20 * grid[:, 0]])
    h = Hyperparameters(
        torch.tensor([[1.0, 1.0], [2.0, 2.0]]), torch.tensor([1.0, 100.0]), torch.full((2,), 1e-8), torch.zeros(2)
    )
    belief = GaussianProcess("matern52", X, y, mask, h)
    rules = [rule_of(name) for name in ("pesc", "eic")]
    at = [replace(context(belief), asked=5) for _ in rules]
    values = [TaskValues(each, rule, rule.acquisition(each), BOTH) for each, rule in zip(at, rules, strict=True)]
    sure = values[0]._replace(acquisition=Nothing(belief, values[0].acquisition.search_centers))
    (asked, better), known = (asked_by(each).u for each in (sure, values[1])), advised(belief)
    assert (better - known).norm() > 0.01
    assert better[0] < 0.3
    torch.testing.assert_close(asked, better, atol=0.02, rtol=0)
    sure.acquisition.is_coarse = True
    assert asked_by(sure).u[0] > 0.9


def test_without_noise_every_other_question_gains_digits_of_the_recommendation():
    """There it is known to a ten-thousandth; with noise, that is all there is to know."""
    corner = 0.05 * torch.cartesian_prod(*[torch.linspace(0, 1, 3)] * 2)
    X, y = torch.stack([corner, corner]), torch.stack([(corner - 0.033).square().sum(-1), torch.ones(9)])
    mask, length = torch.ones(2, 9, dtype=torch.bool), torch.full((2, 2), 1.0)

    def gone_to(noise: float, asked: int, is_fine: bool = True) -> float:
        """How far from the recommendation."""
        h = Hyperparameters(length, torch.ones(2), torch.full((2,), noise), torch.zeros(2))
        belief = GaussianProcess("matern52", X, y, mask, h)
        _, u, _ = fallback(replace(context(belief), asked=asked), BOTH, elsewhere, is_fine=is_fine)
        return float((u - advised(belief)).norm())

    assert gone_to(1e-10, asked=4) < 1e-6
    assert gone_to(1e-10, asked=5) > 0.1
    assert gone_to(1e-8, asked=4) > 0.1
    assert gone_to(1e-10, asked=4, is_fine=False) > 0.1


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
