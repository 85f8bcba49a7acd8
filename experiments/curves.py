"""Utility gaps of rules over realisations, and what a figure keeps of them in its file."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.gaps import band_of, bootstrap, error_of
from benchmarks.provenance import version
from experiments.files import rounded, write_json

MILESTONES = tuple(range(10, 101, 10))
"""Evaluations at which tables and comparisons look; the gaps of every realisation are kept at these alone."""
DIGITS, GAP_DIGITS = 4, 3
Statistic = Literal["median", "mean"]


@dataclass(frozen=True)
class Curve:
    """What one rule did: a row for each realisation, a column for each of `counts`.

    counts:    the numbers of evaluations at which there was a recommendation
    gaps:      (R, n) the utility gaps of the recommendations
    feasible:  (R, n) whether these are feasible in truth
    seconds:   of the whole run
    per_step:  mean seconds per step of each stage, such as "x*", "ep", "maximize", "recommend", "fit"
    """

    label: str
    counts: list[int]
    gaps: np.ndarray
    feasible: np.ndarray
    device: str
    seconds: float
    per_step: Mapping[str, float]
    command: str

    def __post_init__(self) -> None:
        shape = self.gaps.shape
        if len(shape) != 2 or 0 in shape or shape[1] != len(self.counts) or self.feasible.shape != shape:
            raise ValueError(
                f"{self.label!r}: gaps of shape {shape}, feasible of shape {self.feasible.shape} and "
                f"{len(self.counts)} counts: expected a row per realisation and a column per count in both."
            )
        if not np.isfinite(self.gaps).all() or (self.gaps < 0).any():
            raise ValueError(f"{self.label!r}: some gaps are negative or not finite: expected numbers, 0 or above.")


@dataclass(frozen=True)
class Estimate:
    """A statistic at each count, its bootstrap standard error, and the central 68% of its bootstrap.

    The band is what pictures show: unlike the error's it is never negative, so a logarithm has room for it.
    """

    value: list[float]
    error: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class StudyRecord:
    """What is kept of a curve: statistics at every count, the gaps of all realisations at milestones.

    infeasible:  share of recommendations that violate a constraint, at each count
    gaps:        of each realisation, in the order of `Curve.gaps`, to three digits
    version:     the commit and the date of the run
    """

    label: str
    realisations: int
    counts: list[int]
    median: Estimate
    mean: Estimate
    infeasible: list[float]
    gaps: dict[int, np.ndarray]
    device: str
    seconds: float
    per_step: dict[str, float]
    command: str
    version: str

    def estimate(self, statistic: Statistic) -> Estimate:
        """The median or the mean gap."""
        return self.median if statistic == "median" else self.mean


@dataclass(frozen=True)
class Results:
    """The curves of a figure by their labels, and which statistic of them it shows."""

    figure: str
    statistic: Statistic
    curves: dict[str, StudyRecord]


def keep(curve: Curve) -> StudyRecord:
    """What is kept of a curve."""
    # Of runs too short for any milestone the last gaps are kept, so that they can be looked at all the same.
    milestones = [n for n in MILESTONES if n in curve.counts] or curve.counts[-1:]
    return StudyRecord(
        label=curve.label,
        realisations=len(curve.gaps),
        counts=list(curve.counts),
        median=estimate(curve.gaps, np.median),
        mean=estimate(curve.gaps, np.mean),
        infeasible=rounded(1 - curve.feasible.mean(0), DIGITS),
        gaps={n: np.array(rounded(curve.gaps[:, curve.counts.index(n)], GAP_DIGITS)) for n in milestones},
        device=curve.device,
        seconds=round(curve.seconds, 1),
        per_step={stage: rounded([seconds], DIGITS)[0] for stage, seconds in curve.per_step.items()},
        command=curve.command,
        version=version(),
    )


def estimate(gaps: np.ndarray, statistic: Any) -> Estimate:
    """A statistic over realisations at each count, with its bootstrap (seeded: the same gaps, the same errors)."""
    drawn = bootstrap(gaps, statistic)
    low, high = band_of(drawn)
    return Estimate(*(rounded(values, DIGITS) for values in (statistic(gaps, axis=0), error_of(drawn), low, high)))


def save(path: str | Path, figure: str, statistic: Statistic, curves: Iterable[Curve]) -> Results:
    """The figure's results with these curves among those already in the file; one of the same label is replaced."""
    path, before = Path(path), {}
    if path.exists():
        there = load(path)
        if there.figure != figure:
            raise ValueError(f"{path} holds figure {there.figure!r}, not {figure!r}: give each figure its own file.")
        before = there.curves
    results = Results(figure, statistic, before | {curve.label: keep(curve) for curve in curves})
    write_json(path, {**asdict(results), "curves": {label: _plain(kept) for label, kept in results.curves.items()}})
    return results


def _plain(kept: StudyRecord) -> dict[str, Any]:
    return {**asdict(kept), "gaps": {n: rounded(gaps, GAP_DIGITS) for n, gaps in kept.gaps.items()}}


def load(path: str | Path) -> Results:
    """The results in a file that `save` wrote."""
    content = json.loads(Path(path).read_text())
    curves = {}
    for label, given in content["curves"].items():
        given |= {name: Estimate(**given[name]) for name in ("median", "mean")}
        curves[label] = StudyRecord(**{**given, "gaps": {int(n): np.array(gaps) for n, gaps in given["gaps"].items()}})
    return Results(content["figure"], content["statistic"], curves)
