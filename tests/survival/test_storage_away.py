"""A storage that does not answer for a while, and executors that are not ours: nothing is lost or measured twice."""

import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from study.quick import SPLIT, check, quick
from study.quick import measure as measured
from survival.programs import until

from pesky import Budget, StorageError
from pesky.store import MemoryStore, State
from pesky.study.call import Report


def test_a_run_goes_on_when_the_storage_does_not_answer(monkeypatch):
    """Whatever it is asked."""
    store = MemoryStore()
    study, refusals = quick(storage=store), 0
    for name in ("changes", "append", "claim", "tell", "renew"):

        def moody(*arguments: Any, answer: Any = getattr(store, name), calls: Any = None, **options: Any) -> Any:
            nonlocal refusals
            calls.append(1)
            if len(calls) % 3 == 0:
                refusals += 1
                raise StorageError("not now")
            return answer(*arguments, **options)

        moody.__kwdefaults__["calls"] = []
        monkeypatch.setattr(store, name, moody)
    ending = study.run(measured, Budget(evaluations=5), workers=2, watch=lambda progress: None)
    assert (ending.kind, ending.evaluations, ending.failed) == ("budget", 5, 0)
    assert refusals > 5


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
    """Computes and calls back in a single thread, as Dask's client does."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1)
        self.futures: list[Future[Report]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures.append(future)
        self.thread.submit(lambda: future.set_result(fn(*args, **kwargs)))
        return future


def test_an_executor_does_not_wait_for_the_storage(monkeypatch):
    store, executor, is_back = MemoryStore(), EventLoop(), threading.Event()
    study, tell = quick(storage=store), store.tell
    monkeypatch.setattr(store, "tell", lambda *arguments: is_back.wait(60) and tell(*arguments))

    def watch(_: object) -> None:
        if len(executor.futures) == 2 and not is_back.is_set():
            until(lambda: all(future.done() for future in executor.futures), seconds=30)
            is_back.set()

    study.run(measured, Budget(evaluations=4), workers=2, executor=executor, watch=watch)
    assert [e.state for e in study.evaluations.values()] == [State.DONE] * 4


def test_a_run_does_not_wait_for_what_others_have_to_measure():
    """A lost question of a task that is not run here is for those who run it."""
    study = quick(SPLIT)
    study.ask("score", worker="gone", lease=1e-6)
    ending = study.run({"check": check}, Budget(evaluations=4), tasks=["check"])
    assert (ending.kind, ending.evaluations) == ("budget", 3)
