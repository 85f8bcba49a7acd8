"""Callbacks: after each result, with what was told; whatever they do, the study goes on."""

import logging
from typing import Any

import pytest
from study.quick import SPLIT, measure, quick, score

from pesky import ProblemError
from pesky.store import Evaluation


def test_each_is_called_after_each_result_in_order():
    calls: list[tuple[str, int, dict[str, float]]] = []
    s = quick()

    def first(study: Any, evaluation: Evaluation) -> None:
        assert study is s
        assert study.evaluations[evaluation.id].outcomes == evaluation.outcomes
        calls.append(("first", evaluation.id, dict(evaluation.outcomes)))

    def second(study: Any, evaluation: Evaluation) -> None:
        calls.append(("second", evaluation.id, dict(evaluation.outcomes)))

    s.run(measure, budget=3, callbacks=[first, second])
    told = [(e.id, dict(e.outcomes)) for e in s.evaluations.values()]
    assert calls == [(name, *each) for each in told for name in ("first", "second")]


def test_failures_are_told_of_too_and_workers_call_it_here():
    seen: list[Evaluation] = []
    s = quick(SPLIT)
    ending = s.run(
        {"score": score, "check": lambda params: 1 / 0},
        budget=33,
        workers=2,
        callbacks=[lambda study, evaluation: seen.append(evaluation)],
        keep_going=True,
    )
    assert len(seen) == ending.evaluations + ending.failed == len(s.evaluations)
    assert {(e.task, e.state.value) for e in seen} == {("score", "done"), ("check", "failed")}


def test_one_that_raises_ends_nothing_and_is_warned_about(caplog: pytest.LogCaptureFixture):
    seen: list[int] = []

    def broken(study: Any, evaluation: Evaluation) -> None:
        raise RuntimeError(f"no server for {evaluation.id}")

    with caplog.at_level(logging.WARNING, "pesky"):
        ending = quick().run(
            measure, budget=3, callbacks=[broken, lambda study, evaluation: seen.append(evaluation.id)]
        )
    assert (ending.kind, seen) == ("budget", [0, 1, 2])
    assert [f"'broken' failed on evaluation {n}" in caplog.text for n in range(3)] == [True] * 3
    assert "RuntimeError: no server for 2" in caplog.text


def test_a_callback_may_ask_for_more():
    s = quick()

    def enqueue(study: Any, evaluation: Evaluation) -> None:
        if evaluation.id == 0:
            study.enqueue({"x": 0.25, "y": 0.75})

    s.run(measure, budget=2, callbacks=[enqueue])
    assert s.evaluations[1].params == {"x": 0.25, "y": 0.75}


@pytest.mark.parametrize(
    ("given", "message"),
    [(print, r"callbacks was <built-in function print>.*list"), (["log"], "callbacks: 'log' is no function"), (3, "3")],
)
def test_what_is_no_list_of_functions_is_refused(given: Any, message: str):
    s = quick()
    with pytest.raises(ProblemError, match=message):
        s.run(measure, budget=3, callbacks=given)
    assert not s.evaluations
