"""Statistics of utility gaps over runs, as pure functions."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float


def first_below(gaps: Sequence[float], limit: float, counts: Sequence[int]) -> float:
    """The number of evaluations from which on all gaps are below the limit, infinite if there is none.

    `gaps[i]` is the gap after `counts[i]` evaluations.
    """
    above = [i for i, gap in enumerate(gaps) if not gap < limit]
    after = above[-1] + 1 if above else 0
    return counts[after] if after < len(gaps) else math.inf


def median_error(values: Sequence[float]) -> float:
    """The bootstrap standard error of the median."""
    medians = bootstrap_medians(np.asarray(values)[:, None])
    return float((medians - medians[0]).std())  # equal medians differ by exactly nothing, their mean by rounding


def median_band(values: Float[np.ndarray, "runs n"]) -> Float[np.ndarray, "2 n"]:
    """What one standard error is to a normal median: the central 68% of the bootstrap's, which are never negative."""
    return np.quantile(bootstrap_medians(values), [0.16, 0.84], axis=0)


def bootstrap_medians(values: Float[np.ndarray, "runs n"], resamples: int = 2000) -> Float[np.ndarray, "resamples n"]:
    """Medians over runs that are drawn with replacement, whole runs at a time."""
    # A generator of its own: the same values always have the same error.
    drawn = np.random.default_rng(0).integers(len(values), size=(resamples, len(values)))
    return np.median(values[drawn], axis=1)
