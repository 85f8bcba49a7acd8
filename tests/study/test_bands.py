"""Studies with constraints on both sides of an outcome, and on the objective itself (METHOD 24)."""

import math

import pytest
import torch
from study.quick import quick

from pesky import Constraint, Problem, Real, Study, Task
from pesky.acquire.registry import RULES
from pesky.model.surrogate import GP
from pesky.observations import collect, conditions_of
from pesky.problem import Integer
from pesky.space import Space

X = {"x": Real(0, 1)}
BAND = Problem(X, minimize="f", constraints=["t >= -0.1", Constraint("t", "<=", 0.1, 0.8)], noise=0)
OBJECTIVE = Problem(X, maximize="f", constraints=["f >= -0.2", "f <= -0.05", "t >= -0.3"], noise=0)


def functions(x: float) -> dict[str, float]:
    return {"f": (x - 0.3) ** 2 + 0.1 * math.sin(9 * x), "t": x - 0.55}


def measured(problem: Problem, points=(0.05, 0.3, 0.5, 0.62, 0.9), **given) -> Study:
    study = quick(problem, initial=1, **given)
    for x in points:
        study.add({"x": x}, {name: value for name, value in functions(x).items() if name in problem.outcomes})
    return study


def test_a_band_is_one_row_with_two_conditions():
    assert BAND.rows == ("f", "t")
    o = collect(BAND, Space.of(BAND), [(torch.tensor([x]), functions(x)) for x in (0.1, 0.5, 0.8)])
    conditions = conditions_of(BAND, o)
    assert conditions is not None
    assert (conditions.row, conditions.sense) == ((1, 1), (1, -1))
    assert conditions.bound[0] == 0
    assert o.to_user(1, conditions.bound).tolist() == pytest.approx([-0.1, 0.1])
    one_sided = Problem(X, minimize="f", constraints=["t >= 0", "s <= 0"])
    told = [(torch.tensor([0.2]), {"f": 1.0, "t": 0.0, "s": 2.0})]
    assert conditions_of(one_sided, collect(one_sided, Space.of(one_sided), told)) is None


def test_of_several_limits_on_one_side_the_tightest_is_zero():
    problem = Problem(X, minimize="f", constraints=["t <= 3", "t <= 1", "t >= -2", "f <= 5"])
    o = collect(problem, Space.of(problem), [(torch.tensor([x]), {"f": x, "t": 4 * x}) for x in (0.1, 0.5, 0.8)])
    conditions = conditions_of(problem, o)
    assert conditions is not None
    assert (conditions.row, conditions.sense) == ((1, 1, 1, 0), (1, 1, -1, -1))
    bounds = [float(o.to_user(row, conditions.bound[i])) for i, row in enumerate(conditions.row)]
    assert bounds == pytest.approx([3.0, 1.0, -2.0, 5.0])
    assert conditions.low[1] == 0


def test_a_remote_limit_leaves_the_other_its_digits():
    problem = Problem(X, minimize="f", constraints=["t >= -1e9", "t <= 0"], noise=0)
    told = [(torch.tensor([x]), functions(x)) for x in (0.1, 0.5, 0.8)]
    o, near = (collect(problem, Space.of(problem), told[:n]) for n in (3, 2))
    assert o.to_user(1, torch.zeros(())) == 0
    assert o.y[1].abs().max() < 10
    conditions = conditions_of(problem, o)
    assert conditions is not None
    assert conditions.low[1] == 0
    assert (conditions.sense, conditions.bound[1]) == ((-1, 1), 0)
    in_other = near.in_units_of(o)
    torch.testing.assert_close(in_other.y[:, :2], o.y[:, :2])
    both = Problem(X, minimize="f", constraints=["t >= -0.6", "t <= 0"], noise=0)
    turned = collect(both, Space.of(both), told).in_units_of(o)
    torch.testing.assert_close(turned.y, o.y)
    p = measured(problem).predict({"x": 0.2}).probabilities
    assert min(p.values()) > 0.99


def test_each_constraint_has_its_own_probability_and_both_are_of_one_function():
    study = measured(BAND)
    for x in (0.35, 0.45, 0.52, 0.66, 0.75):
        found = study.predict({"x": x})
        low, high = found.probabilities["t >= -0.1"], found.probabilities["t <= 0.1"]
        t = found.outcomes["t"]
        assert t.interval[0] <= t.mean <= t.interval[1]
        assert low + high >= 1 - 1e-9  # they cannot both fail
        assert (low < 0.5) == (t.mean < -0.1)
        assert (high < 0.5) == (t.mean > 0.1)


def test_a_question_is_as_safe_as_was_asked():
    """With independent rows a band of 0.2 was taken to hold three times as probably as it does."""
    problem = Problem(X, minimize="f", constraints=["t >= -0.1", "t <= 0.1"], noise=0.05)
    study = measured(problem, points=(0.1, 0.55, 0.9), min_probability=0.5)
    asked = study.ask()
    assert study.decision is not None
    p = study.predict(asked.params).probabilities
    assert sum(p.values()) - 1 >= 0.5 - 1e-3


def test_the_recommendation_keeps_both_limits():
    study = measured(BAND)
    for _ in range(5):
        study.tell(asked := study.ask(), functions(float(asked.params["x"])))
    best = study.recommend()
    assert best.is_confident
    assert list(best.probabilities) == ["t >= -0.1", "t <= 0.1"]
    assert abs(functions(float(best.params["x"]))["t"]) <= 0.1
    x = torch.linspace(0, 1, 10_001).tolist()
    lowest = min(functions(each)["f"] for each in x if abs(functions(each)["t"]) <= 0.1)
    assert best.expected == pytest.approx(lowest, abs=2e-3)


def test_a_constrained_objective_is_one_function():
    study = measured(OBJECTIVE)
    for _ in range(5):
        study.tell(asked := study.ask(), functions(float(asked.params["x"])))
    best = study.recommend()
    assert list(best.probabilities) == ["f >= -0.2", "f <= -0.05", "t >= -0.3"]
    value = functions(float(best.params["x"]))
    assert -0.2 <= value["f"] <= -0.04
    assert value["t"] >= -0.3 - 1e-3


def test_an_outcome_measured_by_itself_has_one_gain():
    problem = Problem(
        X,
        minimize="f",
        constraints=["t >= -0.1", "t <= 0.1"],
        tasks={"run": ["f"], "look": Task(["t"], cost=2)},
        noise=0.01,
    )
    study = measured(problem, points=(0.1, 0.5, 0.9))
    asked, decision = study.ask(), study.decision
    assert decision is not None
    gains = decision.acquisition(torch.tensor([[float(asked.params["x"])]]))
    assert gains.shape == (1, 2)
    index = ["run", "look"].index(asked.task)
    assert asked.gain == pytest.approx(float(gains[0, index].clamp(min=0.0)))


def test_what_other_limits_would_change():
    study = measured(BAND)
    narrow = study.what_if({"t <=": -0.09})
    assert list(narrow.probabilities) == ["t >= -0.1", "t <= -0.09"]
    wide = study.what_if({"t >=": -1.0, "t <=": 1.0})
    assert wide.expected <= study.recommend().expected + 1e-9
    assert wide.expected == pytest.approx(min(functions(i / 1000)["f"] for i in range(1001)), abs=0.02)
    tables = study.tradeoffs()
    assert [table.constraint for table in tables] == ["t >= -0.1", "t <= 0.1"]
    narrow = measured(Problem(X, minimize="f", constraints=["t >= -0.1", "t <= 0"], noise=0)).tradeoffs()
    assert [len(table.prices) for table in narrow] == [4, 4]  # beyond the other limit there is nothing to ask about


def test_a_known_outcome_and_parameters_may_have_bands():
    space = {"x": Real(0, 1), "n": Integer(0, 3)}
    problem = Problem(
        space,
        minimize="f",
        constraints=["size >= 0.4", "size <= 0.6", "x + n >= 0.2", "x + n <= 1.5"],
        known={"size": lambda p: p["x"] * (1 + p["n"])},
        noise=0,
    )
    assert problem.rows == ("f", "size", "x + n")
    study = quick(problem, initial=2)
    for _ in range(5):
        asked = study.ask()
        x, n = float(asked.params["x"]), int(asked.params["n"])
        assert 0.2 - 1e-9 <= x + n <= 1.5 + 1e-9
        study.tell(asked, {"f": (x - 0.8) ** 2 + 0.1 * n})
    best = study.recommend()
    assert best.is_confident
    size = float(best.params["x"]) * (1 + int(best.params["n"]))
    assert 0.4 - 1e-6 <= size <= 0.6 + 1e-6
    assert set(best.probabilities.values()) == {1.0}


def test_limits_are_warped_with_their_outcome():
    problem = Problem(X, minimize="f", constraints=["t >= 1", "t <= 100"], noise=0)
    study = quick(problem, model=GP(warp=True))
    for i in range(12):
        study.add({"x": i / 11}, {"f": functions(i / 11)["f"], "t": math.exp(-3 + 11 * i / 11)})
    found = {x: study.predict({"x": x}).probabilities for x in (0.2, 0.4, 0.6, 0.8)}
    for x, p in found.items():
        t = math.exp(-3 + 11 * x)
        assert (p["t >= 1"] > 0.5) == (t >= 1)
        assert (p["t <= 100"] > 0.5) == (t <= 100)


def test_failures_that_are_learnt_and_answers_go_beside_a_band():
    problem = Problem(
        X,
        minimize="f",
        constraints=["t >= -0.1", "t <= 0.1", "ok is true"],
        tasks={"all": Task(["f", "t", "ok"], failures="learn")},
    )
    assert problem.rows == ("f", "t", "ok", "all succeeds")
    study = quick(problem, initial=3)
    for i in range(6):
        asked = study.ask()
        if i == 2:
            study.fail(asked, "broke")
            continue
        study.tell(asked, {**functions(float(asked.params["x"])), "ok": True})
    assert list(study.recommend().probabilities) == ["t >= -0.1", "t <= 0.1", "ok", "all succeeds"]


@pytest.mark.parametrize("problem", [BAND, OBJECTIVE], ids=["band", "objective"])
@pytest.mark.parametrize("rule", [name for name in RULES if name not in ("pes", "pesc")])
def test_every_rule_runs_a_study(problem, rule):
    study = measured(problem, rule=rule)
    for _ in range(2):
        asked = study.ask()
        study.tell(asked, functions(float(asked.params["x"])))
    assert list(study.recommend().probabilities) == [str(constraint) for constraint in problem.constraints]
