"""Minds that change: a stored study goes on with another problem, corrected data, and data of other origin."""

import logging
import math
from typing import Any

import pytest
from study.quick import QUICK

from pesky import GP, Choice, Constraint, FixedHyperparameters, Integer, Problem, Real, Study, Task
from pesky.errors import DataError, ProblemChanged, ProblemError, StudyGone
from pesky.run.best import best_measured
from pesky.store import MemoryStore, Question, State
from pesky.study.set_aside import set_aside

SPACE = {"x": Real(0, 1), "n": Integer(1, 8), "kind": Choice(["a", "b"])}


MANY = 30


def problem(**given: Any) -> Problem:
    return Problem(**{"parameters": SPACE, "minimize": "f", "constraints": ["c >= 0"], "noise": 0.0, **given})


def measure(params: Any) -> dict[str, float]:
    f = (params["x"] - 0.3) ** 2 + 0.1 * params["n"] + 0.5 * (params["kind"] == "a")
    return {"f": f, "c": params["x"] - 0.2}


def grown(store: MemoryStore, count: int = 8) -> Study:
    """A study with data all over the space."""
    study = Study(problem(), storage=store, initial=MANY)
    study.run(measure, count)
    return study


def again(store: MemoryStore, **given: Any) -> Study:
    """The study with another problem; its initial design is so large that nothing is decided."""
    return Study(problem(**given), storage=store, initial=MANY)


@pytest.mark.parametrize(
    "given",
    [
        {"constraints": ["c >= 0.2"]},
        {"constraints": [Constraint("c", ">=", 0, confidence=0.8)]},
        {"constraints": []},
        {"constraints": ["c >= 0", "d <= 3"]},
        {"minimize": None, "maximize": "f"},
        {"minimize": "c", "constraints": ["f <= 1"]},
        {"noise": 0.1},
        {"parameters": {**SPACE, "x": Real(-1, 2)}},
        {"parameters": {**SPACE, "x": Real(0.25, 0.75)}},
        {"parameters": {**SPACE, "n": Integer(3, 5)}},
        {"parameters": {**SPACE, "kind": Choice(["a", "b", "new"])}},
        {"parameters": {**SPACE, "kind": Choice(["b", "new"])}},
        {"parameters": dict(reversed(SPACE.items()))},
        {"tasks": {"all": Task(["f", "c"], cost=3, failures="learn")}},
        {"tasks": {"score": Task(["f"]), "check": Task(["c"])}},
        {"known": {"c": lambda p: p["x"] - 0.2}},
    ],
    ids=lambda given: "-".join(given),
)
def test_a_stored_study_goes_on_with_another_problem(given, caplog):
    store = MemoryStore()
    before = list(grown(store).evaluations.values())
    with caplog.at_level(logging.WARNING, "pesky"):
        study = again(store, **given)
    assert "goes on, with its data and a changed problem:\n  " in caplog.text or list(given) == ["parameters"]
    assert list(study.evaluations.values()) == before
    assert study.observations().mask[0].any()
    for _ in range(2):
        asked = study.ask()
        assert study.space.contains(asked.params)
        expected = study.problem.tasks[asked.task].outcomes
        study.tell(asked, {name: {**measure(asked.params), "d": 1.0}[name] for name in expected})
    assert [e for e in study.evaluations.values() if e.id < 8] == before
    assert len(study.problems) == 1 + bool(caplog.text)
    assert study.problems[-1][1].difference(study.problem) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"parameters": {"x": Real(0, 1), "n": Integer(1, 8)}}, "parameter 'kind' is gone"),
        ({"parameters": {**SPACE, "z": Real(0, 1)}}, "parameter 'z' is new: real"),
        ({"parameters": {**SPACE, "n": Real(1, 8)}}, "parameter n: integer became real"),
        ({"constraints": ["c is true"]}, "outcome c: numbers like .* became a yes or no"),
    ],
)
def test_only_what_makes_data_meaningless_is_refused(given, said):
    store = MemoryStore()
    before = grown(store)
    with pytest.raises(ProblemError, match=rf"(?s)'study' is stored with another problem.*{said}.*pesky copy"):
        again(store, **given)
    assert store.record(before.identity).problem == before.problem.to_json()
    assert before.ask().params


def test_a_yes_or_no_does_not_become_a_number():
    store = MemoryStore()
    s = Study(problem(constraints=["ok is true"]), storage=store)
    Study(problem(constraints=["ok >= 1"]), storage=MemoryStore())
    again(store, constraints=["ok >= 1"])  # nothing was told of it yet
    s = again(store, constraints=["ok is true"])
    s.add({"x": 0.5, "n": 1, "kind": "a"}, {"ok": True})
    with pytest.raises(ProblemError, match=r"outcome ok: a yes or no became a number: write 'ok is true'"):
        again(store, constraints=["ok >= 1"])
    again(store, constraints=[])


def test_the_history_of_problems_is_kept_and_what_is_said_otherwise_is_no_change(caplog):
    store = MemoryStore()
    grown(store, 1)
    again(store, constraints=["c >= 0.1"])
    again(store, constraints=["c >= 0.2"])
    caplog.clear()
    study = again(store, constraints=["c >= 0.2"], tasks={"all": Task(["f", "c"], timeout=3)})
    assert not caplog.text
    again(store, constraints=["c >= 0.2"], tasks={"all": Task(["f", "c"], cost=2, timeout=3)})
    assert "task all: at a cost of 1 became at a cost of 2" in caplog.text
    thresholds = [str(each.constraints[0]) for _, each in study.problems]
    assert thresholds == ["c >= 0", "c >= 0.1", "c >= 0.2", "c >= 0.2"]
    times = [when for when, _ in study.problems]
    assert times == sorted(times)


def test_another_threshold_is_another_answer_from_the_same_data():
    store = MemoryStore()
    study = Study(problem(), storage=store)
    for k in range(5):
        study.add({"x": k / 4, "n": 1, "kind": "b"}, measure({"x": k / 4, "n": 1, "kind": "b"}))
    assert study.recommend().params["x"] == pytest.approx(0.3, abs=0.05)
    assert Study(problem(constraints=["c >= 0.4"]), storage=store).recommend().params["x"] == pytest.approx(
        0.6, abs=0.05
    )


def test_data_outside_narrower_bounds_are_data_and_never_asked_or_recommended():
    """A line falls towards the low end that was cut off: the model still knows it from there."""
    line = Problem({"x": Real(0, 1), "n": Integer(1, 4)}, minimize="f", noise=0.0)
    store = MemoryStore()
    study = Study(line, storage=store)
    for x, n in ((0.0, 1), (0.2, 2), (0.4, 1), (0.1, 3)):
        study.add({"x": x, "n": n}, {"f": x + n})
    narrow = Problem({"x": Real(0.5, 1.0), "n": Integer(2, 4)}, minimize="f", noise=0.0)
    study = Study(narrow, storage=store, rule=QUICK)
    belief = study.belief()
    assert not len(belief.points), "nothing that was measured is in the cube"
    with_data = float(belief.mean(study.space.encode({"x": 0.5, "n": 2})[None])[..., 0, 0].mean())
    assert study.observations().mask.sum() == 4
    assert math.isfinite(with_data)
    for _ in range(4):
        asked = study.ask()
        x, n = float(asked.params["x"]), int(asked.params["n"])
        assert 0.5 <= x <= 1.0
        assert 2 <= n <= 4
        study.tell(asked, {"f": x + n})
    assert dict(study.recommend().params) == {"x": pytest.approx(0.5, abs=0.03), "n": 2}
    place = study.space.place({"x": 0.4, "n": 1})
    assert place is not None
    prediction = study.observations().to_user(0, study.belief().mean(place[None])[..., 0, 0].mean())
    assert float(prediction) == pytest.approx(1.4, abs=0.05), "a point outside is where it was measured"


def test_points_without_a_place_are_kept_and_not_learnt_from():
    store = MemoryStore()
    study = grown(store)
    options = {**SPACE, "kind": Choice(["b", "new"]), "x": Real(0.9, 1.0)}
    study = again(store, parameters=options)
    rows = int(study.observations().mask[0].sum())
    expected = [e for e in study.evaluations.values() if e.params["kind"] == "b" and float(e.params["x"]) >= 0.8]
    assert rows == len(expected) < 8


def test_questions_outside_of_the_space_are_not_asked_again_and_still_answered():
    store = MemoryStore()
    study = Study(problem(), storage=store, initial=MANY)
    outside = [
        study.store.enqueue(study.identity, [Question("all", {"x": 0.9, "n": n, "kind": "a"})])[0] for n in (1, 2)
    ]
    taken = study.ask(worker="w", lease=60)
    narrow = again(store, parameters={**SPACE, "x": Real(0, 0.5)})
    assert float(narrow.ask().params["x"]) <= 0.5
    assert narrow.evaluations[outside[1].id].state is State.ABANDONED
    told = narrow.tell(taken, {"f": 1.0, "c": 1.0})
    assert told.state is State.DONE
    assert narrow.observations().mask[0].sum() == 1


def test_a_task_that_is_no_more_is_answered_and_its_outcomes_are_data():
    store = MemoryStore()
    study = Study(problem(), storage=store, initial=MANY)
    first, second = study.ask(), study.ask()
    study.tell(first, {"f": 1.0, "c": 1.0})
    split = again(store, tasks={"score": Task(["f"]), "check": Task(["c"], failures="learn")})
    split.tell(second, {"f": 2.0})
    assert split.observations().mask.sum(-1).tolist() == [2, 1, 0]
    assert split.spent() == {"score": 0.0, "check": 0.0, "all": 2.0}


def test_who_works_on_a_study_that_changes_ends_with_a_word_and_its_result_is_kept():
    store = MemoryStore()
    study = Study(problem(), storage=store, initial=MANY)

    def change_midway(params: Any) -> dict[str, float]:
        if len(study.evaluations) == 3:
            again(store, constraints=["c >= 0.3"])
        return measure(params)

    with pytest.raises(
        ProblemChanged, match=r"(?s)'study' was continued with another problem.*constraint c >= 0 became c >= 0.3"
    ):
        study.run(change_midway, 9)
    assert [e.state for e in study.evaluations.values()] == [State.DONE] * 3
    with pytest.raises(ProblemChanged):
        study.ask()
    again(store, constraints=["c >= 0.3"]).run(measure, 4)


def test_a_study_that_is_set_aside_is_gone_for_those_who_work_on_it_and_takes_their_results():
    store = MemoryStore()
    study = grown(store, 2)
    asked = study.ask(worker="w", lease=60)
    name = set_aside(store, "study")
    assert name.startswith("study (set aside 20")
    new = Study(problem(), storage=store, initial=MANY)
    assert not new.evaluations
    with pytest.raises(StudyGone, match=r"'study' that was opened here was set aside, as 'study \(set aside"):
        study.ask()
    with pytest.raises(StudyGone):
        _ = study.evaluations
    study.tell(asked, measure(asked.params))
    assert len(Study.load(store, name).evaluations) == 3
    assert not new.evaluations
    assert set_aside(store, "study") != name
    assert len(store.names()) == 2


def test_a_corrected_value_is_learnt_and_the_old_one_kept():
    study = Study(problem(noise=0.01))
    for k in range(5):
        study.add({"x": k / 4, "n": 1, "kind": "b"}, {"f": (k / 4 - 0.3) ** 2, "c": 1.0})
    assert study.recommend().params["x"] == pytest.approx(0.3, abs=0.1)
    study.correct(4, {"f": -5.0}, reason="the sign was wrong")
    assert float(study.recommend().params["x"]) > 0.8
    assert study.evaluations[4].corrections[0].old == pytest.approx(0.49)
    with pytest.raises(DataError, match="unknown outcome 'g'"):
        study.correct(4, {"g": 1.0})
    with pytest.raises(DataError, match="9 is no evaluation of this study"):
        study.correct(9, {"f": 1.0})


def test_an_excluded_evaluation_teaches_nothing_is_paid_for_and_may_be_asked_again():
    tiny = Problem({"n": Integer(1, 3)}, minimize="f", noise=0.0)
    study = Study(tiny, rule="random")
    study.run(lambda params: params["n"], 3)
    study.exclude(1, "the sensor was off")
    assert study.observations().mask.sum() == 2
    assert study.spent() == {"all": 3.0}
    again = study.ask()
    assert again.params == study.evaluations[1].params, "its point is the only one that is not known"
    study.abandon(again)
    study.include(1)
    assert study.observations().mask.sum() == 3
    assert [each.reason for each in study.evaluations[1].corrections] == ["the sensor was off", ""]


def test_what_is_outside_or_excluded_is_not_the_best_that_was_measured():
    store = MemoryStore()
    study = Study(problem(), storage=store)
    for x in (0.3, 0.5, 0.7):
        study.add({"x": x, "n": 1, "kind": "b"}, measure({"x": x, "n": 1, "kind": "b"}))
    narrow = problem(parameters={**dict(reversed(SPACE.items())), "x": Real(0.4, 1)})
    assert best_measured(problem(), study.evaluations.values()) == pytest.approx(0.1)
    assert best_measured(narrow, study.evaluations.values()) == pytest.approx(0.14)
    study.exclude(1)
    assert best_measured(narrow, study.evaluations.values()) == pytest.approx(0.26)


def test_ten_changes_of_mind_lose_nothing(tmp_path, caplog):
    """One stored study, from the first idea to the last: every value that was ever told is there at the end."""
    url, told = f"sqlite:///{tmp_path / 'study.db'}", {}

    def opened(initial: int = MANY, **given: Any) -> Study:
        asked = problem(**given)
        fixed = {name: FixedHyperparameters(0.5, 1.0, 1e-4) for name in asked.outcomes}  # nothing is fitted
        return Study(asked, storage=url, rule=QUICK, model=GP(hyperparameters=fixed), initial=initial)

    def go_on(study: Study, count: int) -> None:
        """Measure so many, deciding where; what is told is remembered."""
        for _ in range(count):
            asked = study.ask()
            assert study.space.contains(asked.params)
            every = {**measure(asked.params), "d": 1.0 - float(asked.params["x"])}
            values = {name: every[name] for name in study.problem.tasks[asked.task].outcomes}
            study.tell(asked, values)
            told.setdefault(asked.id, {}).update(values)

    go_on(opened(), 4)
    first = opened()
    (mine,) = first.enqueue({"x": 0.45, "n": 2, "kind": "b"})  # 1: try my default first
    go_on(first, 1)
    assert dict(first.evaluations[mine.id].outcomes) == told[mine.id]
    given: dict[str, Any] = {"constraints": [Constraint("c", ">=", 0.1, confidence=0.9)]}
    go_on(opened(**given), 1)  # 2: another threshold, with another confidence
    given["parameters"] = {**SPACE, "x": Real(0.1, 0.8), "n": Integer(1, 4)}
    narrow = opened(**given)  # 3: narrower bounds
    go_on(narrow, 1)
    given["parameters"] = {**given["parameters"], "x": Real(0, 2), "kind": Choice(["a", "b", "c"])}
    go_on(opened(**given), 1)  # 4: wider bounds and another option
    rows = [
        {"x": 2.5, "n": 9, "kind": "a", "f": 5.5, "c": 2.3, "by": "ada"},
        {"x": 0.5, "n": 1.0, "kind": "b", "c": 0.3},
    ]
    for e in opened(**given).add(rows):  # 5: data from before, some of them outside
        told[e.id] = dict(e.outcomes)
    given["constraints"] = [*given["constraints"], "d >= -1"]
    go_on(opened(**given), 2)  # 6: a constraint on an outcome that nobody had measured
    study = opened(**given)
    study.correct(0, {"f": told[0]["f"] + 1}, "the scale was off")  # 7: a value was wrong
    study.exclude(1, "the lamp was broken")  # 8: an evaluation cannot be trusted
    assert 1 not in study._snapshot().learnt
    given["tasks"] = {"score": Task(["f"], cost=4, failures="learn"), "check": Task(["c", "d"])}
    go_on(opened(**given), 3)  # 9: measured separately, at other costs
    given |= {"minimize": None, "maximize": "d", "constraints": ["f <= 2", "c >= 0"]}
    last = opened(initial=3, **given)  # 10: another objective
    go_on(last, 1)

    answer = last.recommend()
    assert last.space.contains(answer.params)
    assert answer.objective == "d"
    evaluations = last.evaluations
    assert sorted(evaluations) == sorted(told)
    for id_, values in told.items():
        old = {made.outcome: made.old for made in evaluations[id_].corrections if made.outcome}
        assert {**evaluations[id_].outcomes, **old} == values
    assert evaluations[0].outcomes["f"] == told[0]["f"] + 1
    assert evaluations[1].is_excluded
    assert [e.id for e in evaluations.values() if e.attributes] == [
        rows_id for rows_id in told if told[rows_id] == {"f": 5.5, "c": 2.3}
    ]
    assert len(last.problems) == 7
    assert last.problems[0][1] == problem()
    assert caplog.text.count("goes on, with its data and a changed problem") == 6
    assert Study.load(url).problem == last.problem
