"""Statistics of utility gaps over runs, as pure functions."""

import math
from collections.abc import Sequence

import numpy as np


def first_below(gaps: Sequence[float], limit: float, first: int) -> float:
    """The evaluation from which on all gaps are below the limit, infinite if there is none.

    `gaps[0]` is the gap after `first` evaluations.
    """
    above = [i for i, gap in enumerate(gaps) if not gap < limit]
    after = above[-1] + 1 if above else 0
    return first + after if after < len(gaps) else math.inf


def median_error(values: Sequence[float], resamples: int = 2000) -> float:
    """The bootstrap standard error of the median."""
    # A generator of its own: the same values always have the same error.
    generator = np.random.default_rng(0)
    drawn = generator.choice(np.asarray(values), size=(resamples, len(values)))
    return float(np.median(drawn, axis=1).std())
