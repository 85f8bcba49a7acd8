"""Test problems whose outcomes are measured by tasks of different costs."""

from dataclasses import replace

from pesky.problem import Task
from pesky.test_functions.base import Benchmark
from pesky.test_functions.gardner2 import gardner2
from pesky.test_functions.welded_beam import welded_beam


def gardner2_costs(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Gardner et al.'s simulation 2, whose small feasible region is looked for at a tenth of the objective's cost."""
    tasks = {"objective": Task(["f"], cost=10.0), "constraint": Task(["c1"], cost=1.0)}
    return _with_tasks(gardner2(noise, confidence), tasks)


def welded_beam_costs(noise: float = 0.0, confidence: float = 1 - 0.05 / 7) -> Benchmark:
    """The welded beam: price and measures are read off its drawing, strength and stiffness cost ten times as much."""
    tasks = {
        "drawing": Task(["f", "c3", "c4", "c5"], cost=1.0),
        "simulation": Task(["c1", "c2", "c6", "c7"], cost=10.0),
    }
    return _with_tasks(welded_beam(noise, confidence), tasks)


def _with_tasks(benchmark: Benchmark, tasks: dict[str, Task]) -> Benchmark:
    return replace(benchmark, problem=replace(benchmark.problem, tasks=tasks))
