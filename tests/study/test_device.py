"""A study on an accelerator: nothing that it computes meets what is elsewhere, and what it says is the same."""

import math
import re

import pytest
from pretended_device import THERE, PretendedDevice

import pesky

UNIT = pesky.Real(0.0, 1.0)
PLANE = {"x": UNIT, "y": UNIT}


def outcomes(params):
    x, y = params["x"], params["y"]
    return {
        "f": x + y,
        "c": x + 2 * y + 0.5 * math.sin(2 * math.pi * (x * x - 2 * y)) - 1.5,
        "t": x - y,
        "ok": x > 0.1,
    }


def measured(problem, count, **settings):
    """A study that was told the outcomes of so many questions."""
    study = pesky.Study(problem, **settings)
    for _ in range(count):
        asked = study.ask()
        told = outcomes(asked.params)
        study.tell(asked, {name: told[name] for name in problem.tasks[asked.task].outcomes})
    return study


def answers(problem, count, **settings):
    """What a study answers of every kind."""
    study = measured(problem, count, **settings)
    at_once = study.ask(3)
    confirming = study.ask(confirm=True)
    predicted = study.predict(at_once[0].params)
    return study.recommend(), [each.params for each in (*at_once, confirming)], predicted, study.explain(at_once[0].id)


@pytest.mark.parametrize("rule", ["pesc", "jesc", "eic", {"name": "pesc", "options": "ep"}])
def test_all_is_computed_there(rule):
    problem = pesky.Problem(PLANE, minimize="f", constraints=["c >= 0"])
    with PretendedDevice() as device:
        answers(problem, 5, rule=rule, device=THERE)
    assert device.is_used
    assert not device.mixed


def test_the_answers_are_those_of_the_processor():
    problem = pesky.Problem(PLANE, minimize="f", constraints=["c >= 0"])
    with PretendedDevice():
        there = answers(problem, 6, device=THERE)
    assert there == answers(problem, 6)


@pytest.mark.parametrize(
    ("problem", "settings"),
    [
        (
            pesky.Problem(
                {"x": UNIT, "y": pesky.Integer(0, 1), "z": pesky.Choice(["a", "b"])},
                minimize="f",
                constraints=["ok is true"],
            ),
            {},
        ),
        (pesky.Problem(PLANE, minimize="f", constraints=["t >= -0.2", "t <= 0.2", "x + y <= 1.5"]), {}),
        (pesky.Problem(PLANE, minimize="f", constraints=["c >= 0"], known={"f": lambda params: params["x"]}), {}),
        (
            pesky.Problem(PLANE, minimize="f", constraints=["c >= 0"], tasks={"f": ["f"], "c": ["c"]}),
            {"model": pesky.GP(hyperparameters="slice", samples=2), "min_probability": 0.1},
        ),
    ],
    ids=["mixed and yes/no", "a band", "known", "separate, by slices"],
)
def test_whatever_the_problem(problem, settings):
    with PretendedDevice() as device:
        study = measured(problem, 6, device=THERE, **settings)
        study.recommend()
    assert device.is_used
    assert not device.mixed


def test_failures_costs_and_outliers_are_learnt_there():
    task = pesky.Task(["f", "c"], cost="measured", failures="learn")
    with PretendedDevice() as device:
        study = pesky.Study(
            pesky.Problem(PLANE, minimize="f", constraints=["c >= 0"], tasks={"all": task}), device=THERE
        )
        for i in range(13):
            asked = study.ask()
            told = outcomes(asked.params)
            if float(asked.params["x"]) > 0.9:
                study.fail(asked, "crashed")
            else:
                study.tell(asked, {"f": told["f"] + 40 * (i == 8), "c": told["c"]})
        study.recommend()
        assert study.outliers()
    assert not device.mixed


def test_a_mixture_is_noticed():
    """Or the tests above would show nothing."""
    import torch

    with PretendedDevice() as device:
        there = torch.ones(3).to(THERE)
        _ = there * torch.ones(3).to(there) + torch.zeros(3, device=there.device)
        assert not device.mixed
        _ = there[torch.tensor([0, 2])]
        assert not device.mixed
        _ = there + torch.ones(3)
        _ = torch.ones(3)[torch.tensor([0, 2]).to(there.device)]
    assert len(device.mixed) == 2


@pytest.mark.parametrize("given", ["gpu", "cuda:99", 3.5])
def test_a_device_that_is_not_there_is_said(given):
    with pytest.raises(pesky.ProblemError, match=re.escape(f"device was {given!r}")):
        pesky.Study(pesky.Problem(PLANE, minimize="f"), device=given)
