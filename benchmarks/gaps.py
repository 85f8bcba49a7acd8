"""Statistics of utility gaps over runs, as pure functions."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

FLOOR = 1e-9
"""What a gap is at least, in a logarithm: one of zero has none."""


def first_below(gaps: Sequence[float], limit: float, counts: Sequence[int]) -> float:
    """The number of evaluations from which on all gaps are below the limit, infinite if there is none.

    `gaps[i]` is the gap after `counts[i]` evaluations.
    """
    above = [i for i, gap in enumerate(gaps) if not gap < limit]
    after = above[-1] + 1 if above else 0
    return counts[after] if after < len(gaps) else math.inf


def median_error(values: Sequence[float]) -> float:
    """The bootstrap standard error of the median."""
    return float(error_of(bootstrap(np.asarray(values)[:, None]))[0])


def error_of(statistics: Float[np.ndarray, "resamples n"]) -> Float[np.ndarray, " n"]:
    """The standard error that a bootstrap's statistics show."""
    return (statistics - statistics[0]).std(0)  # equal statistics differ by exactly nothing, their mean by rounding


def median_band(values: Float[np.ndarray, "runs n"]) -> Float[np.ndarray, "2 n"]:
    """The band of the medians; see `band_of`."""
    return band_of(bootstrap(values))


def band_of(statistics: Float[np.ndarray, "resamples n"]) -> Float[np.ndarray, "2 n"]:
    """What one standard error is to a normal statistic: the central 68% of the bootstrap's, which is never negative."""
    return np.quantile(statistics, [0.16, 0.84], axis=0)


def bootstrap(
    values: Float[np.ndarray, "runs n"],
    statistic: Callable[..., np.ndarray] = np.median,
    resamples: int = 2000,
) -> Float[np.ndarray, "resamples n"]:
    """A statistic over runs that are drawn with replacement, whole runs at a time.

    Of equally many runs the same are drawn: differences of two bootstraps are those of paired runs.
    """
    # A generator of its own: the same values always have the same error.
    drawn = np.random.default_rng(0).integers(len(values), size=(resamples, len(values)))
    # A column at a time: all resamples of 500 runs with 50 gaps would be 400 MB.
    return np.stack([statistic(column[drawn], axis=1) for column in values.T], axis=1)
