"""Whether one rule is better than another: differences over realisations, with bootstrap errors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.gaps import FLOOR, bootstrap, error_of
from experiments.curves import StudyRecord


@dataclass(frozen=True)
class Difference:
    """How much larger a statistic of one rule is, and the bootstrap standard error of that."""

    value: float
    error: float


@dataclass(frozen=True)
class Comparison:
    """A rule less a reference after so many evaluations: where a difference is negative, the rule is better.

    realisations:  that both have: the first so many, which are compared in pairs
    log10:         of the means of log10 of the gap, gaps below 1e-9 counting as 1e-9
    """

    realisations: int
    log10: Difference
    mean: Difference


def compare(kept: StudyRecord, reference: StudyRecord, count: int) -> Comparison:
    """One rule against another at a milestone of both."""
    if missing := [each.label for each in (kept, reference) if count not in each.gaps]:
        raise ValueError(
            f"no gaps were kept after {count} evaluations for {', '.join(missing)}: compare at one of "
            f"{sorted(kept.gaps.keys() & reference.gaps.keys())}."
        )
    shared = min(kept.realisations, reference.realisations)
    ours, theirs = kept.gaps[count][:shared], reference.gaps[count][:shared]
    return Comparison(
        realisations=shared,
        log10=difference(logarithm(ours), logarithm(theirs), np.mean),
        mean=difference(ours, theirs, np.mean),
    )


def difference(ours: np.ndarray, theirs: np.ndarray, statistic: Callable[..., Any]) -> Difference:
    """The difference of a statistic of equally many realisations, drawn in pairs."""
    drawn = bootstrap(ours[:, None], statistic) - bootstrap(theirs[:, None], statistic)
    return Difference(float(statistic(ours) - statistic(theirs)), float(error_of(drawn)[0]))


def logarithm(gaps: np.ndarray) -> np.ndarray:
    """log10 of gaps, which are taken to be no smaller than `FLOOR`: a gap of zero has none."""
    return np.log10(np.maximum(gaps, FLOOR))
