"""The best point for every task at once: candidates, then batched ascent from the best of them (METHOD 14)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky import sqp

STARTS = 4
"""Ascents per task."""
STEPS = 8
APART = 0.05
"""Starts of one task are at least this far apart in the cube, so that they climb different hills."""


class Best(NamedTuple):
    x: Float[Tensor, "t d"]
    value: Float[Tensor, " t"]


def maximize(
    gains: Callable[[Tensor], Tensor],
    shares: Float[Tensor, "t j"],
    candidates: Float[Tensor, "n d"],
    neighbors: Callable[[Tensor], Tensor] | None = None,
) -> Best:
    """For each task the point of largest `gains(x) @ shares[task]`.

    `gains` maps points (n, d) to per-row gains (n, j), differentiably; `neighbors`, if any, lists the points one
    discrete move away from a point: continuous ascent and discrete moves then alternate.
    """
    tasks = shares.shape[0]
    with torch.no_grad():
        values = gains(candidates) @ shares.mT
    starts = torch.cat([spread_out(candidates, values[:, t], STARTS) for t in range(tasks)])
    per_task = starts.shape[0] // tasks
    owner = shares.repeat_interleave(per_task, 0)

    x, value = _ascend(gains, starts, owner)
    best = value.view(tasks, per_task).argmax(-1) + per_task * torch.arange(tasks, device=x.device)
    x, value = x[best], value[best]
    if neighbors is not None:
        x, value = _alternate(gains, x, value, shares, neighbors)
    return Best(x, value)


def _ascend(gains: Callable[[Tensor], Tensor], x: Tensor, shares: Tensor) -> tuple[Tensor, Tensor]:
    """Each start's local maximum of its own task's value."""

    def descend(x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().requires_grad_()
        value = -(gains(x) * shares).sum(-1)
        (gradient,) = torch.autograd.grad(value.sum(), x)
        return value.detach()[:, None], gradient[:, None, :]

    zero, one = torch.zeros_like(x[0]), torch.ones_like(x[0])
    found = sqp.minimize(descend, x, zero, one, radius=0.03, steps=STEPS, tolerance=1e-5)
    return found.x, -found.values[:, 0]


def _alternate(
    gains: Callable[[Tensor], Tensor],
    x: Float[Tensor, "t d"],
    value: Float[Tensor, " t"],
    shares: Float[Tensor, "t j"],
    neighbors: Callable[[Tensor], Tensor],
    rounds: int = 5,
) -> tuple[Tensor, Tensor]:
    """Discrete moves to the best neighbor, each followed by ascent in the continuous coordinates."""
    for _ in range(rounds):
        moved = x.clone()
        for t in range(x.shape[0]):
            near = neighbors(x[t])
            with torch.no_grad():
                around = gains(near) @ shares[t]
            if around.numel() and float(around.max()) > float(value[t]):
                moved[t] = near[around.argmax()]
        if bool((moved == x).all()):
            break
        found, found_value = _ascend(gains, moved, shares)
        better = found_value > value
        x, value = torch.where(better[:, None], found, x), torch.where(better, found_value, value)
    return x, value


def spread_out(candidates: Float[Tensor, "n d"], values: Float[Tensor, " n"], count: int) -> Float[Tensor, "s d"]:
    """The `count` best candidates that keep apart from each other."""
    values = torch.nan_to_num(values, nan=-torch.inf)
    chosen = []
    for _ in range(count):
        chosen.append(candidates[values.argmax()])
        close = (candidates - chosen[-1]).abs().amax(-1) < APART
        # Where all is close, the next best serves again: the number of starts is the same for every task.
        left = torch.where(close, -torch.inf, values)
        values = left if bool(torch.isfinite(left).any()) else values
    return torch.stack(chosen)
