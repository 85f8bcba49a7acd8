"""The live view says all that matters, in the columns there are."""

import io
from typing import Literal

import pytest
from rich.console import Console

from pesky.cli.dashboard import DashboardState, dashboard
from pesky.cli.live_view import LiveView
from pesky.problem import Choice, Integer, Problem, Real, Task
from pesky.store import Evaluation, State
from pesky.study import Budget, Progress, Recommendation

NOW = 1_800_000_000.0
PROBLEM = Problem(
    {"rate": Real(1e-5, 1e-1, log=True), "units": Integer(10, 500), "activation": Choice(["relu", "tanh"])},
    minimize="error",
    constraints=["latency_ms <= 2", "converged is true"],
    tasks={"train": Task(["error", "converged"], cost=60), "profile [fast]": Task(["latency_ms"])},
)
PARAMS = {"rate": 0.0123, "units": 411, "activation": "relu"}
EVALUATIONS = [
    *(Evaluation(i, "train", PARAMS, 0.5 / (i + 1), state=State.DONE, outcomes={"error": 0.1}) for i in range(4)),
    Evaluation(
        4,
        "train",
        PARAMS,
        0.1,
        state=State.FAILED,
        error="ValueError: [loss] is NaN\n  train.py:3",
        ended=NOW,
    ),
    Evaluation(5, "train", PARAMS, 0.0321, state=State.RUNNING, began=NOW - 754),
    Evaluation(6, "profile [fast]", PARAMS, 0.01, state=State.RUNNING, began=NOW - 3.2, attempts=2),
]


class Watched:
    """A study as a view sees it."""

    def __init__(self, recommend=None):
        self.problem, self.name = PROBLEM, "network"
        self.evaluations = {e.id: e for e in EVALUATIONS}
        self.calls, self._recommend = 0, recommend

    def recommend(self):
        self.calls += 1
        if self._recommend is None:
            raise RuntimeError("singular")
        return self._recommend


def progress(study, state: Literal["asking", "waiting", "stopping"] = "waiting", done=4, running=2, **budget):
    """Where a run stands, made up."""
    return Progress(
        study=study, last=None, budget=Budget(**(budget or {"evaluations": 40})), running=EVALUATIONS[5 : 5 + running],
        spent={"train": 360.0, "profile [fast]": 1.0}, done=done, failed=1, lost=0, seconds=1234.5, state=state,
    )  # fmt: skip


def best(is_confident=True):
    probabilities = {"latency_ms <= 2": 0.952, "converged is true": 0.99}
    return Recommendation(PARAMS, "error", 0.0948, 0.004, (0.088, 0.101), probabilities, is_confident)


def text(state, width):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(dashboard(state, NOW))
    return console.export_text()


@pytest.mark.parametrize("width", [80, 120])
def test_everything_is_seen_and_fits(width):
    state = DashboardState("network.db", best=best())
    state.take(progress(Watched()))
    shown = text(state, width)
    assert {len(line) for line in shown.splitlines()} == {width}
    for part in (
        "network: minimize error",
        "5 of 40",
        "20 min 34 s",
        "best so far   error = 0.0948 ± 0.004 expected, not measured yet",
        "rate=0.0123, units=411, activation=relu",
        "P(latency_ms <= 2) = 0.952",
        "train                6     360             0.0321",
        "profile [fast]       1       1               0.01",
        "#5 train",
        "12 min 34 s",
        "#6 profile [fast], attempt 2",
        "3.2 s",
        "4 done, 1 failed, 0 lost",
        "last failure  #4 ValueError: [loss] is NaN",
        "network.db",
    ):
        assert part in shown


def test_limits_have_bars_and_doubts_are_said():
    state = DashboardState("network.db", best=best(is_confident=False))
    state.take(progress(Watched(), "asking", cost=1000, seconds=7200, gain_per_cost=1e-3))
    shown = text(state, 80)
    assert "361 of 1000" in shown
    assert "20 min 34 s of 2 h 00 min" in shown
    assert "ends below 0.001 nats per cost" in shown
    assert "likeliest" in shown
    assert "deciding what to ask next" in shown


def test_an_end_that_waits_says_for_what():
    state = DashboardState("network.db")
    state.take(progress(Watched(), "stopping", running=1))
    shown = " ".join(text(state, 80).replace("│", " ").split())
    assert "Asking no more; waiting for one measurement to end (Ctrl-C lets go of it)." in shown
    assert "not known yet" in shown


def test_a_recommendation_that_fails_ends_no_run():
    study = Watched()
    view = LiveView(Console(file=io.StringIO()), "network.db")
    view(progress(study))
    assert study.calls == 1
    assert "RuntimeError: singular" in text(view._state, 80)


def test_recommendations_wait_for_data_and_for_each_other(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("pesky.cli.live_view.time.monotonic", lambda: now[0])
    study = Watched(best())
    view = LiveView(Console(file=io.StringIO()), "network.db")
    view(progress(study, done=4))
    view(progress(study, done=5))
    assert study.calls == 1
    now[0] += 2.5
    view(progress(study, "asking", done=5))
    assert study.calls == 1
    view(progress(study, done=5))
    view(progress(study, done=5))
    assert study.calls == 2
    now[0] += 2.5
    view(progress(study, done=5))
    assert study.calls == 2
