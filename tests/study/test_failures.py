"""Failures that are learnt, outcomes that are a yes or no, costs that are measured."""

import math
import time

import pytest
from study.quick import SPACE, at, measure, quick

from pesky import GP, Constraint, DataError, Problem, ProblemError, Real, Study, Task
from pesky.store import State

UNIT = {"x": Real(0, 1), "y": Real(0, 1)}


def crash(params) -> dict[str, float]:
    """Better and better towards a cliff beyond which there is nothing."""
    if params["x"] > 0.6:
        raise RuntimeError("diverged")
    return {"f": -params["x"] + 0.3 * (params["y"] - 0.5) ** 2}


def test_the_region_that_crashes_is_learnt_and_avoided():
    learn = Problem(UNIT, minimize="f", tasks={"run": Task(["f"], failures="learn")}, noise=0.0)
    record = Problem(UNIT, minimize="f", tasks={"run": Task(["f"])}, noise=0.0)
    found, crashes = {}, {}
    for name, problem in {"learn": learn, "record": record}.items():
        s = quick(problem, seed=1)
        s.run(crash, budget=20)
        found[name] = s.recommend()
        crashes[name] = [e.state is State.FAILED for e in s.evaluations.values()]
    assert 0.4 < at(found["learn"].params)[0] <= 0.6
    assert found["learn"].is_confident
    assert found["learn"].probabilities["run succeeds"] >= 0.95 - 1e-6
    assert sum(crashes["learn"][10:]) < sum(crashes["record"][10:])


def test_an_answer_without_a_value_says_that_all_failed():
    s = quick(Problem(SPACE, minimize="f", constraints=["c >= 0"]))

    def cold(params):
        raise ValueError("the oven is cold")

    s.run(cold, budget=3, progress=False)
    with pytest.raises(
        DataError, match=r"3 evaluations failed, the last one \(#2\) with: ValueError: the oven is cold"
    ):
        s.recommend()


def test_a_failure_told_by_hand_is_learnt_too():
    problem = Problem(UNIT, minimize="f", tasks={"run": Task(["f"], failures="learn")}, noise=0.0)
    s = quick(problem)
    for _ in range(6):
        e = s.ask()
        try:
            s.tell(e, crash(e.params))
        except RuntimeError as error:
            s.fail(e, str(error))
    o = s.observations()
    assert o.kinds == ("gaussian", "probit")
    assert o.mask[1].sum() == 6
    failed = {e.id for e in s.evaluations.values() if e.state is State.FAILED}
    assert (o.y[1] < 0).sum() == len(failed) > 0


def test_a_late_success_takes_the_failure_back():
    problem = Problem(UNIT, minimize="f", tasks={"run": Task(["f"], failures="learn")}, noise=0.0)
    s = quick(problem)
    e = s.ask()
    s.fail(e, "time-out")
    assert s.observations().y[1].tolist() == [-1.0]
    s.tell(e, {"f": 1.0})
    assert s.observations().y[1].tolist() == [1.0]


def test_a_study_in_which_everything_fails_goes_on():
    def fails(params):
        raise OSError("no licence")

    for failures in ("learn", "record"):
        task = Task(["f", "c"], failures=failures)
        problem = Problem(UNIT, minimize="f", constraints=["c >= 0"], tasks={"run": task})
        s = quick(problem)
        ending = s.run(fails, budget=5, keep_going=True)
        assert ending.failed == 5
        with pytest.raises(DataError, match="no value of the objective"):
            s.recommend()


@pytest.mark.slow
def test_a_yes_or_no_of_the_users_own_is_a_constraint():
    problem = Problem(
        UNIT,
        minimize="f",
        constraints=[Constraint("stable", "is", True, confidence=0.9), "burnt is false"],
        tasks={"all": Task(["f", "stable", "burnt"])},
    )

    def answer(params):
        return {"f": -params["x"] - params["y"], "stable": params["x"] < 0.7, "burnt": bool(params["y"] > 0.5)}

    s = quick(problem, seed=2)
    s.run(answer, budget=18)
    found = s.recommend()
    assert list(found.probabilities) == ["stable", "burnt is false"]
    assert found.is_confident
    x, y = at(found.params)
    assert 0.3 < x < 0.7
    assert 0.2 < y < 0.5
    assert all(e.outcomes["stable"] in (0.0, 1.0) for e in s.evaluations.values())


def test_a_yes_or_no_takes_nothing_else():
    s = quick(Problem(UNIT, minimize="f", constraints=["stable is true"]))
    with pytest.raises(DataError, match=r"'stable' was 0\.5: it is a yes or no"):
        s.tell(s.ask(), {"f": 1.0, "stable": 0.5})


def test_a_botorch_model_is_not_asked_about_yes_or_no():
    with pytest.raises(ProblemError, match="cannot be asked about a yes or no"):
        Study(Problem(UNIT, minimize="f", constraints=["stable is true"]), model=lambda rows: rows)  # pyright: ignore[reportArgumentType]


def test_slice_sampling_goes_with_yes_and_no():
    s = quick(Problem(UNIT, minimize="f", constraints=["stable is true"]), model=GP(hyperparameters="slice", samples=2))
    ending = s.run(lambda p: {"f": p["x"], "stable": p["x"] > 0.3}, budget=6)
    assert ending.evaluations == 6
    assert 0 <= s.recommend().probabilities["stable"] <= 1


def test_a_cost_that_is_measured_is_learnt_from_durations():
    """Two tasks tell of the same; one of them takes long where x is large."""
    problem = Problem(
        SPACE,
        minimize="f",
        constraints=["c >= 0"],
        tasks={"score": Task(["f"], cost="measured"), "check": Task(["c"], cost="measured")},
        noise=0.01,
    )
    s = quick(problem)
    for _ in range(11):
        e = s.ask()
        seconds = 0.5 * math.exp(3 * at(e.params)[0]) if e.task == "score" else 0.01
        values = measure(e.params)
        outcome = "f" if e.task == "score" else "c"
        s.tell(e, {outcome: values[outcome]}, seconds=seconds)
    spent = s.spent()
    scores = [e for e in s.evaluations.values() if e.task == "score"]
    assert spent["score"] == pytest.approx(sum(e.seconds or 0 for e in scores))
    assert spent["check"] == pytest.approx(0.01 * (11 - len(scores)))
    assert len(scores) < 6  # a hundred checks for the price of a score
    late = [e for e in s.evaluations.values() if e.gain is not None]
    assert all(0.001 < e.price < 0.1 for e in late if e.task == "check")


def test_a_budget_of_seconds_measured_is_kept():
    def slow(params):
        time.sleep(0.2)
        return {"f": params["x"]}

    problem = Problem(UNIT, minimize="f", tasks={"run": Task(["f"], cost="measured")})
    s = quick(problem)
    s.run(slow, budget=1.2)
    assert 0.6 < sum(s.spent().values()) < 1.5


def test_questions_keep_to_the_probable():
    problem = Problem(UNIT, minimize="f", constraints=["c >= 0"], noise=0.0)

    def cliff(params):
        return {"f": -params["x"], "c": 0.5 - params["x"]}

    bold, careful = (quick(problem, min_probability=floor) for floor in (None, 0.9))
    for s in (bold, careful):
        s.run(cliff, budget=10)
    broken = [sum(e.outcomes["c"] < 0 for e in list(s.evaluations.values())[5:]) for s in (bold, careful)]
    assert broken[1] <= 1
    assert broken[1] <= broken[0]
    with pytest.raises(ProblemError, match="min_probability was 2"):
        quick(problem, min_probability=2)
