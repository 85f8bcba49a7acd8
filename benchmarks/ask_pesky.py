"""Asks of a pesky study, with the CPU seconds of their parts; and its recommendation."""

from collections.abc import Callable

import torch

import pesky
from benchmarks.case import Measured
from pesky.numerics.runtime import now

PARTS = ("hyperparameters", "x*", "given x*", "maximizing")


def prepare_pesc(
    measured: Measured, seed: int, rule: str, count: int | None = None, device: str = "cpu"
) -> Callable[[], dict[str, float]]:
    """An ask by this rule, that returns the seconds of each of `PARTS`.

    It is not the first question of its study: all but the last of the data were believed before. With a `count` it asks
    for as many at once.
    """
    study, tell = _study(measured, seed, rule, device)
    tell(slice(None, -1))
    study.belief()
    tell(slice(-1, None))

    there = torch.empty(0, device=device)

    def ask() -> dict[str, float]:
        start = now(there)
        study.belief()
        fitted = now(there)
        if count is None:
            study.ask()
        else:
            study.ask(count)
        assert study.decision is not None
        stages = study.decision.seconds
        given = stages.get("ep", 0.0) + stages.get("samples", 0.0)
        # the last question of several has the samples of x* of the first
        seconds = (fitted - start, stages.get("x*", 0.0), given, stages["maximize"])
        return dict(zip(PARTS, seconds, strict=True))

    return ask


def prepare_recommend(measured: Measured, seed: int, device: str = "cpu") -> Callable[[], None]:
    """A recommendation of a study that was asked: all but the last of the data were believed before."""
    study, tell = _study(measured, seed, "pesc", device)
    tell(slice(None, -1))
    study.belief()
    tell(slice(-1, None))

    def recommend() -> None:
        study.recommend()

    return recommend


def study_of(measured: Measured, seed: int) -> pesky.Study:
    """A study that was told all of the data."""
    study, tell = _study(measured, seed, "pesc", "cpu")
    tell(slice(None))
    return study


def _study(measured: Measured, seed: int, rule: str, device: str) -> tuple[pesky.Study, Callable[[slice], None]]:
    """A study, and what tells it some of the data."""
    d, rows = measured.X.shape[1], measured.Y.shape[1]
    constraints = [f"c{k} >= 0" for k in range(1, rows)]
    problem = pesky.Problem({f"x{i}": pesky.Real(0.0, 1.0) for i in range(d)}, minimize="f", constraints=constraints)
    study = pesky.Study(problem, seed=seed, rule=rule, device=device)

    def tell(some: slice) -> None:
        for x, y in zip(measured.X[some].tolist(), measured.Y[some].tolist(), strict=True):
            params = {f"x{i}": value for i, value in enumerate(x)}
            study.add(params, dict(zip(problem.outcomes, y, strict=True)))

    return study, tell
