"""A program that cannot work anywhere is stopped; what fails otherwise is not."""

import logging

import pytest
from study.quick import COUPLED, SPLIT, measure, quick

from pesky import Problem, Real, Task
from pesky.run.call import MISTAKE, TRACEBACK
from pesky.store import State

LEARNING = Problem(
    {"x": Real(0, 1)}, minimize="f", tasks={"all": Task(["f"], failures="learn")}, noise=0.0
)  # fmt: skip


def broken(params):
    return params["x"] / undefined  # pyright: ignore[reportUndefinedVariable]


def test_three_alike_at_first_end_the_run_with_the_traceback_kept():
    s = quick(rule="random")
    ending = s.run(broken, 20, progress=False)
    assert ending.kind == "failures"
    assert len(s.evaluations) == 3
    assert "the first 3 evaluations all failed in the same way" in ending.reason
    assert "NameError: name 'undefined' is not defined" in ending.reason
    assert "keep_going=True" in ending.reason
    trace = str(s.evaluations[2].attributes[TRACEBACK])
    assert trace.startswith("Traceback (most recent call last)")
    assert 'return params["x"] / undefined' in trace


@pytest.mark.parametrize("returned", [{"f": 1.0}, {"f": 1.0, "c": float("nan")}, None])
def test_no_traceback_is_spoken_of_where_nothing_was_raised(returned):
    ending = quick(rule="random").run(lambda p: returned, 20, progress=False)
    assert ending.kind == "failures"
    assert "traceback" not in ending.reason
    assert ending.reason.endswith("\nkeep_going=True (--keep-going) goes on nevertheless")
    raised = quick(rule="random").run(broken, 20, progress=False)
    assert "study.evaluations[2].attributes (`pesky show --json`) has the whole traceback; keep" in raised.reason


def test_who_wants_to_go_on_does():
    s = quick(rule="random")
    assert s.run(broken, 5, keep_going=True, progress=False).kind == "budget"
    assert len(s.evaluations) == 5


def test_a_program_that_was_mended_goes_on_and_what_failed_before_stops_nothing():
    s = quick(rule="random")
    s.run(broken, 20, progress=False)
    assert s.run(measure, 5, progress=False).kind == "budget"
    assert s.run(broken, 9, progress=False).kind == "budget"  # it has worked before
    assert len(s.evaluations) == 9


def test_failures_that_differ_or_follow_a_success_stop_nothing():
    def differently(params):
        if params["x"] < 0.5:
            raise ValueError("left")
        raise ValueError("right")

    assert quick(rule="random").run(differently, 8, progress=False).kind == "budget"
    times = iter(range(9))

    def once(params):
        return measure(params) if next(times) == 0 else 1 / 0

    assert quick(rule="random").run(once, 6, progress=False).kind == "budget"


def test_each_task_counts_for_itself():
    s = quick(SPLIT, rule="random")
    ending = s.run({"score": lambda p: 1 / 0, "check": lambda p: {"c": p["x"]}}, 200, progress=False)
    assert ending.kind == "failures"
    assert "evaluations of 'score'" in ending.reason


def test_where_failures_are_learnt_only_the_programs_own_stop_it():
    def diverges(params):
        raise RuntimeError("diverged")

    s = quick(LEARNING, rule="random")
    assert s.run(diverges, 5, progress=False).kind == "budget"
    assert quick(LEARNING, rule="random").run(broken, 5, progress=False).kind == "failures"
    assert quick(LEARNING, rule="random").run(lambda p: {"g": 1}, 5, progress=False).kind == "failures"


def test_a_wrong_key_is_never_learnt_and_leaves_its_point_as_it_was():
    s = quick(LEARNING, rule="random")
    s.run(lambda p: {"g": 1.0}, 3, keep_going=True, progress=False)
    assert all(e.state is State.FAILED and e.is_mistake and e.attributes[MISTAKE] for e in s.evaluations.values())
    assert all(dict(e.attributes) == {"g": 1, MISTAKE: True} for e in s.evaluations.values())
    assert not s.observations().mask.any()
    first = s.evaluations[0]
    assert s.ask().params == first.params  # the initial design is measured as if nothing had been


def test_what_else_is_returned_is_kept_and_fails_nothing(tmp_path):
    s = quick(COUPLED, rule="random", storage=f"sqlite:///{tmp_path / 'study.db'}")
    s.run(lambda p: {**measure(p), "epochs": 7, "note": "fine"}, 2, workers=1, progress=False)
    for e in s.evaluations.values():
        assert e.state is State.DONE
        assert dict(e.attributes) == {"epochs": 7, "note": "fine"}


def test_the_log_says_so(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, "pesky"):
        quick(rule="random").run(broken, 20)
    (record,) = (each for each in caplog.records if each.levelno == logging.ERROR)
    assert "all failed in the same way" in record.getMessage()
