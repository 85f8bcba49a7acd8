"""Hundreds of smooth problems minimized at once by few steps each: sequential quadratic programs of one curvature.

Like `sqp`, it minimizes f(x) over the unit cube subject to c_k(x) >= 0, each element of a batch from its own start. The
Hessian of the Lagrangian is one number, the curvature along the last step (Barzilai & Borwein 1988), in units in which
that is about the same along all axes. A quadratic program then has no system of d equations to solve but one of K; and
in so few steps as are taken here a whole matrix learns less than these units know: draws end lower.

Elements are the last dimension of every array: the operations, thousands on small ones, then run along the memory. They
are NumPy's, as those of `sqp`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from pesky.numerics.sqp import ELASTICITY, MOST_ELASTICITY

Evaluate = Callable[[Tensor], tuple[Tensor, Tensor]]
"""x (d, b) -> values (1 + K, b) and gradients (1 + K, d, b), in units of each function; row 0 is the objective."""
PROGRAM_STEPS = 5
"""Of the interior point method. Its solutions are then a little inside of the constraints, as points that are to be
feasible should be."""
CENTERING = 0.1
"""By how much each of these steps would lower the products of slack and dual variables, if nothing stopped it."""
FLATTEST = 0.05
"""Of the curvatures at which a step down the gradient is as long as the trust region: that much of it is the least."""


class Lowest(NamedTuple):
    """The best point that each element met: the lowest feasible one, or else the one of least violation."""

    x: Float[Tensor, "d b"]
    objective: Float[Tensor, " b"]
    violation: Float[Tensor, " b"]
    """The largest of its constraints' violations; zero where there is none."""


@np.errstate(all="ignore")  # what is no number is not gone to
def minimize(
    evaluate: Evaluate,
    start: Float[Tensor, "d b"],
    *,
    length: Float[Tensor, "d b"],
    radius: float,
    steps: int,
    tolerance: float,
) -> Lowest:
    """The best point that each element meets within `steps` from its start; feasible up to the `tolerance`.

    `length` is how far the functions vary alike along each axis: in these units they have the same curvature along all.
    `radius` is the first trust radius.
    """

    def numbers(x: ndarray) -> tuple[ndarray, ndarray]:
        values, gradients = (part.cpu().numpy() for part in evaluate(torch.from_numpy(x).to(start)))
        return values, gradients

    x = start.cpu().numpy()
    values, gradients = numbers(x)
    lowest = (x, values[0], _violation(values))
    # What is flat beside its unit would be violated: in the unit of its slope no price of that is too low.
    flat = np.clip(np.linalg.norm(gradients[1:], axis=1), 1e-9, 1.0)
    unit = np.concatenate([np.ones_like(values[:1]), flat])
    values, gradients = values / unit, gradients / unit[:, None]
    trust, ruler = np.full_like(x[0], radius), length.cpu().numpy()
    metric = (ruler.min(0) / ruler) ** 2
    curvature = _steepness(gradients[0], metric) / trust
    penalty, elasticity = np.ones_like(values[1:]), np.full_like(x[0], ELASTICITY)

    for _ in range(steps):
        low, high = np.maximum(-x, -trust), np.minimum(1 - x, trust)
        bent = curvature * metric
        p, multiplier = separable_program(bent, gradients[0], gradients[1:], values[1:], low, high, elasticity)
        trial = np.clip(x + p, 0.0, 1.0)
        trial_values, trial_gradients = numbers(trial)
        lowest = _lower(lowest, (trial, trial_values[0], _violation(trial_values)), tolerance)
        trial_values, trial_gradients = trial_values / unit, trial_gradients / unit[:, None]

        penalty = np.maximum(1.5 * multiplier, 0.5 * (penalty + multiplier))
        linear = values[1:] + _along(gradients[1:], p)
        fall = -(p * (gradients[0] + 0.5 * bent * p)).sum(0)
        predicted = fall + (penalty * (_shortfall(values[1:]) - _shortfall(linear))).sum(0)
        actual = _merit(values, penalty) - _merit(trial_values, penalty)
        is_better = (actual > 0) & np.isfinite(trial_gradients.sum((0, 1)))
        ratio, reached = actual / np.maximum(predicted, 1e-300), np.abs(p).max(0)
        trust = np.where(ratio < 0.25, 0.35 * reached, trust)
        trust = np.minimum(np.where((ratio > 0.75) & (reached > 0.99 * trust), 2.5 * trust, trust), 1.0)

        change = trial_gradients - gradients
        bend = (p * (change[0] - (multiplier[:, None] * change[1:]).sum(0))).sum(0) / (metric * p**2).sum(0)
        x, values, gradients = (
            np.where(is_better, new, old)
            for new, old in ((trial, x), (trial_values, values), (trial_gradients, gradients))
        )
        least = FLATTEST * _steepness(gradients[0], metric) / np.maximum(trust, 1e-9)
        # No number, or less than the least: the model is then nearly linear, and the trust region is what bounds it.
        curvature = np.where(bend > least, bend, least)
        is_worth = ((multiplier > 0.9 * elasticity) & (trial_values[1:] < -1e-6)).any(0)
        elasticity = np.minimum(np.where(is_worth, 3 * elasticity, elasticity), MOST_ELASTICITY)
    return Lowest(*(torch.from_numpy(each).to(start) for each in lowest))


Found = tuple[ndarray, ndarray, ndarray]
"""Points, their objective, and by how much they violate constraints."""


def _lower(before: Found, now: Found, tolerance: float) -> Found:
    """Of each element the better one of two points: feasible and lower, or else less infeasible."""
    was, is_feasible = before[2] <= tolerance, now[2] <= tolerance
    is_better = np.where(is_feasible, ~was | (now[1] < before[1]), ~was & (now[2] < before[2]))
    x, objective, violation = (np.where(is_better, new, old) for new, old in zip(now, before, strict=True))
    return x, objective, violation


def _steepness(gradient: Float[ndarray, "d b"], metric: Float[ndarray, "d b"]) -> Float[ndarray, " b"]:
    """The curvature at which a step down the gradient has unit length."""
    return np.maximum(np.sqrt((gradient**2 / metric).sum(0)), 1e-8)


def _along(normals: Float[ndarray, "k d b"], p: Float[ndarray, "d b"]) -> Float[ndarray, "k b"]:
    return (normals * p).sum(1)


def _shortfall(values: Float[ndarray, "k b"]) -> Float[ndarray, "k b"]:
    return np.maximum(-values, 0.0)


def _violation(values: Float[ndarray, "j b"]) -> Float[ndarray, " b"]:
    return _shortfall(values[1:]).max(0, initial=0.0)


def _merit(values: Float[ndarray, "j b"], penalty: Float[ndarray, "k b"]) -> Float[ndarray, " b"]:
    return values[0] + (penalty * _shortfall(values[1:])).sum(0)


def separable_program(
    curvature: Float[ndarray, "d b"],
    gradient: Float[ndarray, "d b"],
    normals: Float[ndarray, "k d b"],
    offsets: Float[ndarray, "k b"],
    low: Float[ndarray, "d b"],
    high: Float[ndarray, "d b"],
    elasticity: Float[ndarray, " b"],
    iterations: int = PROGRAM_STEPS,
) -> tuple[Float[ndarray, "d b"], Float[ndarray, "k b"]]:
    """Solution p and multipliers of min p'Hp/2 + g'p, low <= p <= high, Np + offsets + t >= 0, t >= 0; H is diagonal.

    The same interior point method as `quadratic_program`, whose docstring has its equations. What is left of them,

        [D + N' diag(lam / room) N] dp = right,     D = H + diag(beta / below + alpha / above),

    is solved with A = diag(lam / room)^(1/2) N D^(-1/2) by dp = D^(-1/2) [1 - A' (1 + A A')^-1 A] D^(-1/2) right.
    """
    d, k = len(gradient), len(offsets)
    if k == 0:
        return np.clip(-gradient / curvature, low, high), offsets
    p = 0.5 * (low + high)
    linear = _along(normals, p) + offsets
    reach = np.maximum(_along(np.abs(normals), high - low), 1e-12)
    short = _shortfall(linear)
    t = short + reach
    slack = np.concatenate([np.maximum(p - low, 1e-300), np.maximum(high - p, 1e-300), linear + t, t])
    start = (np.abs(gradient) * (high - low)).sum(0) + elasticity * np.minimum(short, reach).sum(0)
    start = np.maximum(start, 1e-12)
    lam = np.minimum(start / slack[2 * d : 2 * d + k], 0.5 * elasticity)
    dual = np.concatenate([start / slack[: 2 * d], lam, elasticity - lam])
    for _ in range(iterations):
        (box_slack, y, t), (box_dual, lam, omega) = (np.split(each, (2 * d, 2 * d + k)) for each in (slack, dual))
        mu = (CENTERING / (2 * (d + k))) * (slack * dual).sum(0)
        ratio = lam / omega
        room = y + ratio * t
        push = (mu - lam * y - ratio * mu + lam * t) / room
        inner, stiffness = mu / box_slack, box_dual / box_slack
        root = np.sqrt(curvature + stiffness[:d] + stiffness[d:])
        stationarity = curvature * p + gradient - (normals * lam[:, None]).sum(0)
        right = ((normals * push[:, None]).sum(0) - stationarity + inner[:d] - inner[d:]) / root
        A = (normals / root) * np.sqrt(lam / room)[:, None]
        dp = (right - (A * _solve(A, _along(A, right))[:, None]).sum(0)) / root
        dp = np.where(np.isfinite(dp.sum(0)), dp, 0.0)

        along = _along(normals, dp)
        d_lam = push - lam * along / room
        dt = (mu - omega * t + t * d_lam) / omega
        d_slack = np.concatenate([dp, -dp, along + dt, dt])
        d_dual = np.concatenate([inner - box_dual - stiffness * d_slack[: 2 * d], d_lam, -d_lam])
        # 99 % of the way to where the first slack or dual variable would be zero, or a whole step
        shrink = np.maximum(-d_slack / slack, -d_dual / dual).max(0)
        step = 0.99 / np.maximum(shrink, 0.99)
        p, slack, dual = p + step * dp, slack + step * d_slack, dual + step * d_dual
    return np.clip(p, low, high), dual[2 * d : 2 * d + k]


def _solve(A: Float[ndarray, "k d b"], right: Float[ndarray, "k b"]) -> Float[ndarray, "k b"]:
    """(1 + A A')^-1 right, by elimination: the matrix is positive definite, and no pivot is below one."""
    k, right = len(A), right.copy()
    rows = [(A[i:] * A[i]).sum(1) for i in range(k)]  # from the diagonal on: what is below it is the same
    for i, row in enumerate(rows):
        row[0] += 1.0
        for j in range(i):
            factor = rows[j][i - j] / rows[j][0]
            row -= factor * rows[j][i - j :]
            right[i] -= factor * right[j]
    for i in reversed(range(k)):
        right[i] = (right[i] - (rows[i][1:] * right[i + 1 :]).sum(0)) / rows[i][0]
    return right
