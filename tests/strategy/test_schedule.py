"""Deciding within a share of the measuring: by a clock of our own, and in a study."""

import time

import pytest
from study.quick import measure, quick

from pesky import ProblemError
from pesky.strategy import schedule
from pesky.strategy.schedule import TimeBudget


class Clock:
    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(schedule.time, "monotonic", lambda: self.now)


def simulate(clock: Clock, share: float | None, measuring: float, seconds: dict, count: int) -> tuple[TimeBudget, dict]:
    own, levels = TimeBudget(share), dict.fromkeys(seconds, 0)
    for i in range(count):
        level = own.level() if i else "full"
        levels[level] += 1
        clock.now += seconds[level]
        own.took(level, seconds[level])
        clock.now += measuring
    return own, levels


@pytest.mark.parametrize("share", [0.1, 0.5, 2.0, 10.0])
def test_deciding_takes_no_more_than_its_share(monkeypatch, share):
    seconds = {"full": 0.3, "update": 0.05, "thompson": 0.0}
    own, levels = simulate(Clock(monkeypatch), share, 0.01, seconds, 2000)
    measuring = 2000 * 0.01
    assert own.deciding <= share * measuring + 0.3 + 0.05  # and the first decision, which is always a full one
    assert own.deciding >= min(0.4 * share * measuring, 0.4 * 2000 * 0.3)
    assert levels["full"] > 1
    assert levels["update"] > 1


def test_slow_functions_get_full_decisions(monkeypatch):
    _, levels = simulate(Clock(monkeypatch), 0.5, 10.0, {"full": 0.3, "update": 0.05, "thompson": 0.0}, 50)
    assert levels == {"full": 50, "update": 0, "thompson": 0}


def test_without_a_share_every_decision_is_a_full_one(monkeypatch):
    _, levels = simulate(Clock(monkeypatch), None, 0.0, {"full": 0.3, "update": 0.05, "thompson": 0.0}, 20)
    assert levels["full"] == 20


@pytest.mark.parametrize("given", [0, -1, "half"])
def test_a_share_that_is_none_is_refused(given):
    with pytest.raises(ProblemError, match="deciding_share was"):
        quick(deciding_share=given)


def test_a_study_with_a_share_decides_quickly_and_still_well():
    def runs(share):
        s = quick(deciding_share=share, seed=3)
        began = time.process_time()
        s.run(measure, budget=40)
        return s, time.process_time() - began

    full, slow = runs(None)
    hasty, fast = runs(0.5)
    assert fast < 0.6 * slow
    assert hasty.recommend().expected < full.recommend().expected + 0.05
    points = [(e.params["x"], e.params["y"]) for e in hasty.evaluations.values()]
    assert len(set(points)) == 40
