"""The executor for Ray that docs/adapters.md shows, with a stand-in for Ray, which takes half a minute to start."""

import re
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from study.functions import check, score
from study.quick import SPLIT

from pesky import Study
from pesky.store import State

PAGE = Path(__file__).parents[2] / "docs/adapters.md"


class WorkerCrashedError(Exception):
    """What Ray raises where a worker dies."""


def remote(**options: Any) -> Any:
    return lambda fn: SimpleNamespace(remote=lambda *args, **kwargs: partial(fn, *args, **kwargs))


def get(task: Any) -> Any:
    return task()


def run_page(monkeypatch: pytest.MonkeyPatch, get: Any) -> Study:
    """The study that the page's piece of Python ran."""
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=lambda: None, remote=remote, get=get))
    (block,) = re.findall(r"```python\n([^`]*import ray\n.*?)```", PAGE.read_text(), re.DOTALL)
    study = Study(SPLIT, rule="random")
    block = (
        block.replace("train", "score").replace("profile", "check").replace("budget=900", "budget=33, progress=False")
    )
    exec(compile(block, PAGE.name, "exec"), {"study": study, "score": score, "check": check})
    return study


def test_every_call_is_a_task_of_rays(monkeypatch: pytest.MonkeyPatch):
    tasks: list[Any] = []

    def kept(task: Any) -> Any:
        tasks.append(task)
        return task()

    study = run_page(monkeypatch, kept)
    assert len(tasks) == len(study.evaluations) > 3
    assert {e.state for e in study.evaluations.values()} == {State.DONE}


def test_a_dead_worker_is_an_attempt_that_crashed(monkeypatch: pytest.MonkeyPatch):
    crashes = iter([True])

    def dying(task: Any) -> Any:
        if next(crashes, False):
            raise WorkerCrashedError("the worker died")
        return task()

    study = run_page(monkeypatch, dying)
    (again,) = [e for e in study.evaluations.values() if e.crashes]
    assert (again.state, again.attempts) == (State.DONE, 2)
