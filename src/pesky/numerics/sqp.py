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

from pesky.numerics import quadratic
from pesky.numerics.newton import secant
from pesky.numerics.quadratic import INNER, box_program, shortfall, times

Evaluate = Callable[..., tuple[Tensor, Tensor]]
"""x (b, d) -> values (b, 1 + K) and gradients (b, 1 + K, d); column 0 is the objective.

With `worthwhile`, of some of the elements: x (r, d) and which they are (r) -> values (r, 1 + K) and gradients."""
Curvature = Callable[[Tensor, Tensor], Tensor | None]
"""Weights (r, 1 + K) of the values at the points evaluated last, and which of the elements they are (r) -> second
derivatives (r, d, d) of their weighted sum; None if nobody knows them.

They may be about right: they are corrected by how the gradient changed in the last step."""


class Progress(NamedTuple):
    """How far the elements have come, before a step."""

    values: Float[ndarray, "b j"]
    expected: Float[ndarray, " b"]
    """By how much the step is to lower the objective, violations at their price."""
    steps: int
    """That are behind."""


Worthwhile = Callable[[Progress], ndarray]
"""Whether each element's step is worth an evaluation."""

ELASTICITY, MOST_ELASTICITY = 20.0, 1e6
"""Price of violating a linearized constraint, in units of the objective's scale: large, but it keeps every
subproblem solvable when the linearized constraints contradict each other. Where violations turn out to be worth that
price it rises: between two constraints that nearly exclude each other any fixed one would be too low."""
POOR, SHORTEST = 0.1, 0.1
"""A step that gains less than this share of what it was to gain was too long, and the next one is this part of it, or
longer: where the parabola is highest that rises at the rate of what the step was to gain and meets what it gained."""
LEAST_CURVATURE = 1e-6
"""The least of any direction, beside that of the others."""


class Minimum(NamedTuple):
    x: Float[Tensor, "b d"]
    values: Float[Tensor, "b j"]
    violation: Float[Tensor, " b"]
    """Largest constraint violation, in units of `scale`; zero where feasible."""
    beyond: Float[Tensor, "b d"]
    """Where the step leads that was not worth an evaluation; `x` if there was none."""


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
    `worthwhile` each ends by itself, before a step that is too short or not worth it, and only those that go on are
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
    held = None
    groups = np.zeros_like(everything) if group is None else group.cpu().numpy()
    running = np.ones_like(everything, dtype=bool)
    # Of all elements; all else is of those that go on, `some`, alone.
    some, best, values_of_best, beyond = everything, x.copy(), values * unit, x.copy()

    for step in range(steps):
        low, high = np.maximum(low_end - x, -trust * width), np.minimum(high_end - x, trust * width)
        if values.shape[1] > 1:
            program = (hessian, gradients[:, 0], gradients[:, 1:], values[:, 1:], low, high, elasticity)
            p, multiplier, held = quadratic.solve(*program, held, inner)
        else:
            p, multiplier = box_program(hessian, gradients[:, 0], low, high), values[:, 1:]
            held = multiplier
        trial = np.clip(x + p, low_end, high_end)
        penalty = np.maximum(1.5 * multiplier, 0.5 * (penalty + multiplier))
        predicted = _predicted(p, hessian, values, gradients, penalty)
        length = np.abs(p / width).max(-1, keepdims=True)
        is_costly = multiplier > 0.9 * elasticity
        if worthwhile is not None:
            expected = np.zeros_like(best[:, 0])
            expected[some] = predicted * unit[some, 0]
            goes_on = worthwhile(Progress(values_of_best.copy(), expected, steps=step))[some]
            goes_on &= (length[:, 0] >= tolerance) | np.any(is_costly & (values[:, 1:] < -1e-6), axis=-1)
            ends = ~goes_on & np.isfinite(trial).all(-1)
            beyond[some[ends]] = trial[ends]
            if not goes_on.any():
                break
            if not goes_on.all():
                some, running, x, p, trial, length = _those(goes_on, some, running, x, p, trial, length)
                values, gradients, hessian, trust = _those(goes_on, values, gradients, hessian, trust)
                multiplier, penalty, elasticity = _those(goes_on, multiplier, penalty, elasticity)
                held, predicted, is_costly = _those(goes_on, held, predicted, is_costly)

        trial_values, trial_gradients = numbers(trial, some)
        trial_values, trial_gradients = trial_values / unit[some], trial_gradients / unit[some][..., None]
        actual = _merit(values, penalty) - _merit(trial_values, penalty)
        better = (actual > 0) & np.isfinite(trial_values).all(-1) & np.isfinite(trial_gradients).all((-2, -1)) & running
        trust = _next_trust(trust, length, (actual / np.maximum(predicted, 1e-300))[:, None])

        change = trial_gradients - gradients
        of_lagrangian = change[:, 0] - (multiplier[:, None] @ change[:, 1:])[:, 0]
        there = bent(multiplier, some, hessian)
        hessian = secant(_either(better, there, hessian), p, of_lagrangian)
        is_worth = np.any(is_costly & (trial_values[:, 1:] < -1e-6), axis=-1)
        elasticity = np.minimum(_either(is_worth, 3 * elasticity, elasticity), MOST_ELASTICITY)
        x, values = _either(better, trial, x), _either(better, trial_values, values)
        gradients = _either(better, trial_gradients, gradients)
        best[some], beyond[some], values_of_best[some] = x, x, values * unit[some]
        if worthwhile is None:
            running = running & _any_of_group((length[:, 0] >= tolerance) | is_worth, groups)
            if not running.any():
                break
    short = shortfall((values_of_best / unit * flat)[:, 1:])
    violation = short.max(-1) if short.shape[1] else np.zeros_like(best[:, 0])
    return Minimum(*(torch.from_numpy(each).to(start) for each in (best, values_of_best, violation, beyond)))


def in_groups(count: int, elements: int, like: Tensor) -> Int[Tensor, " b"]:
    """Which of so many equal groups, one after the other, each element is in."""
    return torch.arange(count, device=like.device).repeat_interleave(elements // count)


def _predicted(
    p: Float[ndarray, "b d"],
    hessian: Float[ndarray, "b d d"],
    values: Float[ndarray, "b j"],
    gradients: Float[ndarray, "b j d"],
    penalty: Float[ndarray, "b k"],
) -> Float[ndarray, " b"]:
    """By how much a step is to lower the merit."""
    there = values[:, 1:] + times(gradients[:, 1:], p)
    of_objective = ((gradients[:, 0] + 0.5 * times(hessian, p)) * p).sum(-1)
    return (penalty * (shortfall(values[:, 1:]) - shortfall(there))).sum(-1) - of_objective


def _next_trust(
    trust: Float[ndarray, "b 1"], length: Float[ndarray, "b 1"], share: Float[ndarray, "b 1"]
) -> Float[ndarray, "b 1"]:
    """How long the next step may be, by the share that the last one had of what it was to gain."""
    share = np.where(np.isnan(share), -np.inf, share)
    longer = np.where((share > 0.75) & (length > 0.99 * trust), np.minimum(2.5 * trust, 1.0), trust)
    return np.where(share < POOR, np.maximum(0.5 / (1 - share), SHORTEST) * length, longer)


def _those(some: Bool[ndarray, " b"], *parts: ndarray) -> list[ndarray]:
    """Of each part the elements that are meant."""
    return [part[some] for part in parts]


def _either(is_so: Bool[ndarray, " b"], one: Float[ndarray, "b *d"], other: Float[ndarray, "b *d"]) -> ndarray:
    """One for the elements of which it is so, the other for the rest."""
    return np.where(is_so.reshape(-1, *[1] * (one.ndim - 1)), one, other)


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
    hessian = hessian.copy() if np.isfinite(hessian).all() else np.nan_to_num(hessian)
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


def _merit(values: Float[ndarray, "b j"], penalty: Float[ndarray, "b k"]) -> Float[ndarray, " b"]:
    """Objective plus priced violations (exact penalty)."""
    return values[:, 0] + (penalty * shortfall(values[:, 1:])).sum(-1)


def _first_hessian(
    gradient: Float[ndarray, "b d"], trust: Float[ndarray, "b 1"], width: Float[ndarray, " d"]
) -> Float[ndarray, "b d d"]:
    """Diagonal whose unconstrained step is about one trust radius."""
    steepness = np.maximum(np.linalg.norm(gradient * width, axis=-1, keepdims=True), 1e-8) / trust
    return (steepness / width**2)[..., None] * np.eye(len(width))
