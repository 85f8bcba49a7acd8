"""A storage that does not answer for a while, and executors that are not ours: nothing is lost or measured twice."""

import threading
import time
from collections import Counter
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from study.quick import SPLIT, check, quick
from study.quick import measure as measured
from survival.programs import until

from pesky import Budget
from pesky.errors import StorageAway
from pesky.store import MemoryStore, State


class Moody:
    """A store that does not answer at every third call of whichever method."""

    def __init__(self) -> None:
        self.store, self.calls = MemoryStore(), Counter()

    def __getattr__(self, name: str) -> Any:
        answer = getattr(self.store, name)

        def call(*arguments: Any, **options: Any) -> Any:
            self.calls[name] += 1
            if self.calls[name] % 3 == 0:
                raise StorageAway("not now")
            return answer(*arguments, **options)

        return call


def test_a_run_goes_on_when_the_storage_does_not_answer():
    store = Moody()
    ending = quick(storage=store).run(measured, Budget(evaluations=5), workers=2, watch=lambda progress: None)
    assert (ending.kind, ending.evaluations, ending.failed) == ("budget", 5, 0)
    assert all(store.calls[name] >= 3 for name in ("changes", "claim", "append", "tell"))


def test_what_is_lost_while_it_is_measured_here_is_not_measured_twice():
    """As after an outage that was longer than the lease."""
    hours, calls = [0.0], []

    def slow(params: Any) -> dict[str, float]:
        calls.append(params)
        if len(calls) == 2:
            hours[0] += 1.0
            until(lambda: len(study.evaluations) > 3)
        return measured(params)

    study = quick(storage=MemoryStore(clock=lambda: time.time() + 3600 * hours[0]))
    study.run(slow, Budget(evaluations=5), workers=2, executor=ThreadPoolExecutor(2))
    assert [e.attempts for e in study.evaluations.values()].count(2) >= 1
    assert all(e.state is State.DONE for e in study.evaluations.values())
    assert len(calls) == 5


class EventLoop(Executor):
    """Calls back in the one thread that does all its work, as Dask's client does."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="event loop")

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.thread.submit(lambda: future.set_result(fn(*args, **kwargs)))
        return future


def test_an_executor_never_waits_for_the_storage(monkeypatch):
    store, who = MemoryStore(), []
    tell = store.tell
    monkeypatch.setattr(
        store, "tell", lambda *given, **named: who.append(threading.current_thread().name) or tell(*given, **named)
    )
    quick(storage=store).run(measured, Budget(evaluations=4), workers=2, executor=EventLoop())
    assert len(who) >= 4
    assert not any(name.startswith("event loop") for name in who)


def test_a_run_does_not_wait_for_what_others_have_to_measure():
    """A lost question of a task that is not run here is for those who run it."""
    study = quick(SPLIT)
    study.ask("score", worker="gone", lease=1e-6)
    ending = study.run({"check": check}, Budget(evaluations=4), tasks=["check"])
    assert (ending.kind, ending.evaluations) == ("budget", 3)
