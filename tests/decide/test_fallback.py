"""A model that is sure of a wrong answer is checked where its answer lies."""

from dataclasses import replace

import torch

import pesky
from pesky import Real
from pesky.acquire.fantasy import Pending
from pesky.decide.fallback import fallback
from pesky.decide.tasks import TaskOptions, fixed_prices
from pesky.model import GaussianProcess, Hyperparameters
from pesky.optimum.recommend import recommend
from pesky.space import Space

SPACE = Space({"x": Real(0, 1), "y": Real(0, 1)})
MENU, CONFIDENCE = TaskOptions(torch.eye(2), (None, None), fixed_prices(torch.ones(2))), torch.tensor([0.95])


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
    task, u = fallback(belief, SPACE, MENU, CONFIDENCE, 0)
    assert task == 1
    torch.testing.assert_close(u, recommend(belief, SPACE, CONFIDENCE, 0).u)


def test_while_that_is_being_measured_the_question_is_another():
    belief = sure_belief()
    _, first = fallback(belief, SPACE, MENU, CONFIDENCE, 0)
    task, second = fallback(belief, SPACE, MENU, CONFIDENCE, 0, Pending(first[None], torch.tensor([[False, True]])))
    assert task == 1
    assert (first - second).norm() > 0.1


def test_a_yes_or_no_does_not_keep_the_recommendation_unchecked():
    """The constraint's latent function is uncertain there, as it always is; the objective is known."""
    belief = replace(sure_belief(), kinds=("gaussian", "probit"))
    task, u = fallback(belief, SPACE, MENU, CONFIDENCE, 0)
    assert task == 0
    assert (u - recommend(belief, SPACE, CONFIDENCE, 0).u).norm() > 0.01


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
