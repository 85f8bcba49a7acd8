"""Many smooth functions minimized at once, each over its own box and from its own start: damped Newton steps.

The curvature that steps are by comes from the functions, and need only be about right: damping (Levenberg 1944) keeps
them to where it is, and it is corrected by how the gradient changed in the last step. The state of a search is a few
numbers, so it is NumPy's, whose operations on them take a fifth of torch's time; the functions are torch's.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

Evaluate = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
"""x (r, q) of some of the elements, and which they are (r) -> values (r), gradients (r, q), curvatures (r, q, q).

A curvature is any symmetric, positive definite matrix that is near the matrix of second derivatives."""

DAMPING, LONGEST = 3.0, 2.0
"""What is added to the curvature at first, and the longest step in any direction: in units of x."""
STIFF = 100.0
"""Curvature from which on what is added grows with it (Marquardt 1963): x that small steps matter to has such steps."""
LEAST_CURVATURE = 1e-10
"""The least curvature of any direction, beside that of the others."""
BEHIND = 1.0
"""A rival is given up that is so far behind the best one, and twice as far as it expects to go yet .."""
FIRST_STEPS = 3
""".. after so many steps."""


class Minimum(NamedTuple):
    x: Float[Tensor, "b q"]
    values: Float[Tensor, " b"]


@np.errstate(all="ignore")  # what is no number is not gone to
def minimize(
    evaluate: Evaluate,
    start: Float[Tensor, "b q"],
    lower: Float[Tensor, "*#b q"],
    upper: Float[Tensor, "*#b q"],
    *,
    steps: int,
    tolerance: float,
    rivals: int = 1,
) -> Minimum:
    """The best point that each element found in so many steps at most: no worse than its start.

    An element ends once it expects to gain less than the `tolerance` from all further steps. With `rivals`, each
    function has as many starts, all first ones before all second ones; see `BEHIND`.
    """

    def numbers(x: ndarray, some: ndarray) -> tuple[ndarray, ...]:
        given = torch.from_numpy(x).to(start), torch.from_numpy(some).to(start.device)
        return tuple(part.cpu().numpy() for part in evaluate(*given))

    low, high = (np.broadcast_to(bound.cpu().numpy(), tuple(start.shape)) for bound in (lower, upper))
    x = np.clip(start.cpu().numpy(), low, high)
    f, g, h = (part.copy() for part in numbers(x, np.arange(len(x))))
    expected = np.zeros_like(f)
    damping = np.full_like(f, DAMPING)
    some = np.flatnonzero(np.isfinite(f))
    for step in range(steps):
        free = ~(((x[some] <= low[some]) & (g[some] > 0)) | ((x[some] >= high[some]) & (g[some] < 0)))
        downhill = np.where(free, -g[some], 0.0)
        expected[some] = 0.5 * (downhill * _solve(h[some], free, np.zeros_like(some), downhill)).sum(-1)
        goes_on = ~(expected[some] < tolerance)
        if rivals > 1 and step >= FIRST_STEPS:
            goes_on &= ~_is_beaten(f, expected, rivals)[some]
        some, free, downhill = some[goes_on], free[goes_on], downhill[goes_on]
        if not len(some):
            break
        p = _solve(h[some], free, damping[some], downhill)
        p = p * np.minimum(1.0, LONGEST / np.maximum(np.abs(p).max(-1, keepdims=True), 1e-300))
        trial = np.clip(x[some] + p, low[some], high[some])
        p = trial - x[some]
        f_trial, g_trial, h_trial = numbers(trial, some)
        gain = f[some] - f_trial
        predicted = -(g[some] * p).sum(-1) - 0.5 * (p * _times(h[some], p)).sum(-1)
        is_better = (gain > 0) & np.isfinite(g_trial).all(-1)
        is_fair, is_good = gain >= 0.25 * predicted, gain > 0.75 * predicted
        damping[some] *= np.where(is_better & is_fair, np.where(is_good, 1 / 3, 1.0), 4.0)
        h[some] = secant(np.where(is_better[:, None, None], h_trial, h[some]), p, g_trial - g[some])
        taken = some[is_better]
        x[taken], f[taken], g[taken] = trial[is_better], f_trial[is_better], g_trial[is_better]
    return Minimum(torch.from_numpy(x).to(start), torch.from_numpy(f).to(start))


def _is_beaten(f: Float[ndarray, " b"], expected: Float[ndarray, " b"], rivals: int) -> Bool[ndarray, " b"]:
    """Whether each is so far behind the best of its rivals that it will not catch up; NaN is behind all."""
    of_one = np.where(np.isfinite(f), f, np.inf).reshape(rivals, -1)
    behind = (of_one - of_one.min(0)).ravel()
    return (behind > BEHIND) & (behind > 2 * expected)


def _times(matrix: Float[ndarray, "r q q"], vector: Float[ndarray, "r q"]) -> Float[ndarray, "r q"]:
    return (matrix @ vector[..., None])[..., 0]


def _solve(
    h: Float[ndarray, "r q q"], free: Bool[ndarray, "r q"], damping: ndarray, right: Float[ndarray, "r q"]
) -> Float[ndarray, "r q"]:
    """Newton steps in the free directions, where `right` is the negative gradient and zero elsewhere."""
    within = np.where(free[:, :, None] & free[:, None, :], h, 0.0)
    diagonal = np.einsum("rqq->rq", within)
    # where nothing depends on a direction the matrix would be singular
    trace = LEAST_CURVATURE * (1.0 + diagonal.max(-1, keepdims=True, initial=0.0))
    diagonal += np.where(free, damping[:, None] * np.maximum(1.0, diagonal / STIFF) + trace, 1.0)
    return np.linalg.solve(within, right[..., None])[..., 0]


def secant(
    h: Float[ndarray, "r q q"], p: Float[ndarray, "r q"], change: Float[ndarray, "r q"]
) -> Float[ndarray, "r q q"]:
    """The curvature corrected by how the gradient changed in step p: BFGS, damped by Powell to stay positive definite.

    As it was where the change is no number.
    """
    hp = _times(h, p)
    there, foreseen = (p * change).sum(-1, keepdims=True), (p * hp).sum(-1, keepdims=True)
    usable = np.isfinite(change).all(-1, keepdims=True) & (foreseen > 1e-30)
    change, there = np.where(usable, change, 0.0), np.where(usable, there, 0.0)
    foreseen = np.where(usable, foreseen, 1.0)
    blend = np.where(there < 0.2 * foreseen, 0.8 * foreseen / np.maximum(foreseen - there, 1e-300), 1.0)
    change = blend * change + (1 - blend) * hp
    there = blend * there + (1 - blend) * foreseen
    updated = h + change[:, :, None] * (change / there)[:, None] - hp[:, :, None] * (hp / foreseen)[:, None]
    return np.where(usable[..., None], updated, h)
