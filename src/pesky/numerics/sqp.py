"""Many small smooth problems minimized at once: sequential quadratic programming, batched.

Minimizes f(x) over a box subject to c_k(x) >= 0 for every element of a batch, each from its own start. One call
of the functions serves the whole batch, which is what makes hundreds of draws, starts or hyperparameter fits
cheap; SciPy's solvers take one problem at a time.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Evaluate = Callable[..., tuple[Tensor, Tensor]]
"""x (b, d) -> values (b, 1 + K) and gradients (b, 1 + K, d); column 0 is the objective.

With `worthwhile`, of some of the elements: x (r, d) and which they are (r) -> values (r, 1 + K) and gradients."""
Worthwhile = Callable[[Tensor, int], Tensor]
"""Values (b, 1 + K) after so many steps -> whether each element is worth another one."""

ELASTICITY, MOST_ELASTICITY = 20.0, 1e6
"""Price of violating a linearized constraint, in units of the objective's scale: large, but it keeps every
subproblem solvable when the linearized constraints contradict each other. Where violations turn out to be worth that
price it rises: between two constraints that nearly exclude each other any fixed one would be too low."""


class Minimum(NamedTuple):
    x: Float[Tensor, "b d"]
    values: Float[Tensor, "b j"]
    violation: Float[Tensor, " b"]
    """Largest constraint violation, in units of `scale`; zero where feasible."""


def minimize(
    evaluate: Evaluate,
    start: Float[Tensor, "b d"],
    lower: Float[Tensor, "*d"],
    upper: Float[Tensor, "*d"],
    *,
    radius: float,
    scale: Float[Tensor, "b j"] | None = None,
    steps: int = 10,
    tolerance: float = 1e-6,
    group: Int[Tensor, " b"] | None = None,
    worthwhile: Worthwhile | None = None,
    program_steps: int = 8,
) -> Minimum:
    """The best point that each element found within `steps` evaluations: no worse than its start in merit.

    The merit is the objective plus priced violations, so a point may be a little infeasible: see `violation`. `radius`
    is the first trust radius and `tolerance` the step length at which an element is done, both in units of the box;
    `scale` are the units of each function. The elements end together, once all are done, or all of their `group`. With
    `worthwhile` each ends by itself, once it is done or not worth another step, and only those that go on are
    evaluated. `program_steps` is how exactly the quadratic programs are solved.
    """
    x = start.clone()
    everything = torch.arange(len(x), device=x.device)
    values, gradients = evaluate(x) if worthwhile is None else evaluate(x, everything)
    scale = torch.ones_like(values) if scale is None else scale.clamp(min=1e-300)
    d = x.shape[-1]
    width = (upper - lower).expand(d)
    flat = _flatness(gradients / scale[..., None], width)
    scale = scale * flat
    values, gradients = values / scale, gradients / scale[..., None]
    trust = torch.full_like(x[:, :1], radius)
    hessian = _first_hessian(gradients[:, 0], trust, width)
    penalty = torch.full_like(values[:, 1:], 1.0)
    elasticity = torch.full_like(x[:, :1], ELASTICITY)
    running = torch.ones_like(x[:, 0], dtype=torch.bool)
    group = in_groups(1, len(x), x) if group is None else group

    for step in range(steps):
        low = torch.maximum(lower - x, -trust * width)
        high = torch.minimum(upper - x, trust * width)
        if values.shape[1] > 1:
            p, multiplier = quadratic_program(
                hessian, gradients[:, 0], gradients[:, 1:], values[:, 1:], low, high, elasticity, program_steps
            )
        else:
            p, multiplier = box_program(hessian, gradients[:, 0], low, high), values[:, 1:]
        trial = torch.minimum(torch.maximum(x + p, lower), upper)
        if worthwhile is None:
            trial_values, trial_gradients = evaluate(trial)
            trial_values, trial_gradients = trial_values / scale, trial_gradients / scale[..., None]
        else:
            some = everything[running]
            of_some = evaluate(trial[some], some)
            trial_values = values.index_copy(0, some, of_some[0] / scale[some])
            trial_gradients = gradients.index_copy(0, some, of_some[1] / scale[some][..., None])

        penalty = torch.maximum(1.5 * multiplier, 0.5 * (penalty + multiplier))
        predicted = (
            -(gradients[:, 0] * p).sum(-1)
            - 0.5 * (p * (hessian @ p[..., None])[..., 0]).sum(-1)
            + (
                penalty
                * (_shortfall(values[:, 1:]) - _shortfall(values[:, 1:] + (gradients[:, 1:] @ p[..., None])[..., 0]))
            ).sum(-1)
        )
        actual = _merit(values, penalty) - _merit(trial_values, penalty)
        better = (actual > 0) & torch.isfinite(trial_values).all(-1) & torch.isfinite(trial_gradients).all(-1).all(-1)
        better = better & running
        ratio = actual / predicted.clamp(min=1e-300)

        length = (p / width).abs().amax(-1, keepdim=True)
        trust = torch.where((ratio < 0.25)[:, None], 0.35 * length, trust)
        trust = torch.where(((ratio > 0.75) & (length[:, 0] > 0.99 * trust[:, 0]))[:, None], 2.5 * trust, trust)
        trust = trust.clamp(max=1.0)

        lagrangian_change = (trial_gradients[:, 0] - gradients[:, 0]) - (
            multiplier[:, None, :] @ (trial_gradients[:, 1:] - gradients[:, 1:])
        )[:, 0]
        usable = torch.isfinite(lagrangian_change).all(-1)
        is_worth = ((multiplier > 0.9 * elasticity) & (trial_values[:, 1:] < -1e-6)).any(-1, keepdim=True)
        elasticity = torch.where(is_worth, 3 * elasticity, elasticity).clamp(max=MOST_ELASTICITY)
        hessian = _update(hessian, p, torch.where(usable[:, None], lagrangian_change, 0.0), usable)
        x = torch.where(better[:, None], torch.minimum(torch.maximum(x + p, lower), upper), x)
        values = torch.where(better[:, None], trial_values, values)
        gradients = torch.where(better[:, None, None], trial_gradients, gradients)
        goes_on = (length[:, 0] >= tolerance) | is_worth[:, 0]
        if worthwhile is None:
            running = running & _any_of_group(goes_on, group)
        else:
            running = running & goes_on & worthwhile(values * scale, step + 1)
        if not bool(running.any()):
            break
    short = _shortfall((values * flat)[:, 1:])
    violation = short.amax(-1) if values.shape[1] > 1 else torch.zeros_like(values[:, 0])
    return Minimum(x, values * scale, violation)


def in_groups(count: int, elements: int, like: Tensor) -> Int[Tensor, " b"]:
    """Which of so many equal groups, one after the other, each element is in."""
    return torch.arange(count, device=like.device).repeat_interleave(elements // count)


def _any_of_group(is_so: Bool[Tensor, " b"], group: Int[Tensor, " b"]) -> Bool[Tensor, " b"]:
    """Whether it is so for any element of each element's group."""
    count = torch.zeros_like(group).index_add(0, group, is_so.to(group.dtype))
    return (count > 0)[group]


def _flatness(gradients: Float[Tensor, "b j d"], width: Float[Tensor, " d"]) -> Float[Tensor, "b j"]:
    """How much each constraint varies over the box, in its unit and by its slope at the start; 1 where it is more.

    One that is flat beside its unit would be violated: in such units its price is beyond any elasticity.
    """
    slope = (gradients * width).norm(dim=-1).clamp(1e-9, 1.0)
    return torch.cat([torch.ones_like(slope[:, :1]), slope[:, 1:]], -1)


def _shortfall(c: Float[Tensor, "b k"]) -> Float[Tensor, "b k"]:
    return (-c).clamp(min=0.0)


def _merit(values: Float[Tensor, "b j"], penalty: Float[Tensor, "b k"]) -> Float[Tensor, " b"]:
    """Objective plus priced violations (exact penalty)."""
    return values[:, 0] + (penalty * _shortfall(values[:, 1:])).sum(-1)


def _first_hessian(
    gradient: Float[Tensor, "b d"], trust: Float[Tensor, "b 1"], width: Float[Tensor, " d"]
) -> Float[Tensor, "b d d"]:
    """Diagonal whose unconstrained step is about one trust radius."""
    steepness = (gradient * width).norm(dim=-1, keepdim=True).clamp(min=1e-8) / trust
    return torch.diag_embed(steepness / width.square())


def _update(
    hessian: Float[Tensor, "b d d"],
    p: Float[Tensor, "b d"],
    y: Float[Tensor, "b d"],
    usable: Bool[Tensor, " b"],
) -> Float[Tensor, "b d d"]:
    """Powell's damped BFGS update: stays positive definite whatever the curvature met."""
    hp = (hessian @ p[..., None])[..., 0]
    curvature, expected = (p * y).sum(-1, keepdim=True), (p * hp).sum(-1, keepdim=True)
    blend = torch.where(
        curvature < 0.2 * expected,
        0.8 * expected / (expected - curvature).clamp(min=1e-300),
        torch.ones_like(expected),
    )
    y = blend * y + (1 - blend) * hp
    curvature = (p * y).sum(-1, keepdim=True)
    usable = usable & (expected[:, 0] > 1e-30) & (curvature[:, 0] > 1e-30)
    curvature, expected = (torch.where(usable[:, None], t, 1.0)[..., None] for t in (curvature, expected))
    updated = hessian - hp[:, :, None] * hp[:, None, :] / expected + y[:, :, None] * y[:, None, :] / curvature
    return torch.where(usable[:, None, None], updated, hessian)


def box_program(
    hessian: Float[Tensor, "b d d"],
    gradient: Float[Tensor, "b d"],
    low: Float[Tensor, "b d"],
    high: Float[Tensor, "b d"],
    iterations: int = 4,
) -> Float[Tensor, "b d"]:
    """Nearly the solution p of min p'Hp/2 + g'p, low <= p <= high, with low <= 0 <= high: projected Newton steps.

    A few steps settle which bounds hold; what is left is no worse than the quadratic model itself.
    """
    p = torch.zeros_like(gradient)
    eye = torch.eye(p.shape[-1], dtype=p.dtype, device=p.device)
    for _ in range(iterations):
        slope = gradient + (hessian @ p[..., None])[..., 0]
        free = ~(((p <= low) & (slope > 0)) | ((p >= high) & (slope < 0)))
        both = free[..., :, None] & free[..., None, :]
        factor, _ = torch.linalg.cholesky_ex(torch.where(both, hessian, eye))
        step = torch.cholesky_solve(torch.where(free, slope, 0.0)[..., None], factor)[..., 0]
        p = torch.minimum(torch.maximum(p - torch.nan_to_num(step), low), high)
    return p


def quadratic_program(
    hessian: Float[Tensor, "b d d"],
    gradient: Float[Tensor, "b d"],
    normals: Float[Tensor, "b k d"],
    offsets: Float[Tensor, "b k"],
    low: Float[Tensor, "b d"],
    high: Float[Tensor, "b d"],
    elasticity: Float[Tensor, "b 1"] | float,
    iterations: int = 8,
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b k"]]:
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
    normals_t = normals.mT
    p = 0.5 * (low + high)
    linear = (normals @ p[..., None])[..., 0] + offsets
    reach = (normals.abs() @ (high - low)[..., None])[..., 0].clamp(min=1e-12)
    short = _shortfall(linear)
    t = short + reach
    slack = torch.cat([(p - low).clamp(min=1e-300), (high - p).clamp(min=1e-300), linear + t, t], -1)
    start = (gradient.abs() * (high - low)).sum(-1, keepdim=True)
    start = (start + elasticity * torch.minimum(short, reach).sum(-1, keepdim=True)).clamp(min=1e-12)
    lam = (start / slack[:, 2 * d : 2 * d + k]).clamp(max=0.5 * elasticity)
    dual = torch.cat([start / slack[:, : 2 * d], lam, elasticity - lam], -1)
    for _ in range(iterations):
        below, above, y, t = slack.split([d, d, k, k], -1)
        box_slack, box_dual = slack[:, : 2 * d], dual[:, : 2 * d]
        lam, omega = dual[:, 2 * d : 2 * d + k], dual[:, 2 * d + k :]
        mu = (0.1 / (2 * (d + k))) * (slack * dual).sum(-1, keepdim=True)

        ratio = lam / omega
        room = y + ratio * t
        push = (mu - lam * y - ratio * mu + lam * t) / room
        stiffness = box_dual / box_slack
        system = hessian + normals_t @ ((lam / room)[..., None] * normals)
        system = system + torch.diag_embed(stiffness[:, :d] + stiffness[:, d:])
        stationarity = (hessian @ p[..., None])[..., 0] + gradient - (normals_t @ lam[..., None])[..., 0]
        right = (normals_t @ push[..., None])[..., 0] - stationarity + mu / below - mu / above
        factor, _ = torch.linalg.cholesky_ex(system)
        dp = torch.cholesky_solve(right[..., None], factor)[..., 0]
        dp = torch.where(torch.isfinite(dp).all(-1, keepdim=True), dp, 0.0)

        along = (normals @ dp[..., None])[..., 0]
        d_lam = push - lam * along / room
        dt = (mu - omega * t + t * d_lam) / omega
        d_slack = torch.cat([dp, -dp, along + dt, dt], -1)
        d_box = (mu - box_dual * (slack + d_slack)[:, : 2 * d]) / box_slack
        d_dual = torch.cat([d_box, d_lam, -d_lam], -1)
        # 99 % of the way to where the first slack or dual variable would be zero, or a whole step
        shrink = torch.maximum(-d_slack / slack, -d_dual / dual).amax(-1, keepdim=True)
        step = 0.99 / shrink.clamp(min=0.99)
        p, slack, dual = p + step * dp, slack + step * d_slack, dual + step * d_dual
    return torch.minimum(torch.maximum(p, low), high), dual[:, 2 * d : 2 * d + k]
