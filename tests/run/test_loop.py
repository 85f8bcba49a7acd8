"""The loop: budgets, slots, failures, interruptions; nothing asked is lost and nothing told vanishes."""

import math
import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest
from study.quick import COUPLED, QUICK, SPACE, SPLIT, at, check, measure, quick, score

from pesky import Budget, Outcome, PeskyError, Problem, ProblemError, Resource, Task
from pesky.acquire import rule_of
from pesky.errors import StorageAway
from pesky.run.leases import worker_name
from pesky.run.progress import Progress
from pesky.store import Limit, State
from pesky.strategy import Situation


def states(study) -> Counter:
    return Counter(e.state.value for e in study.evaluations.values())


def test_a_run_spends_its_budget_and_not_more():
    s = quick()
    ending = s.run(measure, budget=6)
    assert (ending.kind, ending.evaluations, ending.failed) == ("budget", 6, 0)
    assert "cost of 6 is spent" in ending.reason
    assert states(s) == {"done": 6}
    assert all(e.seconds is not None for e in s.evaluations.values())
    assert s.run(measure, budget=6).evaluations == 6  # what was spent before counts
    assert s.run(measure, budget=Budget(evaluations=8)).evaluations == 8


def test_a_budget_of_cost_buys_what_it_can_afford():
    s = quick(SPLIT)
    s.run({"score": score, "check": check}, budget=45)
    spent = s.spent()
    assert sum(spent.values()) <= 45
    assert sum(spent.values()) > 44  # a check costs 1: what is left buys nothing
    assert spent["score"] >= 30  # three initial points


def test_what_is_left_of_a_budget_is_not_spent_on_what_tells_nothing(monkeypatch):
    """A score cannot be afforded any more, and checks are cheap but tell nothing."""
    s = quick(SPLIT)
    query = Situation.query

    def pointless(situation, values, decision, kind):
        return query(situation, values, decision._replace(gain=1e-9), kind)

    monkeypatch.setattr(Situation, "query", pointless)
    ending = s.run({"score": score, "check": check}, budget=Budget(cost=40, confirm=0))
    assert ending.kind == "budget"
    assert "the rest is too little for a measurement that would tell more" in ending.reason
    assert 30 < sum(s.spent().values()) < 40


def test_your_own_data_cost_nothing():
    s = quick()
    for i in range(4):
        params = {"x": 0.2 * i + 0.1, "y": i - 1.5}
        s.add(params, measure(params))
    ending = s.run(measure, budget=2)
    assert ending.evaluations == 2
    assert len(s.evaluations) == 6


def test_time_ends_a_run():
    def slow(params):
        time.sleep(0.2)
        return measure(params)

    began = time.monotonic()
    ending = quick().run(slow, budget=Budget(seconds=0.5))
    assert ending.kind == "seconds"
    assert ending.evaluations >= 1
    assert time.monotonic() - began < 20


def test_a_run_ends_when_nothing_is_worth_its_price():
    s = quick()
    ending = s.run(measure, budget=Budget(evaluations=60, gain_per_cost=1e6, confirm=0))
    assert ending.kind == "gain"
    assert ending.evaluations == 3  # the initial design has no gain to compare
    assert "nothing is left worth its price" in str(ending)


@pytest.mark.parametrize(("noise", "evaluations"), [(0.0, 4), (0.5, 3)])
def test_a_coarse_look_does_not_end_a_run(noise, evaluations):
    """Its gain is a coarse one; the question after it says what is left. Under noise there is no look."""
    s = quick(replace(COUPLED, noise=noise), rule=rule_of(QUICK, coarse=1e-3), confirming_share=0)
    ending = s.run(measure, budget=Budget(evaluations=60, gain_per_cost=1e6, confirm=0))
    assert (ending.kind, ending.evaluations) == ("gain", evaluations)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the budget was empty"),
        ({"evaluations": 0}, "evaluations was 0"),
        ({"evaluations": 2.5}, "evaluations was 2.5"),
        ({"cost": -1}, "cost was -1: expected a number above 0"),
        ({"seconds": float("nan")}, "seconds was nan"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(given, message):
    with pytest.raises(ProblemError, match=message):
        Budget(**given)


@pytest.mark.parametrize(
    ("functions", "options", "message"),
    [
        (measure, {}, "one function was given for the tasks 'score', 'check'"),
        ({"score": score}, {}, "nothing measures the task 'check'"),
        ({"score": score, "chekc": check}, {}, "Did you mean 'check'"),
        ({"score": score, "check": 3}, {}, "what measures 'check' was 3"),
        ({"score": score, "check": check}, {"tasks": ["skore"]}, "unknown task 'skore'"),
        ({"score": score, "check": check}, {"workers": 0}, "workers was 0"),
        ({"score": score, "check": check}, {"lease": 0}, "lease was 0"),
        ({"score": score, "check": check}, {"on_interrupt": "panic"}, "on_interrupt was 'panic'"),
    ],
)
def test_a_run_that_cannot_be_is_refused_before_anything_is_asked(functions, options, message):
    s = quick(SPLIT)
    with pytest.raises(ProblemError, match=message):
        s.run(functions, budget=5, **options)
    assert not s.evaluations


def test_a_function_that_misbehaves_never_ends_the_study():
    calls = iter(range(100))

    def moody(params):
        misbehave = [
            lambda: 1 / 0,
            lambda: {"f": float("nan"), "c": 1.0},
            lambda: {"f": 1.0},
            lambda: {"f": 1.0, "c": 1.0, "g": 2.0},
            lambda: None,
            lambda: 3.0,
            lambda: {"f": "high", "c": 1.0},
            lambda: exit(3),
        ]
        i = next(calls)
        return misbehave[i]() if i < len(misbehave) else measure(params)

    s = quick()
    ending = s.run(moody, budget=14)
    assert (ending.evaluations, ending.failed) == (7, 7)
    errors = [e.error for e in s.evaluations.values() if e.state is State.FAILED]
    expected = ["ZeroDivisionError", "nan", "no 'c'", "None", "3.0", "'high'", "SystemExit"]
    for error, text in zip(errors, expected, strict=True):
        assert error is not None
        assert text in error
    assert s.evaluations[1].outcomes == {"c": 1.0}  # what could be measured is kept
    assert s.recommend().params


@pytest.mark.parametrize("workers", [None, 2])
def test_a_value_outside_of_its_declared_range_fails_its_evaluation_alone(workers):
    declared = replace(COUPLED, ranges={"c": Outcome("c", low=0), "f": Outcome("f", low=-100)})
    s = quick(declared, rule="random")
    ending = s.run(measure, 8, workers=workers, progress=False)
    assert ending.evaluations > 0 < ending.failed
    for e in s.evaluations.values():
        expected = measure(e.params)
        is_inside = expected["c"] >= 0
        assert e.state is (State.DONE if is_inside else State.FAILED)
        assert dict(e.outcomes) == (expected if is_inside else {"f": expected["f"]})
        assert e.error is None or ("outcome 'c' was -" in e.error and "expected a value from 0, as" in e.error)
        assert not e.is_mistake


def test_a_failing_point_is_not_asked_again_and_again():
    """Where failures are not learnt, the question that failed would stay the most informative one for ever.

    What is to be the answer is tried twice.
    """

    def fails_late(params, calls=iter(range(100))):  # noqa: B008
        if next(calls) > 3:
            raise ValueError("no")
        return measure(params)

    s = quick()
    s.run(fails_late, budget=10)
    failed = [(at(e.params), e.kind) for e in s.evaluations.values() if e.state is State.FAILED]
    assert len(failed) == 6
    for i, (one, kind) in enumerate(failed):
        again = [other for two, other in failed[:i] if math.dist(one, two) < 1e-3]
        assert again in ([], ["confirming"] * (kind == "confirming"))


def test_evaluations_in_processes_run_side_by_side_and_survive_their_death():
    def deadly(params):
        if params["x"] > 0.5:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.3)
        return measure(params)

    s = quick()
    most = 0

    def watch(progress: Progress):
        nonlocal most
        most = max(most, len(progress.running))

    ending = s.run(deadly, budget=6, workers=2, attempts=2, watch=watch)
    assert most == 2
    assert ending.evaluations + ending.failed == 6
    dead = [e for e in s.evaluations.values() if at(e.params)[0] > 0.5]
    assert dead
    assert all(e.state is State.FAILED and e.attempts == 2 and "SIGKILL" in str(e.error) for e in dead)


def test_a_function_that_hangs_is_stopped():
    hanging = replace_task(COUPLED, timeout=1.0)

    def hangs(params):
        while params["x"] > 0.5:
            time.sleep(0.1)
        return measure(params)

    s = quick(hanging)
    ending = s.run(hangs, budget=4)
    assert ending.evaluations + ending.failed == 4
    late = [e for e in s.evaluations.values() if e.state is State.FAILED]
    assert late
    assert all("time-out" in str(e.error) for e in late)


def replace_task(problem: Problem, **changes) -> Problem:
    tasks = {name: Task(**{"outcomes": task.outcomes, **changes}) for name, task in problem.tasks.items()}
    return Problem(dict(problem.parameters), "f", constraints=problem.constraints, tasks=tasks, noise=0.01)


def test_any_executor_will_do():
    s = quick()
    with ThreadPoolExecutor(2) as pool:
        ending = s.run(measure, budget=6, executor=pool)
    assert ending.evaluations == 6


def test_an_executor_that_hangs_is_not_waited_for():
    release = threading.Event()

    def hangs(params):
        if params["x"] > 0.5:
            release.wait(60)
        return measure(params)

    s = quick(replace_task(COUPLED, timeout=0.5))
    with ThreadPoolExecutor(8) as pool:
        ending = s.run(hangs, budget=5, executor=pool, workers=2)
        failed = states(s)["failed"]
        release.set()
    assert ending.evaluations + ending.failed == 5
    assert failed > 0
    end = time.monotonic() + 60
    while states(s)["done"] < 5 and time.monotonic() < end:  # late results are facts, and on their way
        time.sleep(0.05)
    assert states(s)["done"] == 5


def test_an_executor_that_breaks_its_promise_loses_nothing():
    class Careless(ThreadPoolExecutor):
        """Every second future is cancelled."""

        calls = 0

        def submit(self, fn, /, *args, **kwargs):
            Careless.calls += 1
            future = super().submit(fn, *args, **kwargs)
            if Careless.calls % 2:
                future = Future()
                future.cancel()
                future.set_running_or_notify_cancel()
            return future

    s = quick()
    with Careless(1) as pool:
        ending = s.run(measure, budget=5, executor=pool, attempts=4)
    assert ending.evaluations == 5
    assert sorted(e.attempts for e in s.evaluations.values()) == [2] * 5


def test_resources_have_slots_and_run_their_own_tasks():
    problem = Problem(
        SPACE,
        minimize="f",
        constraints=["c >= 0"],
        tasks={"score": Task(["f"]), "check": Task(["c"])},
        resources={"big": Resource(["score"], slots=1), "small": Resource(["check"], slots=2)},
        noise=0.01,
    )
    seen: list[Counter] = []

    def slowly(function):
        def slow(params):
            time.sleep(0.15)
            return function(params)

        return slow

    s = quick(problem)
    s.run(
        {"score": slowly(score), "check": slowly(check)},
        budget=Budget(evaluations=12),
        watch=lambda progress: seen.append(Counter(e.task for e in progress.running)),
    )
    assert max(c["score"] for c in seen) == 1
    assert max(c["check"] for c in seen) == 2
    assert max(c.total() for c in seen) == 3
    assert states(s) == {"done": 12}


def test_a_run_of_some_tasks_asks_only_those():
    s = quick(SPLIT)
    s.run({"check": check}, budget=Budget(evaluations=4), tasks=["check"])
    assert {e.task for e in s.evaluations.values()} == {"check"}


def test_a_first_interrupt_waits_and_a_second_lets_go():
    s = quick()

    def interrupts(params):
        raise KeyboardInterrupt

    ending = s.run(interrupts, budget=5)
    assert ending.kind == "interrupted"
    assert states(s) == {"lost": 1}
    assert s.run(measure, budget=5).evaluations == 5  # the lost one among them
    assert [e.attempts for e in s.evaluations.values()] == [2, 1, 1, 1, 1]


@pytest.mark.parametrize("on_interrupt", ["wait", "release"])
def test_interrupted_while_processes_measure(on_interrupt):
    s = quick()

    def slow(params):
        time.sleep(1.0)
        return measure(params)

    def watch(progress: Progress):
        if len(progress.running) == 2 and not fired:
            fired.append(True)
            signal.raise_signal(signal.SIGINT)

    fired: list[bool] = []
    ending = s.run(slow, budget=5, workers=2, watch=watch, on_interrupt=on_interrupt)
    assert ending.kind == "interrupted"
    assert states(s) == ({"done": 2} if on_interrupt == "wait" else {"lost": 2})


def test_what_was_measured_is_told_again_until_the_storage_answers():
    s = quick()
    tell, failures = s.store.tell, iter([True, True, False] * 20)

    def flaky(*args, **kwargs):
        if next(failures):
            raise StorageAway("not now")
        return tell(*args, **kwargs)

    s.store.tell = flaky
    assert s.run(measure, budget=4).evaluations == 4
    assert states(s) == {"done": 4}


def test_a_lease_is_renewed_while_a_function_runs():
    def slow(params):
        time.sleep(1.2)
        return measure(params)

    s = quick(initial=1)
    s.run(slow, budget=1, lease=0.4)
    assert [e.attempts for e in s.evaluations.values()] == [1]


def test_evaluations_of_a_dead_process_are_free_at_once():
    """Its lease has a day to go, but the process that held it is no more."""
    s = quick()
    *start, place, began = worker_name().split(":")
    assert len(start) == 3
    host, _, token = start
    dead = s.ask(worker=f"{host}:999999999:{token}:{place}:{began}", lease=86400)
    alive = s.ask(worker=worker_name(), lease=0.5)
    ending = s.run(measure, budget=3)
    assert ending.evaluations == 3
    assert s.evaluations[dead.id].attempts == 2
    assert s.evaluations[alive.id].attempts == 2  # this one was waited for until its lease ran out


def test_a_function_that_cannot_be_loaded_elsewhere_ends_the_run_with_its_reason(tmp_path, monkeypatch):
    """No other point would be better: to try them all would only spend the budget."""
    (tmp_path / "vanishes.py").write_text("def measure(params):\n    return 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import vanishes  # pyright: ignore[reportMissingImports]

    (tmp_path / "vanishes.py").write_text("raise ImportError('gone')")
    s = quick(Problem(SPACE, minimize="f"))
    with pytest.raises(PeskyError, match="gone"):
        s.run(vanishes.measure, budget=5, workers=1)
    assert states(s) == {"lost": 1}


def test_a_limit_of_evaluations_is_kept_by_ask_itself():
    s = quick()
    for _ in range(3):
        s.ask(limit=Limit(evaluations=3))
    with pytest.raises(ValueError, match="budget of 3 evaluations is spent"):
        s.ask(limit=Limit(evaluations=3))
