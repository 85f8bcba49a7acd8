"""Many small smooth problems minimized at once: sequential quadratic programming, batched.

Minimizes f(x) over a box subject to c_k(x) >= 0 for every element of a batch, each from its own start. One call
of the functions serves the whole batch, which is what makes hundreds of draws, starts or hyperparameter fits
cheap; SciPy's solvers take one problem at a time. The functions are torch's; all else is small, and NumPy's, whose
operations on a few numbers take a fifth of torch's time.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor

from pesky.numerics.newton import secant

Evaluate = Callable[..., tuple[Tensor, Tensor]]
"""x (b, d) -> values (b, 1 + K) and gradients (b, 1 + K, d); column 0 is the objective.

With `worthwhile`, of some of the elements: x (r, d) and which they are (r) -> values (r, 1 + K) and gradients."""
Curvature = Callable[[Tensor, Tensor], Tensor | None]
"""Weights (r, 1 + K) of the values at the points evaluated last, and which of the elements they are (r) -> second
derivatives (r, d, d) of their weighted sum; None if nobody knows them.

They may be about right: they are corrected by how the gradient changed in the last step."""


class Progress(NamedTuple):
    """How far the elements have come."""

    values: Float[Tensor, "b j"]
    expected: Float[Tensor, " b"]
    """By how much the last step was to lower the objective, violations at their price."""
    gained: Float[Tensor, " b"]
    """By how much it did; zero where it was not taken."""
    steps: int


Worthwhile = Callable[[Progress], Tensor]
"""Whether each element is worth another step."""

ELASTICITY, MOST_ELASTICITY = 20.0, 1e6
"""Price of violating a linearized constraint, in units of the objective's scale: large, but it keeps every
subproblem solvable when the linearized constraints contradict each other. Where violations turn out to be worth that
price it rises: between two constraints that nearly exclude each other any fixed one would be too low."""
INNER = 8
"""Iterations of a quadratic program: to a thousandth or so of what its step gains. Two more are two more digits."""
LEAST_CURVATURE = 1e-6
"""The least of any direction, beside that of the others."""


class Minimum(NamedTuple):
    x: Float[Tensor, "b d"]
    values: Float[Tensor, "b j"]
    violation: Float[Tensor, " b"]
    """Largest constraint violation, in units of `scale`; zero where feasible."""


@np.errstate(all="ignore")  # what is no number is not gone to
def minimize(
    evaluate: Evaluate,
    start: Float[Tensor, "b d"],
    lower: Float[Tensor, "*d"],
    upper: Float[Tensor, "*d"],
    *,
    radius: float | Float[Tensor, "b 1"],
    scale: Float[Tensor, "b j"] | None = None,
    steps: int = 10,
    tolerance: float = 1e-6,
    group: Int[Tensor, " b"] | None = None,
    worthwhile: Worthwhile | None = None,
    curvature: Curvature | None = None,
    inner: int = INNER,
) -> Minimum:
    """The best point that each element found within `steps` evaluations: no worse than its start in merit.

    The merit is the objective plus priced violations, so a point may be a little infeasible: see `violation`. `radius`
    is the first trust radius and `tolerance` the step length at which an element is done, both in units of the box;
    `scale` are the units of each function. The elements end together, once all are done, or all of their `group`. With
    `worthwhile` each ends by itself, once it is done or not worth another step, and only those that go on are
    evaluated. Without `curvature` the steps are all that tells of second derivatives. `inner` iterations solve the
    quadratic program of a step.
    """
    everything = np.arange(len(start))

    def numbers(x: ndarray, some: ndarray) -> tuple[ndarray, ndarray]:
        given = torch.from_numpy(x).to(start)
        found = evaluate(given) if worthwhile is None else evaluate(given, torch.from_numpy(some).to(start.device))
        values, gradients = (part.cpu().numpy() for part in found)
        return values, gradients

    low_end, high_end = (each.cpu().numpy() for each in (lower, upper))
    x = start.cpu().numpy().copy()
    values, gradients = numbers(x, everything)
    unit = np.ones_like(values) if scale is None else np.maximum(scale.cpu().numpy(), 1e-300)
    width = np.broadcast_to(high_end - low_end, x.shape[-1:])
    flat = _flatness(gradients / unit[..., None], width)
    unit = unit * flat
    values, gradients = values / unit, gradients / unit[..., None]
    trust = np.zeros_like(x[:, :1]) + (radius.cpu().numpy() if isinstance(radius, Tensor) else radius)
    hessian = _first_hessian(gradients[:, 0], trust, width)

    def bent(multiplier: ndarray, some: ndarray, otherwise: ndarray) -> ndarray:
        """The Hessian of the Lagrangian at the points evaluated last."""
        if curvature is None:
            return otherwise
        weights = np.concatenate([np.ones((len(some), 1)), -multiplier], -1) / unit[some]
        found = curvature(torch.from_numpy(weights).to(start), torch.from_numpy(some).to(start.device))
        return otherwise if found is None else _positive(found.cpu().numpy())

    hessian = bent(np.zeros_like(values[:, 1:]), everything, hessian)
    penalty = np.ones_like(values[:, 1:])
    elasticity = np.full_like(x[:, :1], ELASTICITY)
    running = np.ones_like(x[:, 0], dtype=bool)
    groups = np.zeros_like(everything) if group is None else group.cpu().numpy()

    for step in range(steps):
        some = everything if worthwhile is None else everything[running]
        low, high = np.maximum(low_end - x, -trust * width), np.minimum(high_end - x, trust * width)
        p, multiplier = np.zeros_like(x), np.zeros_like(values[:, 1:])
        model, box = (hessian[some], gradients[some, 0]), (low[some], high[some])
        if values.shape[1] > 1:
            linear = gradients[some, 1:], values[some, 1:]
            p[some], multiplier[some] = quadratic_program(*model, *linear, *box, elasticity[some], inner)
        else:
            p[some] = box_program(*model, *box)
        trial = np.clip(x + p, low_end, high_end)
        trial_values, trial_gradients = values.copy(), gradients.copy()
        of_some, slopes_of_some = numbers(trial[some], some)
        trial_values[some], trial_gradients[some] = of_some / unit[some], slopes_of_some / unit[some][..., None]

        penalty = np.maximum(1.5 * multiplier, 0.5 * (penalty + multiplier))
        predicted = (
            -(gradients[:, 0] * p).sum(-1)
            - 0.5 * (p * _times(hessian, p)).sum(-1)
            + (penalty * (_shortfall(values[:, 1:]) - _shortfall(values[:, 1:] + _times(gradients[:, 1:], p)))).sum(-1)
        )
        actual = _merit(values, penalty) - _merit(trial_values, penalty)
        better = (actual > 0) & np.isfinite(trial_values).all(-1) & np.isfinite(trial_gradients).all((-2, -1))
        better = better & running
        ratio = actual / np.maximum(predicted, 1e-300)

        length = np.abs(p / width).max(-1, keepdims=True)
        trust = np.where((ratio < 0.25)[:, None], 0.35 * length, trust)
        trust = np.where(((ratio > 0.75) & (length[:, 0] > 0.99 * trust[:, 0]))[:, None], 2.5 * trust, trust)
        trust = np.minimum(trust, 1.0)

        change = trial_gradients - gradients
        of_lagrangian = change[:, 0] - (multiplier[:, None] @ change[:, 1:])[:, 0]
        there = bent(multiplier[some], some, hessian[some])
        hessian[some] = np.where(better[some][:, None, None], there, hessian[some])
        hessian = secant(hessian, p, of_lagrangian)
        is_worth = np.any((multiplier > 0.9 * elasticity) & (trial_values[:, 1:] < -1e-6), axis=-1)
        elasticity = np.minimum(np.where(is_worth[:, None], 3 * elasticity, elasticity), MOST_ELASTICITY)
        x = np.where(better[:, None], trial, x)
        values = np.where(better[:, None], trial_values, values)
        gradients = np.where(better[:, None, None], trial_gradients, gradients)
        goes_on = (length[:, 0] >= tolerance) | is_worth
        if worthwhile is None:
            running = running & _any_of_group(goes_on, groups)
        else:
            fell = np.stack([predicted, np.where(better, actual, 0.0)]) * unit[:, 0]
            now, (expected, gained) = (torch.from_numpy(each).to(start) for each in (values * unit, fell))
            is_worthwhile = worthwhile(Progress(now, expected, gained, step + 1)).cpu().numpy()
            running = running & goes_on & is_worthwhile
        if not running.any():
            break
    short = _shortfall((values * flat)[:, 1:])
    violation = short.max(-1) if values.shape[1] > 1 else np.zeros_like(values[:, 0])
    return Minimum(*(torch.from_numpy(each).to(start) for each in (x, values * unit, violation)))


def in_groups(count: int, elements: int, like: Tensor) -> Int[Tensor, " b"]:
    """Which of so many equal groups, one after the other, each element is in."""
    return torch.arange(count, device=like.device).repeat_interleave(elements // count)


def _any_of_group(is_so: Bool[ndarray, " b"], group: Int[ndarray, " b"]) -> Bool[ndarray, " b"]:
    """Whether it is so for any element of each element's group."""
    return np.bincount(group, is_so)[group] > 0


def _flatness(gradients: Float[ndarray, "b j d"], width: Float[ndarray, " d"]) -> Float[ndarray, "b j"]:
    """How much each constraint varies over the box, in its unit and by its slope at the start; 1 where it is more.

    One that is flat beside its unit would be violated: in such units its price is beyond any elasticity.
    """
    slope = np.clip(np.linalg.norm(gradients * width, axis=-1), 1e-9, 1.0)
    return np.concatenate([np.ones_like(slope[:, :1]), slope[:, 1:]], -1)


def _positive(hessian: Float[ndarray, "b d d"]) -> Float[ndarray, "b d d"]:
    """Positive definite: as curved where the function falls off to both sides, and nowhere flat.

    A column that nothing depends on, to second order, is stiff: there is no reason to move along it.
    """
    hessian = np.nan_to_num(hessian)
    stiff = np.maximum(np.abs(hessian).max((-2, -1)), 1.0)[:, None]
    diagonal = np.einsum("bdd->bd", hessian)
    diagonal += np.where((hessian == 0).all(-1), stiff, 0.0)
    least = LEAST_CURVATURE * stiff
    # torch's: NumPy's takes all cores for large ones, and waits for those that are busy elsewhere
    beyond = torch.from_numpy(hessian - least[..., None] * np.eye(hessian.shape[-1]))
    is_other = torch.linalg.cholesky_ex(beyond).info.numpy() != 0
    if is_other.any():  # of most no eigenvalue need be known, which takes ten times as long as that none is too low
        values, vectors = (each.numpy() for each in torch.linalg.eigh(torch.from_numpy(hessian[is_other])))
        values = np.maximum(np.abs(values), least[is_other])
        hessian[is_other] = (vectors * values[:, None]) @ vectors.swapaxes(-2, -1)
    return hessian


def _times(matrix: Float[ndarray, "b n d"], vector: Float[ndarray, "b d"]) -> Float[ndarray, "b n"]:
    return (matrix @ vector[..., None])[..., 0]


def _solve(matrix: Float[ndarray, "b d d"], right: Float[ndarray, "b d"]) -> Float[ndarray, "b d"]:
    """Solutions of positive definite systems; zeros where rounding errors have left none."""
    try:
        found = np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:  # of one of them, which tells nothing of the others
        found = _times(np.linalg.pinv(np.nan_to_num(matrix), hermitian=True), right)
    if np.isfinite(found.sum()):
        return found
    return np.where(np.isfinite(found).all(-1, keepdims=True), found, 0.0)


def _shortfall(c: Float[ndarray, "*b"]) -> Float[ndarray, "*b"]:
    return np.maximum(-c, 0.0)


def _merit(values: Float[ndarray, "b j"], penalty: Float[ndarray, "b k"]) -> Float[ndarray, " b"]:
    """Objective plus priced violations (exact penalty)."""
    return values[:, 0] + (penalty * _shortfall(values[:, 1:])).sum(-1)


def _first_hessian(
    gradient: Float[ndarray, "b d"], trust: Float[ndarray, "b 1"], width: Float[ndarray, " d"]
) -> Float[ndarray, "b d d"]:
    """Diagonal whose unconstrained step is about one trust radius."""
    steepness = np.maximum(np.linalg.norm(gradient * width, axis=-1, keepdims=True), 1e-8) / trust
    return (steepness / width**2)[..., None] * np.eye(len(width))


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
        slope = gradient + _times(hessian, p)
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
) -> tuple[Float[ndarray, "b d"], Float[ndarray, "b k"]]:
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
    linear = (_times(normals, p.T) + offsets).T
    reach = np.maximum(_times(np.abs(normals), high - low).T, 1e-12)
    short, elasticity = _shortfall(linear), np.broadcast_to(elasticity, (len(low), 1)).T
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
    slope = (_times(hessian, p.T) + gradient).T  # of the objective
    diagonal = np.arange(d)
    for _ in range(iterations):
        mu = (0.1 / (2 * (d + k))) * (slack * dual).sum(0)
        ratio = lam / omega
        room = y + ratio * t
        push = (mu * (1 - ratio) + lam * (t - y)) / room
        weight, stiffness, inner = lam / room, of_box / box, mu / box
        system = hessian + normals_t @ (weight.T[..., None] * normals)
        system[:, diagonal, diagonal] += (stiffness[:d] + stiffness[d:]).T
        right = _times(normals_t, (push + lam).T) + (inner[:d] - inner[d:] - slope).T
        dp = _solve(system, right)

        along = _times(normals, dp).T
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
        slope += step * _times(hessian, dp).T
    return np.clip(p.T, low, high), lam.T
