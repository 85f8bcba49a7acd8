"""Studies of more values than what is believed rests on as they are."""

import math
from collections.abc import Mapping

import pytest
import torch

from pesky import GP, Integer, Problem, Real, Study, Task
from pesky.model import surrogate, through
from pesky.optimum import active_set

SQUARE = {"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)}
BEST = {"x": 0.4, "y": 0.6}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(through, "EXACT", 60)
    monkeypatch.setattr(active_set, "KEPT", 40)
    monkeypatch.setattr(surrogate, "BRIEFLY", 60)
    monkeypatch.setattr(surrogate, "MOST", 60)


def objective(params: Mapping) -> float:
    return (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2


def told(problem: Problem, measure, count: int, seed: int = 0, **options) -> Study:
    """A study that was told so many evaluations all over the space."""
    study, generator = Study(problem, seed=seed, **options), torch.Generator().manual_seed(1)
    for number in range(count):
        U = torch.rand(len(problem.parameters), generator=generator, dtype=torch.float64)
        params = study.space.decode(study.space.snap(U))
        study.add(params, measure(number, params, torch.randn(2, generator=generator).tolist()))
    return study


def noisy(_: int, params: Mapping, noise: list[float]) -> dict[str, float]:
    return {"f": objective(params) + 0.01 * noise[0], "c": params["x"] - 0.4 + 0.01 * noise[1]}


def apart(number: int, params: Mapping, noise: list[float]) -> dict[str, float]:
    """Three values of the objective for one of the constraint."""
    name = "f" if number % 4 else "c"
    return {name: noisy(number, params, noise)[name]}


COUPLED = Problem(SQUARE, minimize="f", constraints=["c >= 0"])
APART = Problem(SQUARE, minimize="f", constraints=["c >= 0"], tasks={"f": Task(["f"]), "c": Task(["c"])})
BAND = Problem(SQUARE, minimize="f", constraints=["c >= 0", "c <= 0.1"])
MIXED = Problem({"x": Real(0.0, 1.0), "y": Real(0.0, 1.0), "n": Integer(1, 4)}, minimize="f", constraints=["c >= 0"])
WARPED = Problem(SQUARE, minimize="f", constraints=["c >= 0"], noise={"c": 0.01})


def steep(number: int, params: Mapping, noise: list[float]) -> dict[str, float]:
    return {**noisy(number, params, noise), "f": math.exp(9 * objective(params) + 0.05 * noise[0])}


@pytest.mark.parametrize(
    ("problem", "measure"),
    [(COUPLED, noisy), (APART, apart), (BAND, noisy), (MIXED, noisy), (WARPED, steep)],
    ids=["coupled", "apart", "band", "mixed", "warped"],
)
def test_questions_and_answers_are_near_the_solution(problem: Problem, measure):
    study = told(problem, measure, 120)
    answer = study.recommend()
    assert answer.params["x"] == pytest.approx(BEST["x"], abs=0.06)
    assert answer.params["y"] == pytest.approx(BEST["y"], abs=0.1)
    assert answer.is_confident
    assert study.ask().params["x"] == pytest.approx(BEST["x"], abs=0.15)
    assert study.belief().points.shape[-2] <= 80


def test_what_is_believed_is_nearly_what_all_values_say(monkeypatch: pytest.MonkeyPatch):
    by_some = told(COUPLED, noisy, 120).predict(BEST)
    monkeypatch.setattr(through, "EXACT", 10**9)
    by_all = told(COUPLED, noisy, 120).predict(BEST)
    for name, expected in by_all.outcomes.items():
        assert by_some.outcomes[name].mean == pytest.approx(expected.mean, abs=0.3 * expected.deviation)
        assert by_some.outcomes[name].deviation == pytest.approx(expected.deviation, rel=0.1)


def test_a_study_that_is_loaded_asks_and_answers_as_the_one_that_ran():
    ran = told(COUPLED, noisy, 100)
    ran.belief()
    for params in ({"x": 0.41, "y": 0.61}, {"x": 0.39, "y": 0.58}):
        ran.add(params, noisy(0, params, [0.0, 0.0]))
        ran.belief()
    loaded = Study(COUPLED, seed=0)
    for e in ran.evaluations.values():
        loaded.add(e.params, e.outcomes)
    assert loaded.recommend() == ran.recommend()
    assert loaded.ask().params == ran.ask().params


def test_the_best_point_that_was_measured_without_noise_is_the_answer_although_nothing_rests_on_it(
    monkeypatch: pytest.MonkeyPatch,
):
    def exact(_: int, params: Mapping, __: list[float]) -> dict[str, float]:
        return {"f": math.sin(30 * params["x"]) + math.cos(25 * params["y"]), "c": params["x"] - 0.1}

    problem = Problem(SQUARE, minimize="f", constraints=["c >= 0"], noise=0.0)
    study = told(problem, exact, 120)
    best = study.best()
    assert best is not None
    usual = active_set._with_nearest

    def without_it(Z, far, places, count, may_repeat):
        chosen = usual(Z, far, places, count, may_repeat)
        return chosen[chosen != best.evaluations[0]]

    monkeypatch.setattr(active_set, "_with_nearest", without_it)
    again = told(problem, exact, 120)
    belief = again.belief()
    there = again.space.encode(best.params)
    assert (belief.points - there).abs().amax(-1).min() > 1e-6
    found = again.best()
    assert found is not None
    assert found.params == best.params
    assert again.predict(best.params).outcomes["f"].deviation == 0
    assert again.recommend().expected <= best.expected + 1e-9


def test_the_best_measured_point_is_among_those_that_it_rests_on():
    study = told(COUPLED, noisy, 120)
    best = study.best()
    assert best is not None
    belief = study.belief()
    assert (belief.points - study.space.encode(best.params)).abs().amax(-1).min() < 1e-9


def test_yes_and_no_rest_on_some_of_the_answers():
    def answered(number: int, params: Mapping, noise: list[float]) -> dict[str, float]:
        found = noisy(number, params, noise)
        return {"f": found["f"], "ok": float(found["c"] >= 0)}

    problem = Problem(SQUARE, minimize="f", constraints=["ok is true"])
    study = told(problem, answered, 90)
    assert study.recommend().params["x"] == pytest.approx(0.45, abs=0.15)


def test_samples_of_hyperparameters_share_the_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(surrogate, "FIRST_SWEEPS", 5)
    study = told(COUPLED, noisy, 70, model=GP(hyperparameters="slice", samples=2))
    assert study.recommend().params["x"] == pytest.approx(BEST["x"], abs=0.1)
