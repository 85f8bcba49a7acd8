"""A small problem that decides in milliseconds, for tests of everything around the deciding."""

from typing import Any

from study.functions import check, measure, score

from pesky import Problem, Real, Study, Task
from pesky.acquire import EntropySearchByEP

__all__ = ["COUPLED", "QUICK", "SPACE", "SPLIT", "at", "check", "measure", "quick", "score"]

QUICK = EntropySearchByEP(samples=6, draws=30, local_reach=0.2, polish_steps=3, candidates=64, fine_from=0, coarse=None)
SPACE = {"x": Real(0, 1), "y": Real(-2, 2)}
COUPLED = Problem(SPACE, minimize="f", constraints=["c >= 0"], noise=0.01)
SPLIT = Problem(
    SPACE,
    minimize="f",
    constraints=["c >= 0"],
    tasks={"score": Task(["f"], cost=10), "check": Task(["c"], cost=1)},
    noise=0.01,
)


def at(params: Any) -> tuple[float, float]:
    """The point of an evaluation or a recommendation, as numbers."""
    return float(params["x"]), float(params["y"])


def quick(problem: Problem = COUPLED, **given: Any) -> Study:
    arguments: dict[str, Any] = {"rule": QUICK, **given}
    return Study(problem, **arguments)
