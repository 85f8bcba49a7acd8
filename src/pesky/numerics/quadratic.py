"""Many small quadratic programs at once: within a box, and with constraints that may be violated at a price."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

INNER = 8
"""Iterations of a quadratic program: to a thousandth or so of what its step gains. Two more are two more digits."""


def times(matrix: Float[ndarray, "b n d"], vector: Float[ndarray, "b d"]) -> Float[ndarray, "b n"]:
    return (matrix @ vector[..., None])[..., 0]


def _solve(matrix: Float[ndarray, "b d d"], right: Float[ndarray, "b d"]) -> Float[ndarray, "b d"]:
    """Solutions of positive definite systems; zeros where rounding errors have left none."""
    try:
        found = np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:  # of one of them, which tells nothing of the others
        found = times(np.linalg.pinv(np.nan_to_num(matrix), hermitian=True), right)
    if np.isfinite(found.sum()):
        return found
    return np.where(np.isfinite(found).all(-1, keepdims=True), found, 0.0)


def shortfall(c: Float[ndarray, "*b"]) -> Float[ndarray, "*b"]:
    return np.maximum(-c, 0.0)


ROUNDING, UNSOLVED, SLIGHTLY = 1e-10, 1e4, 1e-13
"""What is no difference; by how many times as much a system is not solved that rounding errors have left no solution;
and what is added lest constraints that agree make it singular."""


class Solution(NamedTuple):
    """Of a program with constraints, nearly."""

    p: Float[ndarray, "b d"]
    multiplier: Float[ndarray, "b k"]
    held: Int[ndarray, "b q"]
    """Which elements of p are at the low end of the box, -1, which at the high one, 1, and then which multipliers are
    zero, -1, and which are as high as the price of violations, 1; all others are 0."""


ROUNDS = 8
"""Guesses of what is held, each made of the one before, after which a program is solved from scratch."""


def solve(
    hessian: Float[ndarray, "b d d"],
    gradient: Float[ndarray, "b d"],
    normals: Float[ndarray, "b k d"],
    offsets: Float[ndarray, "b k"],
    low: Float[ndarray, "b d"],
    high: Float[ndarray, "b d"],
    elasticity: Float[ndarray, "b 1"],
    held: Int[ndarray, "b q"] | None,
    iterations: int,
) -> Solution:
    """Of each program; exact where what was held in the one before leads to what is held in this one."""
    program = (hessian, gradient, normals, offsets, low, high, elasticity)
    if held is None:
        return quadratic_program(*program, iterations)
    found, is_solved = from_guess(*program, held)
    if not is_solved.all():
        H, g, normals, offsets, low, high, elasticity = (each[~is_solved] for each in program)
        rest = quadratic_program(H, g, normals, offsets, low, high, elasticity, iterations)
        for part, others in zip(found, rest, strict=True):
            part[~is_solved] = others
    return found


def from_guess(
    hessian: Float[ndarray, "b d d"],
    gradient: Float[ndarray, "b d"],
    normals: Float[ndarray, "b k d"],
    offsets: Float[ndarray, "b k"],
    low: Float[ndarray, "b d"],
    high: Float[ndarray, "b d"],
    elasticity: Float[ndarray, "b 1"],
    held: Int[ndarray, "b q"],
) -> tuple[Solution, Bool[ndarray, " b"]]:
    """The exact solutions of programs by a guess of what is held in each, and whether they are that.

    With z = (p, lam) and F = (Hp + g - N'lam, Np + offsets) a solution has z between its ends, lam's being 0 and the
    elasticity, F = 0 where it is between, F >= 0 at the lower end and F <= 0 at the upper one. A guess makes that a
    linear system. What it contradicts is the next guess (Hintermueller, Ito and Kunisch 2002): mostly the first or the
    second is right, else it may go in circles.
    """
    (b, d), k = gradient.shape, offsets.shape[-1]
    system = np.zeros((b, d + k, d + k))
    system[:, :d, :d], system[:, :d, d:], system[:, d:, :d] = hessian, -normals.swapaxes(-2, -1), normals
    np.einsum("bqq->bq", system)[:, d:] = SLIGHTLY
    constant, eye = np.concatenate([gradient, offsets], -1), np.eye(d + k)
    lower = np.concatenate([low, np.zeros_like(offsets)], -1)
    upper = np.concatenate([high, np.broadcast_to(elasticity, offsets.shape)], -1)
    tolerance = ROUNDING * np.abs(constant).max(-1, keepdims=True)
    z, held = np.empty_like(constant), held.copy()
    todo, at = np.arange(b), held.copy()
    left = (system, constant, lower, upper, tolerance)
    for _ in range(ROUNDS):
        matrix, known, low_end, high_end, little = left
        is_held = at != 0
        ends = np.where(at < 0, low_end, high_end)
        own = _solve(np.where(is_held[..., None], eye, matrix), np.where(is_held, ends, -known))
        slope = times(matrix, own) + known
        beyond = (own > high_end + ROUNDING).astype(int) - (own < low_end - ROUNDING)
        after = np.where(is_held, np.where(at * slope > little, 0, at), beyond)
        z[todo], held[todo] = own, after
        is_open = ((after != at) | ~(is_held | (np.abs(slope) <= UNSOLVED * little))).any(-1)
        todo, at = todo[is_open], after[is_open]
        if not len(todo):
            break
        left = tuple(each[is_open] for each in left)
    is_solved = np.ones(b, dtype=bool)
    is_solved[todo] = False
    p, multiplier = np.split(np.clip(z, lower, upper), [d], -1)
    return Solution(p, multiplier, held), is_solved


def box_program(
    hessian: Float[ndarray, "b d d"],
    gradient: Float[ndarray, "b d"],
    low: Float[ndarray, "b d"],
    high: Float[ndarray, "b d"],
    iterations: int = 4,
) -> Float[ndarray, "b d"]:
    """Nearly the solution p of min p'Hp/2 + g'p, low <= p <= high, with low <= 0 <= high: projected Newton steps.

    A few steps settle which bounds hold; what is left is no worse than the quadratic model itself.
    """
    p, eye = np.zeros_like(gradient), np.eye(gradient.shape[-1])
    for _ in range(iterations):
        slope = gradient + times(hessian, p)
        free = ~(((p <= low) & (slope > 0)) | ((p >= high) & (slope < 0)))
        both = free[..., :, None] & free[..., None, :]
        p = np.clip(p - _solve(np.where(both, hessian, eye), np.where(free, slope, 0.0)), low, high)
    return p


def quadratic_program(
    hessian: Float[ndarray, "b d d"],
    gradient: Float[ndarray, "b d"],
    normals: Float[ndarray, "b k d"],
    offsets: Float[ndarray, "b k"],
    low: Float[ndarray, "b d"],
    high: Float[ndarray, "b d"],
    elasticity: Float[ndarray, "b 1"] | float,
    iterations: int = INNER,
) -> Solution:
    """Solution p and multipliers of min p'Hp/2 + g'p, low <= p <= high, Np + offsets + t >= 0, t >= 0; N the normals.

    The slack t costs `elasticity` e a unit, so that a solution always exists. Primal-dual interior point; all elements
    take the same number of iterations.

    Four kinds of slack s >= 0, each with a dual variable z >= 0:

        below = p - low (z = beta), above = high - p (alpha), y = Np + offsets + t (lam), t (omega = e - lam).

    The Karush-Kuhn-Tucker system is stationarity, Hp + g - N'lam - beta + alpha = 0 (by t: e - lam - omega = 0, which
    stays so), with s z = mu in place of s z = 0. Newton's step for each product is z ds + s dz = mu - s z, with
    d below = dp, d above = -dp, dy = N dp + dt, d omega = -d lam. Eliminated, from the last kind of slack to the first:

        dt     = (mu - omega t + t d lam) / omega
        d lam  = push - lam / room N dp,        room = y + (lam / omega) t,
                                                push = (mu - lam y - (lam / omega) mu + lam t) / room
        d beta = (mu - beta (below + dp)) / below, d alpha = (mu - alpha (above - dp)) / above

    and what is left of stationarity is one symmetric positive definite system of d equations,

        [H + diag(beta / below + alpha / above) + N' diag(lam / room) N] dp
            = N' push - (Hp + g - N'lam) + mu / below - mu / above.
    """
    d, k = gradient.shape[-1], offsets.shape[-1]
    normals_t = np.ascontiguousarray(normals.swapaxes(-2, -1))
    # The elements are the last dimension, along which NumPy is quickest: they are more than what each has of anything.
    p, width = 0.5 * (low + high).T, (high - low).T
    linear = (times(normals, p.T) + offsets).T
    reach = np.maximum(times(np.abs(normals), high - low).T, 1e-12)
    short, elasticity = shortfall(linear), np.broadcast_to(elasticity, (len(low), 1)).T
    start = (np.abs(gradient.T) * width).sum(0) + elasticity * np.minimum(short, reach).sum(0)
    start = np.maximum(start, 1e-12)
    # All slacks, then all dual variables, and the same of their changes: with views of the parts.
    now, change = np.empty((2, 4 * (d + k), len(low)))
    (box, y, t, of_box, lam, omega), (d_box, d_y, d_t, d_of_box, d_lam, d_omega) = (
        np.split(each, np.cumsum([2 * d, k, k, 2 * d, k])) for each in (now, change)
    )
    slack, dual = np.split(now, 2)
    box[:d], box[d:] = np.maximum(p - low.T, 1e-300), np.maximum(high.T - p, 1e-300)
    t[:] = short + reach
    y[:] = linear + t
    of_box[:] = start / box
    lam[:] = np.minimum(start / y, 0.5 * elasticity)
    omega[:] = elasticity - lam
    slope = (times(hessian, p.T) + gradient).T  # of the objective
    diagonal = np.arange(d)
    for _ in range(iterations):
        mu = (0.1 / (2 * (d + k))) * (slack * dual).sum(0)
        ratio = lam / omega
        room = y + ratio * t
        push = (mu * (1 - ratio) + lam * (t - y)) / room
        weight, stiffness, inner = lam / room, of_box / box, mu / box
        system = hessian + normals_t @ (weight.T[..., None] * normals)
        system[:, diagonal, diagonal] += (stiffness[:d] + stiffness[d:]).T
        right = times(normals_t, (push + lam).T) + (inner[:d] - inner[d:] - slope).T
        dp = _solve(system, right)

        along = times(normals, dp).T
        np.subtract(push, weight * along, out=d_lam)
        np.negative(d_lam, out=d_omega)
        np.divide(mu + t * (d_lam - omega), omega, out=d_t)
        np.add(along, d_t, out=d_y)
        d_box[:d] = dp.T
        np.negative(d_box[:d], out=d_box[d:])
        np.subtract(inner - of_box, stiffness * d_box, out=d_of_box)
        # 99 % of the way to where the first slack or dual variable would be zero, or a whole step
        step = 0.99 / np.maximum(-(change / now).min(0), 0.99)
        change *= step
        now += change
        p += d_box[:d]
        slope += step * times(hessian, dp).T
    # what is held has the less slack beside its dual variable, each in its own unit
    below, above = box[:d] / width < of_box[:d] * width / start, box[d:] / width < of_box[d:] * width / start
    is_free, is_full = y / reach > lam / elasticity, t / reach > omega / elasticity
    held = np.concatenate([above.astype(int) - below, is_full.astype(int) - is_free]).T
    return Solution(np.clip(p.T, low, high), lam.T, held)
