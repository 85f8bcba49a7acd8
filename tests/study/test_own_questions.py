"""What the user wants measured first, and what one study takes over from another."""

from typing import Any

import pytest

from pesky import Choice, Integer, Problem, Real, Study, Task
from pesky.errors import DataError, ProblemError
from pesky.store import Limit, MemoryStore, State
from pesky.study import Budget, Exhausted

SPACE = {"x": Real(0, 1), "n": Integer(1, 4)}
PROBLEM = Problem(
    SPACE, minimize="f", tasks={"score": Task(["f"], cost=3), "check": Task(["c"])}, constraints=["c >= 0"]
)
MINE = {"x": 0.125, "n": 3}


def study(**given: Any) -> Study:
    return Study(PROBLEM, **{"initial": 20, **given})


def test_what_is_enqueued_is_asked_first():
    s = study()
    first, second = s.enqueue(MINE)
    assert [(e.task, e.state, e.price) for e in (first, second)] == [("score", "queued", 3.0), ("check", "queued", 1.0)]
    assert first.why == {"kind": "enqueued"}
    asked = s.ask("check")
    assert (asked.id, dict(asked.params), asked.state) == (second.id, MINE, State.PENDING)
    assert s.ask().id == first.id
    assert dict(s.ask().params) != MINE
    assert s.spent() == {"score": 6.0, "check": 1.0}


def test_a_run_measures_it_first_and_within_its_budget():
    s = study()
    s.enqueue({"x": "0.125", "n": 3.0}, "check")
    s.enqueue({"x": 0.25, "n": 1}, ["score"])
    called: list[Any] = []

    def measure(params: Any) -> float:
        called.append((params["x"], params["n"]))
        return 1.0

    s.run({"score": measure, "check": measure}, Budget(evaluations=3))
    assert called[:2] == [(0.125, 3), (0.25, 1)]
    assert len(called) == 3
    s.enqueue(MINE)
    ending = s.run({"score": measure, "check": measure}, Budget(evaluations=4))
    assert (ending.kind, len(called)) == ("budget", 4)
    with pytest.raises(Exhausted):
        s.ask(limit=Limit(4))
    assert [e.state for e in s.evaluations.values()].count(State.QUEUED) == 1, "it waits for a larger budget"


def test_what_is_outside_of_the_space_is_refused():
    s = study()
    for params, words in (
        ({"x": 2, "n": 1}, "'x' was 2.0: expected a number from 0.0 to 1.0"),
        ({"x": 0.5}, "'n' is missing"),
        ({**MINE, "z": 1}, "unknown parameter 'z'"),
        ({"x": 0.5, "n": 1.5}, "'n' was 1.5"),
    ):
        with pytest.raises(DataError, match=words):
            s.enqueue(params)
    with pytest.raises(ProblemError, match="unknown task 'scroe'"):
        s.enqueue(MINE, "scroe")
    assert not s.evaluations


def test_who_asks_at_a_point_gets_it():
    s = study()
    s.enqueue({"x": 0.5, "n": 1}, "check")
    asked = s.ask(params=MINE, worker="me")
    assert (asked.task, dict(asked.params), asked.worker, asked.attempts) == ("score", MINE, "me", 1)
    assert [(e.task, e.state) for e in s.evaluations.values() if dict(e.params) == MINE] == [
        ("score", State.PENDING), ("check", State.QUEUED)
    ]  # fmt: skip
    with pytest.raises(Exhausted):
        s.ask(params=MINE, limit=Limit(1))


def test_what_is_queued_is_waited_for_and_can_be_abandoned():
    exact = Problem({"n": Integer(1, 2)}, minimize="f", noise=0.0)
    s = Study(exact, rule="random")
    (queued,) = s.enqueue({"n": 1})
    s.abandon(queued)
    assert s.evaluations[0].state is State.ABANDONED
    (queued,) = s.enqueue({"n": 1})
    told = s.tell(queued, {"f": 1.0})
    assert (told.state, told.is_yours) == (State.DONE, True)
    assert dict(s.ask().params) == {"n": 2}


def test_a_study_takes_over_what_can_be_kept_of_another():
    store = MemoryStore()
    old = Study(
        Problem({**SPACE, "oven": Choice(["gas", "wood"])}, minimize="f", constraints=["c >= 0"]), storage=store
    )
    for x, oven in ((0.25, "gas"), (0.5, "wood"), (0.75, "gas")):
        old.add({"x": x, "n": 2, "oven": oven}, {"f": x, "c": 1.0})
    old.add({"x": 0.9, "n": 2, "oven": "gas"}, {"c": 1.0})
    old.exclude(2)
    old.ask()
    new = Study(
        Problem({"x": Real(0, 1), "n": Real(1, 4), "salt": Real(0, 1)}, minimize="f"), storage=store, name="new"
    )
    for fixed, words in (
        ({}, "the parameter 'salt' is new: say at which value the old data were measured"),
        ({"salt": 0.5}, "the parameter 'oven' is no more: say at which value old data are still good"),
        ({"salt": 0.5, "oven": "coal"}, "'oven' was 'coal': expected one of 'gas', 'wood'"),
        ({"salt": 0.5, "oven": "gas", "x": 1.0}, "'x' is not one that only one of the two studies has"),
    ):
        with pytest.raises(DataError, match=words):
            new.adopt(old, fixed)
    (kept,) = new.adopt(old, {"salt": 0.5, "oven": "gas"})
    assert (dict(kept.params), dict(kept.outcomes)) == ({"x": 0.25, "n": 2.0, "salt": 0.5}, {"f": 0.25})
    assert kept.attributes["copied from"] == f"study ({old.identity[:6]}) #0"
    assert new.adopt(old, {"salt": 0.5, "oven": "gas"}) == [], "what is there is not taken twice"
    assert len(new.adopt(old, {"salt": 0.5, "oven": "wood"})) == 1
    assert len(old.evaluations) == 5
