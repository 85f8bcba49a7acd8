"""A small problem that decides in milliseconds, for tests of everything around the deciding."""

import math
from typing import Any

from pesky import Problem, Real, Study, Task
from pesky.acquire import PescOptions
from pesky.acquire.pesc.rule import PredictiveEntropySearch

QUICK = PredictiveEntropySearch(PescOptions(samples=6, draws=30, local_reach=0.2, polish_steps=3, candidates=64))
SPACE = {"x": Real(0, 1), "y": Real(-2, 2)}
COUPLED = Problem(SPACE, minimize="f", constraints=["c >= 0"], noise=0.01)
SPLIT = Problem(
    SPACE,
    minimize="f",
    constraints=["c >= 0"],
    tasks={"score": Task(["f"], cost=10), "check": Task(["c"], cost=1)},
    noise=0.01,
)


def measure(params: Any) -> dict[str, float]:
    x, y = params["x"], params["y"]
    return {"f": (x - 0.4) ** 2 + 0.3 * y, "c": y + 1 + 0.2 * math.sin(5 * x)}


def score(params: Any) -> float:
    return measure(params)["f"]


def check(params: Any) -> float:
    return measure(params)["c"]


def at(params: Any) -> tuple[float, float]:
    """The point of an evaluation or a recommendation, as numbers."""
    return float(params["x"]), float(params["y"])


def quick(problem: Problem = COUPLED, **given: Any) -> Study:
    arguments: dict[str, Any] = {"rule": QUICK, **given}
    return Study(problem, **arguments)
