"""How many draws the traces are worth, and whether they have converged."""

from typing import TypeVar

import numpy as np
from arviz_stats.base.array import array_stats
from torch import Tensor

Steps = TypeVar("Steps", np.ndarray, Tensor)
FIRST, LAST = 0.1, 0.5
"""The shares of a trace that Geweke (1992) compares: its beginning and its end."""


def effective_samples(draws: np.ndarray) -> float:
    """The effective sample size of all traces, of the worst coordinate's mean; (c, n, d) -> a number."""
    return float(np.min(array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")))


def rhat(draws: np.ndarray) -> float:
    """Gelman and Rubin's statistic of the worst coordinate (rank-normalized, split; Vehtari et al., 2021)."""
    return float(np.max(array_stats.rhat(draws, chain_axis=0, draw_axis=1)))


def geweke(draws: np.ndarray) -> float:
    """The root mean square over coordinates of Geweke's z-scores, the largest of the traces; (c, n, d) -> a number.

    A z-score is the difference between the means of the beginning and the end over its standard error, each with as
    many draws as it is worth. Of a converged trace they are standard normal. The paper does not say how those of many
    coordinates become one number; the largest of 49 would be above 2 in 9 of 10 converged traces.
    """
    parts = [part.swapaxes(0, 1) for part in compared(draws.swapaxes(0, 1))]
    means = [part.mean(1) for part in parts]
    variances = [part.var(1, ddof=1) / _worth(part) for part in parts]
    z = (means[0] - means[1]) / np.sqrt(variances[0] + variances[1])
    return float(np.sqrt(np.square(z).mean(-1)).max())


def compared(steps: Steps) -> tuple[Steps, Steps]:
    """The beginning and the end of a trace, whose first dimension is its steps."""
    n = len(steps)
    return steps[: int(FIRST * n)], steps[n - int(LAST * n) :]


def _worth(part: np.ndarray) -> np.ndarray:
    """The effective sample size of each coordinate of each trace by itself; (c, n, d) -> (c, d)."""
    return np.stack([array_stats.ess(each[None], chain_axis=0, draw_axis=1, method="mean") for each in part])
