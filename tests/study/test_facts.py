"""Facts before beliefs: no answer, picture or report contradicts what was measured without noise."""

import shutil
from pathlib import Path

import pytest
import torch
from study.quick import quick

from pesky import Constraint, Problem, ProblemError, Real, Study, Task
from pesky.run.best import best_measured
from pesky.show import Findings, progress
from pesky.show.report import sections
from pesky.strategy.explain import known_before
from pesky.strategy.task_values import feasibility

LINE = {"x": Real(0, 1)}
CLIFF = 0.6


def line(failures: str = "learn", **given) -> Problem:
    task = Task(["f", "c"], failures=failures)  # pyright: ignore[reportArgumentType]
    return Problem(LINE, **{"minimize": "f", "constraints": ["c >= 0"], "tasks": {"run": task}, "noise": 0.0, **given})


def told(problem: Problem, points: tuple[float, ...] = (0.05, 0.2, 0.35, 0.5, 0.58, 0.62, 0.7, 0.9), **given) -> Study:
    """Better and better towards a cliff, just before which one point was measured."""
    s = quick(problem, **given)
    for x in points:
        e = s.ask("run", params={"x": x})
        if x > CLIFF:
            s.fail(e, "diverged")
        else:
            s.tell(e, {"f": -x, "c": 1.0})
    return s


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = tmp_path_factory.mktemp("arm") / "arm.db"
    shutil.copy(Path(__file__).parent / "cases" / "arm.db", path)
    return Study.load(f"sqlite:///{path}")


def test_the_arm_that_was_measured_and_satisfies_every_limit_is_the_answer(arm: Study):
    found, findings = arm.recommend(), Findings(arm, moments=1)
    assert found.evaluations == arm.best().evaluations == (212,)
    assert found.is_confident
    assert found.is_measured
    assert set(found.probabilities.values()) == {1.0}
    assert found.expected == found.told["mass"] == best_measured(arm.problem, arm.evaluations.values())
    assert "best measured point: #212, mass = 10.0492" in progress(findings).layout.title.text  # pyright: ignore
    answer = dict(sections(findings, ""))["The answer"]
    assert found.advice[-60:].replace("`", "") in answer.replace("`", "")
    assert "[...]" not in answer


def test_a_success_that_was_measured_is_a_success_and_a_failure_a_failure():
    s = told(line())
    found = s.recommend()
    assert found.evaluations == (4,)
    assert found.probabilities["run succeeds"] == 1.0
    assert s.predict({"x": 0.62}).probabilities["run succeeds"] == 0.0
    assert s.predict({"x": 0.6}).probabilities["run succeeds"] < 1.0
    assert best_measured(s.problem, s.evaluations.values()) == s.best().expected == -0.58


def test_failures_that_are_random_leave_success_a_probability():
    s = told(line("random"))
    assert 0.0 < s.predict({"x": 0.62}).probabilities["run succeeds"] < 1.0
    assert s.predict({"x": 0.58}).probabilities["run succeeds"] < 1.0
    assert s.recommend().evaluations != (4,)


def test_a_success_and_a_failure_at_one_point_prove_nothing():
    s = told(line())
    s.fail(s.ask("run", params={"x": 0.58}), "diverged")
    assert 0.0 < s.predict({"x": 0.58}).probabilities["run succeeds"] < 1.0


def test_data_of_ones_own_with_all_outcomes_of_a_task_show_that_it_succeeds():
    problem = Problem(
        LINE,
        minimize="f",
        constraints=["c >= 0"],
        tasks={"check": ["c"], "run": Task(["f", "c"], failures="learn")},
        noise=0.0,
    )
    s = quick(problem)
    s.add({"x": 0.3}, {"f": 1.0, "c": 1.0})
    s.add({"x": 0.4}, {"c": 1.0})
    found = s.recommend()
    assert found.is_measured
    assert found.probabilities["run succeeds"] == 1.0
    assert s.observations().mask[-1].sum() == 1


def test_where_some_values_of_a_failed_run_hold_it_is_not_the_best_measured():
    s = quick(line())
    s.add({"x": 0.2}, {"f": 1.0, "c": 1.0})
    e = s.ask("run", params={"x": 0.5})
    s.store.fail(s.identity, e.id, "diverged", attempt=None, seconds=None, outcomes={"f": 0.0, "c": 1.0})
    assert best_measured(s.problem, s.evaluations.values()) == s.best().expected == 1.0


def test_what_becomes_of_failures_is_one_of_three():
    with pytest.raises(ProblemError, match='failures was \'chance\': expected "record", "learn" or "random"'):
        Task(["f"], failures="chance")  # pyright: ignore[reportArgumentType]
    again = Problem.from_json(line("random").to_json())
    assert again == line("random")
    assert again.conditions[-1] == Constraint("run succeeds", "is", True)
    assert again.rows == line("learn").rows


@pytest.mark.parametrize("noise", [0.0, None])
@pytest.mark.parametrize("others", [3, 5, 9])
@pytest.mark.parametrize("sign", [1, -1])
def test_one_absurd_value_of_the_objective_moves_no_other(noise: float | None, others: int, sign: int):
    """A model that learnt from it expected -1e299 of points where 0.3 was measured, and recommended one of them."""
    direction = "minimize" if sign > 0 else "maximize"
    s = Study(Problem({"x": Real(0, 1)}, **{direction: "f"}, noise=noise))  # pyright: ignore[reportArgumentType]
    for i in range(others):
        x = i / (others - 1)
        s.add({"x": x}, {"f": sign * (0.065 + (x - 0.4) ** 2)})
    s.add({"x": 0.77}, {"f": sign * 1e300})
    found = s.recommend()
    assert abs(found.expected - sign * 0.065) < 0.05
    (left_out,) = s.outliers()
    assert left_out.value == sign * 1e300
    if noise == 0:
        assert s.predict({"x": 0.77}).outcomes["f"].mean == sign * 1e300


def test_a_value_that_is_decades_better_is_what_was_looked_for():
    s = Study(Problem({"x": Real(0, 1)}, maximize="f", noise=0.0))
    for x in (0.0, 0.2, 0.4, 0.8, 1.0):
        s.add({"x": x}, {"f": 1e-12 * (1 + x)})
    s.add({"x": 0.6}, {"f": 0.5})
    assert s.recommend().told == {"f": 0.5}
    assert not s.outliers()


def test_no_task_is_worth_less_than_what_it_includes_is_worth_where_it_succeeds(arm: Study):
    """Some of the stored questions, asked anew; the long test below goes through all of them."""
    check_inclusion(arm, every=100)


def test_no_task_of_any_stored_question_is_worth_less_than_one_that_it_includes(arm: Study):
    check_inclusion(arm, every=1)


def check_inclusion(arm: Study, every: int) -> None:
    asked = [e for e in arm.evaluations.values() if e.why and e.why.get("values")]
    for e in asked[every // 2 :: every]:
        values = arm.task_values(known_before(arm.evaluations.values(), e))
        u = arm.space.encode(e.params)[None]
        with torch.no_grad():
            worth = dict(zip(arm.problem.tasks, values.value(u)[0].tolist(), strict=True))
            succeeds = float(feasibility(values.context.belief, u)[0, -1])
        assert worth["modal"] >= 0
        assert worth["static"] >= succeeds * worth["modal"]
