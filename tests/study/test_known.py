"""Studies with known outcomes: they measure the rest, and every decision knows what is known."""

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP
from study.quick import QUICK

from pesky import GP, DataError, Evaluation, FixedHyperparameters, Integer, Problem, ProblemError, Real, Study, Task
from pesky.test_functions import toy

SQUARE = {"x1": Real(0, 1), "x2": Real(0, 1)}
TOY = ["c1 >= 0", "c2 >= 0"]


def total(p: Any) -> float:
    return p["x1"] + p["x2"]


def c1(p: Any) -> float:
    return 0.5 * np.sin(2 * math.pi * (p["x1"] ** 2 - 2 * p["x2"])) + p["x1"] + 2 * p["x2"] - 1.5


def c2(p: Any) -> float:
    return 1.5 - p["x1"] ** 2 - p["x2"] ** 2


TRUTH: dict[str, Callable[[Any], float]] = {"f": total, "g": lambda p: -total(p), "c1": c1, "c2": c2}


def test_a_benchmark_measures_what_is_not_known():
    b = toy()
    known = replace(b.problem, tasks={"all": ["c1", "c2"]}, noise=0.0, known={"f": total})
    measured = replace(b, problem=known).evaluate({"x1": 0.2, "x2": 0.4}, torch.Generator())
    assert measured == {name: pytest.approx(TRUTH[name]({"x1": 0.2, "x2": 0.4})) for name in ("c1", "c2")}


def measure(s: Study, e: Evaluation) -> dict[str, float]:
    return {name: TRUTH[name](e.params) for name in s.problem.tasks[e.task].outcomes}


def advance(s: Study, count: int) -> Study:
    for _ in range(count):
        e = s.ask()
        s.tell(e, measure(s, e))
    return s


def gap(s: Study) -> float:
    return toy().utility_gap(s.space.encode(s.recommend().params))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "known", "evaluations", "reached"),
    [
        ({"minimize": "f"}, {"f": total}, 16, 0.01),
        ({"maximize": "g"}, {"g": lambda p: -math.fsum(p.values())}, 11, 0.05),  # for single numbers alone, so slow
        ({"minimize": "f"}, {"c1": c1}, 9, 0.01),
    ],
    ids=["objective", "maximized", "constraint"],
)
def test_the_toy_problem_is_solved(goal, known, evaluations, reached):
    problem = Problem(SQUARE, constraints=TOY, noise=0.0, known=known, **goal)
    s = advance(Study(problem, rule=QUICK), evaluations)
    assert gap(s) < reached
    assert {name for e in s.evaluations.values() for name in e.outcomes} == set(problem.rows) - set(known)
    advice = s.recommend()
    assert advice.is_confident
    (objective,) = goal.values()
    assert advice.expected == pytest.approx(TRUTH[objective](advice.params), abs=1e-6 if objective in known else 1e-2)


def test_a_recommendation_holds_a_known_constraint_exactly_and_says_so():
    s = advance(Study(Problem(SQUARE, minimize="f", constraints=["c1 >= 0"], known={"c1": c1}), rule=QUICK), 6)
    advice = s.recommend()
    assert 0 <= c1(advice.params) < 1e-4  # it is active at the solution
    assert dict(advice.probabilities) == {"c1 >= 0": 1.0}
    impossible = Problem(SQUARE, minimize="f", constraints=["c1 >= 9"], known={"c1": c1})
    never = advance(Study(impossible, rule=QUICK), 5).recommend()
    assert not never.is_confident
    assert dict(never.probabilities) == {"c1 >= 9": 0.0}


def test_a_known_constraint_that_always_holds_changes_nothing():
    plain = Study(Problem(SQUARE, minimize="f", constraints=["c1 >= 0"], noise=0.0), rule=QUICK)
    slack = Problem(
        SQUARE, minimize="f", constraints=["c1 >= 0", "room >= 0"], noise=0.0, known={"room": lambda p: 3 + p["x1"]}
    )
    beside = Study(slack, rule=QUICK)
    for _ in range(4):  # later ones are of beliefs that differ a little
        one, two = plain.ask(), beside.ask()
        assert two.params == pytest.approx(one.params, abs=2e-2)  # as exactly as draws and the ascent end
        assert two.gain is None if one.gain is None else two.gain == pytest.approx(one.gain, rel=0.1)
        plain.tell(one, measure(plain, one))
        beside.tell(two, measure(plain, two))
    assert beside.recommend().expected == pytest.approx(plain.recommend().expected, abs=0.1)


@pytest.mark.parametrize(
    "given",
    [
        {"rule": {"name": "pesc-ep", "options": "paper", "samples": 6}},
        {"deciding_share": 1e-6},
        {"min_probability": 0.3},
        {
            "model": GP(
                hyperparameters={
                    c: FixedHyperparameters(lengthscale=0.5, amplitude=1.0, noise=0.0) for c in ("c1", "c2")
                }
            )
        },
        {"model": lambda rows: ModelListGP(*(SingleTaskGP(X, Y) for X, Y in rows))},
    ],
    ids=["paper", "quick", "safe", "hyperparameters", "botorch"],
)
def test_every_way_to_decide_knows_it(given):
    s = Study(
        Problem(SQUARE, minimize="f", constraints=TOY, noise=0.0, known={"f": total}),
        **{"rule": QUICK, "initial": 2, **given},
    )
    e = [advance(s, 1).ask() for _ in range(3)][-1]  # pending ones among them
    assert e.gain is not None
    assert math.isfinite(e.gain)
    belief = s.belief()
    X = s.space.sobol(5, 0)
    mean = belief.mean(X.expand(*belief.amplitude.shape[:-1], *X.shape))[..., 0, :]
    torch.testing.assert_close(s.observations().to_user(0, mean), X.sum(-1).expand_as(mean))
    assert s.recommend().expected == pytest.approx(total(s.recommend().params))


def test_a_model_of_your_own_gets_the_measured_rows_alone():
    seen = []

    def fit(rows):
        seen.append(len(rows))
        return ModelListGP(*(SingleTaskGP(X, Y) for X, Y in rows))

    advance(Study(Problem(SQUARE, minimize="f", constraints=TOY, known={"c1": c1}), rule=QUICK, model=fit), 4)
    assert set(seen) == {2}


def test_tasks_apart_failures_and_whole_numbers_go_with_it():
    problem = Problem(
        {"x1": Real(0, 1), "n": Integer(0, 8)},
        minimize="cost",
        constraints=["c >= 0.3", "d >= 0.1"],
        tasks={"c": Task(["c"], failures="learn"), "d": ["d"]},
        known={"cost": lambda p: p["x1"] + p["n"] / 8},
    )
    s = Study(problem, rule=QUICK)
    for i in range(14):
        e = s.ask()
        params: Any = e.params
        x, n = params["x1"], params["n"] / 8
        if e.task == "c" and i == 2:
            s.fail(e, "broke")
        else:
            s.tell(e, {"c": x * n} if e.task == "c" else {"d": x - n / 4})
    assert {e.task for e in s.evaluations.values()} == {"c", "d"}
    advice = s.recommend()
    best: Any = advice.params
    assert advice.expected == pytest.approx(best["x1"] + best["n"] / 8)
    assert list(advice.probabilities) == ["c >= 0.3", "d >= 0.1", "c succeeds"]


def test_a_recommendation_needs_some_value_and_none_of_a_known_objective():
    s = Study(Problem(SQUARE, minimize="f", constraints=TOY, known={"f": total}), rule=QUICK)
    with pytest.raises(DataError, match="no value of any outcome was told yet"):
        s.recommend()
    s.tell(s.ask(), {"c1": 0.1})
    assert s.recommend().params


def test_what_is_known_is_not_told_and_its_hyperparameters_are_not_asked():
    problem = Problem(SQUARE, minimize="f", constraints=TOY, known={"f": total})
    s = Study(problem, rule=QUICK)
    with pytest.raises(DataError, match="'f' is known and not measured"):
        s.tell(s.ask(), {"f": 1.0, "c1": 0.0, "c2": 0.0})
    with pytest.raises(DataError, match="'f' is known and not measured"):
        s.add({"x1": 0.5, "x2": 0.5}, {"f": 1.0})
    given = {"c1": FixedHyperparameters(lengthscale=0.5, amplitude=1.0, noise=0.0)}
    with pytest.raises(ProblemError, match="hyperparameters of 'c2'"):
        Study(problem, model=GP(hyperparameters=given))


def test_a_function_that_fails_is_named():
    problem = Problem(SQUARE, minimize="f", constraints=TOY, known={"f": lambda p: math.log(p["x1"])})
    s = Study(problem, rule=QUICK)
    with pytest.raises(ProblemError, match=r"'f' at \{'x1': 0.0, 'x2': 0.0\}: its function raised ValueError"):
        advance(s, 4)


def test_a_stored_study_goes_on_with_its_functions(tmp_path):
    url = f"sqlite:///{tmp_path / 'known.db'}"

    def problem(function):
        return Problem(SQUARE, minimize="f", constraints=TOY, noise=0.0, known={"f": function})

    advance(Study(problem(lambda p: p["x1"] + p["x2"]), storage=url, rule=QUICK), 4)
    # by its name alone: everything but what needs the function
    loaded = Study.load(url, rule=QUICK)
    assert len(loaded.evaluations) == 4
    assert loaded.problem.outcomes == ("c1", "c2")
    loaded.to_csv()
    with pytest.raises(ProblemError, match=r"'f' is not here.*Study\(problem, storage=\.\.\.\)"):
        loaded.recommend()
    # given again, it goes on; another function of the same outcome is the user's affair
    again = advance(Study(problem(lambda p: p["x2"] + p["x1"]), storage=url, rule=QUICK), 1)
    assert len(again.evaluations) == 5
    assert again.recommend().expected == pytest.approx(total(again.recommend().params))
    # it may also be measured from now on: its data go on with it
    measured = Study(Problem(SQUARE, minimize="f", constraints=TOY, noise=0.0), storage=url, rule=QUICK)
    assert measured.problem.outcomes == ("f", "c1", "c2")
    assert len(measured.evaluations) == 5


def test_a_stored_import_path_is_for_people_to_read(tmp_path, monkeypatch):
    (tmp_path / "pesky_prices.py").write_text('def total(p):\n    return p["x1"] + p["x2"]\n')
    monkeypatch.syspath_prepend(tmp_path)
    url = f"sqlite:///{tmp_path / 'known.db'}"
    problem = Problem(SQUARE, minimize="f", constraints=TOY, known={"f": "pesky_prices:total"})
    advance(Study(problem, storage=url, rule=QUICK), 3)
    monkeypatch.delitem(sys.modules, "pesky_prices")
    with pytest.raises(ProblemError, match="it was 'pesky_prices:total' when it was stored"):
        Study.load(url, rule=QUICK).recommend()
    assert "pesky_prices" not in sys.modules
    advice = Study.load(url, known={"f": total}, rule=QUICK).recommend()
    assert advice.expected == pytest.approx(total(advice.params))


def test_a_study_without_known_outcomes_is_stored_as_it_was(tmp_path):
    url = f"sqlite:///{tmp_path / 'plain.db'}"
    problem = Problem(SQUARE, minimize="f")
    s = Study(problem, storage=url)
    assert "known" not in s.store.load("study").problem
    Study(problem, storage=url)


def test_a_known_function_that_does_not_work_is_found_before_anything_is_measured():
    s = Study(Problem(SQUARE, minimize="f", constraints=TOY, known={"c1": lambda p: math.nan}), rule=QUICK)
    with pytest.raises(ProblemError, match="c1"):
        s.ask()
    assert not s.evaluations
