"""Without noise no question is asked again whose answer is known or awaited; a finite space comes to an end."""

import math
from typing import Any

import pytest
from study.quick import quick

from pesky import Choice, Integer, Problem, Real, Study, Task
from pesky.data.points import Points
from pesky.data.snapshot import Snapshot
from pesky.space import Space
from pesky.store import Evaluation, Limit, State
from pesky.strategy import Initial
from pesky.study import Exhausted

SIX = {"x": Integer(0, 5)}
MIXED = {"x": Integer(0, 2), "kind": Choice(["low", "high"])}
SEPARATE = {"score": Task(["f"], cost=3), "check": Task(["c"])}


def exact(parameters: Any = SIX, **given: Any) -> Problem:
    stated = {"constraints": ["c >= 0"], "noise": 0.0} | given
    return Problem(parameters, minimize="f", **stated)


def measure(params: Any) -> dict[str, float]:
    x = params["x"] + 0.5 * (params.get("kind") == "high")
    return {"f": (x - 2.2) ** 2, "c": x - 1.1}


def score(params: Any) -> float:
    return measure(params)["f"]


def check(params: Any) -> float:
    return measure(params)["c"]


def go_on(study: Study, most: int = 20) -> list[tuple]:
    """Ask and tell while there is something to ask; the questions."""
    asked = []
    for _ in range(most):
        try:
            evaluation = study.ask()
        except Exhausted:
            break
        assert evaluation.gain is None or 0 <= evaluation.gain < math.inf
        asked.append((evaluation.task, *evaluation.params.values()))
        outcomes = study.problem.tasks[evaluation.task].outcomes
        study.tell(evaluation, {name: measure(evaluation.params)[name] for name in outcomes})
    return asked


@pytest.mark.parametrize("rule", ["pesc", "eic", "random", "sobol", "cmes", "eic-decoupled"])
@pytest.mark.parametrize("parameters", [SIX, MIXED], ids=["integers", "mixed"])
def test_every_point_is_asked_once_and_then_none(rule: str, parameters: Any):
    study = quick(exact(parameters)) if rule == "pesc" else Study(exact(parameters), rule=rule)
    asked = go_on(study)
    assert len(asked) == len(set(asked)) == 6
    with pytest.raises(Exhausted, match="a repeat tells nothing: the space of 6 points is exhausted") as raised:
        study.ask()
    assert raised.value.kind == "space"
    assert study.recommend().params == ({"x": 2} if parameters is SIX else {"x": 2, "kind": "low"})


def test_who_has_no_time_asks_no_point_again_either():
    for seed in range(3):
        study = quick(exact(), seed=seed, deciding_share=1e-6)
        asked = go_on(study)
        assert len(asked) == len(set(asked)) == 6
        assert study.time_budget.decisions["thompson"] > 0


def test_a_design_larger_than_the_space_asks_no_point_twice():
    asked = go_on(quick(exact(), initial=20))
    assert len(asked) == len(set(asked)) == 6


def test_one_task_may_be_settled_where_another_is_not():
    study = quick(exact(tasks=SEPARATE))
    asked = go_on(study)
    assert len(asked) == len(set(asked)) == 12


def test_a_task_that_is_settled_everywhere_leaves_the_others():
    study = quick(exact(tasks=SEPARATE))
    for x in range(6):
        study.add({"x": x}, {"f": score({"x": x})})
    with pytest.raises(Exhausted, match="every point of the space was measured by 'score', and") as raised:
        study.ask("score")
    assert raised.value.kind == "space"
    assert {study.ask().task for _ in range(6)} == {"check"}
    with pytest.raises(Exhausted, match="was measured or is being measured, and"):
        study.ask()


def test_what_can_be_afforded_is_settled():
    """Only checks are cheap enough, and every one of them was made: what ends the study is the budget."""
    study = quick(exact(tasks=SEPARATE))
    for x in range(6):
        study.add({"x": x}, {"c": check({"x": x})})
    with pytest.raises(Exhausted, match="the rest is too little for a measurement that would tell more") as raised:
        study.ask(limit=Limit(cost=2))
    assert raised.value.kind == "budget"


def test_with_noise_a_repeat_may_tell_something():
    for noise in (None, 0.1, {"f": 0.0}):
        study = Study(exact(noise=noise), rule="random")
        assert len(go_on(study, 8)) == 8


def test_what_an_evaluation_settles():
    problem = exact(tasks={"all": Task(["f", "c"]), "check": Task(["c"])})

    def points(task: str, *given: Evaluation) -> set[Any]:
        snapshot = Snapshot(problem, Points(Space.of(problem)), dict(enumerate(given)))
        return {x for (x,) in snapshot.answered((task,))[task]}

    both = {"f": 1.0, "c": 1.0}
    for state in (State.PENDING, State.RUNNING, State.LOST, State.FAILED):
        assert points("all", Evaluation(0, "all", {"x": 3}, state=state)) == {3}
        assert points("check", Evaluation(0, "all", {"x": 3}, state=state)) == set()
    assert points("all", Evaluation(0, "all", {"x": 3}, state=State.ABANDONED)) == set()
    half = Evaluation(0, "all", {"x": 3}, state=State.ABANDONED, outcomes={"c": 1.0})
    assert (points("all", half), points("check", half)) == (set(), {3})
    rest = Evaluation(1, "all", {"x": 3}, state=State.DONE, outcomes={"f": 1.0}, attempts=0)
    assert points("all", half, rest) == {3}
    assert points("all", Evaluation(0, "all", {"x": 3}, state=State.DONE, outcomes=both)) == {3}
    assert points("all", half, Evaluation(1, "all", {"x": 4}, state=State.DONE, outcomes={"f": 1.0})) == set()


def test_which_tasks_are_exact():
    tasks = {"run": ["f", "works"], "try": ["works"], "heat": ["c"]}
    rest = {"constraints": ["c >= 0", "works is true"], "tasks": tasks}

    def which(**given: Any) -> list[str]:
        problem = exact(**rest, **given)
        return [task for task in tasks if problem.is_exact(task)]

    assert which() == ["run", "try", "heat"]
    assert which(noise={"f": 0}) == ["run"]
    assert which(noise={"c": 0, "f": 0.1}) == ["heat"]
    assert which(noise=None) == []
    answers = Problem(SIX, minimize="f", constraints=["works is true"], known={"f": lambda p: p["x"]})
    assert not answers.is_exact("all")  # nobody said so


def test_what_is_abandoned_is_asked_again_and_what_failed_is_not():
    study = Study(exact({"x": Integer(0, 1)}), rule="random")
    first, second = study.ask(), study.ask()
    with pytest.raises(Exhausted, match="being measured"):
        study.ask()
    study.abandon(first)
    assert study.ask().params == first.params
    study.fail(second, "it broke")
    with pytest.raises(Exhausted):
        study.ask()


def test_ones_own_data_are_no_questions_any_more():
    """Of the initial design as well; a point is known whichever evaluations told its outcomes."""
    study = quick(exact(), initial=6)
    design = Initial(points=6).design(study.space, None, study.seed)
    for params in design[:3]:
        study.add(params, {"f": score(params)})
        study.add(params, {"c": check(params)})
    known = {params["x"] for params in design[:3]}
    asked = {x for _, x in go_on(study)}
    assert asked == set(range(6)) - known


def test_who_asks_at_the_same_moment_gets_what_is_left(monkeypatch: pytest.MonkeyPatch):
    study = Study(exact(), rule="random")
    other = Study(exact(), rule="random", storage=study.store)
    for x in range(4):
        study.add({"x": x}, measure({"x": x}))
    suggest, theirs = study._asker.suggest, []

    def meanwhile(*given: Any, **options: Any) -> Any:
        question = suggest(*given, **options)
        if not theirs:
            theirs.append(other.add(question.params, measure(question.params)).params)
        return question

    monkeypatch.setattr(study._asker, "suggest", meanwhile)
    assert {study.ask().params["x"], *(params["x"] for params in theirs)} == {4, 5}
    with pytest.raises(Exhausted):
        other.ask()


@pytest.mark.parametrize("workers", [None, 2])
def test_a_run_ends_with_the_space(workers: int | None):
    ending = Study(exact(), rule="random").run(measure, budget=20, workers=workers)
    assert (ending.kind, ending.evaluations) == ("space", 6)
    assert "the space of 6 points is exhausted" in str(ending)


def test_a_budget_that_ends_with_the_space_ends_it_as_a_budget():
    ending = Study(exact(), rule="random").run(measure, budget=6)
    assert (ending.kind, ending.evaluations) == ("budget", 6)


def test_in_a_space_with_real_parameters_there_is_always_a_question():
    study = Study(exact({"x": Real(0, 5), "kind": Choice(["low", "high"])}), rule="eic")
    asked = go_on(study, 12)
    assert len(asked) == len(set(asked)) == 12


@pytest.mark.parametrize("threshold", [1e308, -1e308, 1e154, -1e154, 1e-308])
@pytest.mark.parametrize("sense", ["<=", ">="])
def test_a_threshold_beyond_all_values_is_certain(threshold: float, sense: str):
    study = quick(exact(constraints=[f"c {sense} {threshold!r}"]))
    assert len(go_on(study)) == 6  # of gains that are numbers
    (probability,) = study.recommend().probabilities.values()
    if abs(threshold) > 1:
        assert probability == pytest.approx(float((threshold > 0) == (sense == "<=")), abs=1e-6)
        assert study.recommend().is_confident == (probability > 0.5)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_huge_and_tiny_values_are_asked_about_like_others(size: float):
    study = quick(exact({"x": Real(0, 5)}, constraints=["c >= 0"]))
    for _ in range(5):
        e = study.ask()
        assert e.gain is None or 0 <= e.gain < math.inf
        study.tell(e, {name: value * size for name, value in measure(e.params).items()})
    assert study.recommend().expected == pytest.approx(0, abs=10 * size)
