"""The best point for every task at once: candidates, then batched ascent from the best of them (METHOD 14)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pesky import sqp
from pesky.optimum.starts import spread_out

Values = Callable[[Tensor], Tensor]
"""Points (n, d) -> what measuring each task there is worth (n, t)."""

STARTS = 4
STEPS = 8


class Best(NamedTuple):
    x: Float[Tensor, "t d"]
    value: Float[Tensor, " t"]


class Effort(NamedTuple):
    """How hard to climb."""

    starts: int = STARTS
    """Ascents per task."""
    steps: int = STEPS


def maximize(
    values: Values,
    candidates: Float[Tensor, "n d"],
    neighbors: Callable[[Tensor], Tensor] | None = None,
    margin: Callable[[Tensor], Tensor] | None = None,
    effort: Effort = Effort(),  # noqa: B008
) -> Best:
    """For each task the point of its largest value, differentiable in x, where the margin is not negative.

    `neighbors`, if any, lists the points one discrete move away from a point: continuous ascent and discrete moves
    then alternate. Where no candidate has a margin, those of the largest are taken: see `lowered`.
    """
    with torch.no_grad():
        margin = None if margin is None else lowered(margin, candidates)
        value = _allowed(values, margin)(candidates)
    tasks = value.shape[1]
    starts = torch.cat([spread_out(candidates, value[:, t], effort.starts) for t in range(tasks)])
    owner = torch.arange(tasks, device=starts.device).repeat_interleave(effort.starts)

    x, value = _ascend(values, margin, starts, owner, effort.steps)
    best = value.view(tasks, effort.starts).argmax(-1) + effort.starts * torch.arange(tasks, device=x.device)
    x, value = x[best], value[best]
    if neighbors is not None:
        x, value = _alternate(values, margin, x, value, neighbors, effort.steps)
    return Best(x, value)


def lowered(margin: Callable[[Tensor], Tensor], candidates: Float[Tensor, "n d"]) -> Callable[[Tensor], Tensor]:
    """The margin, lowered to what the best twentieth of the candidates reach if none of them has any.

    Not to the best alone: the same point would be asked for ever.
    """
    here = margin(candidates)
    if bool((here >= 0).any()):
        return margin
    level = float(here.quantile(0.95))
    return lambda X: margin(X) - level


def _allowed(values: Values, margin: Callable[[Tensor], Tensor] | None) -> Values:
    """The values, minus infinity where the margin is negative."""
    return values if margin is None else lambda X: torch.where(margin(X)[:, None] >= 0, values(X), -torch.inf)


def _ascend(
    values: Values,
    margin: Callable[[Tensor], Tensor] | None,
    x: Float[Tensor, "b d"],
    owner: Int[Tensor, " b"],
    steps: int,
) -> tuple[Tensor, Tensor]:
    """Each start's local maximum of its own task's value, within the margin."""

    def descend(x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().requires_grad_()
        rows = [-values(x).gather(1, owner[:, None])[:, 0], *([] if margin is None else [margin(x)])]
        gradients = [torch.autograd.grad(row.sum(), x, retain_graph=len(rows) > 1)[0] for row in rows]
        return torch.stack(rows, 1).detach(), torch.stack(gradients, 1)

    zero, one = torch.zeros_like(x[0]), torch.ones_like(x[0])
    found = sqp.minimize(descend, x, zero, one, radius=0.03, steps=steps, tolerance=1e-5)
    value = -found.values[:, 0]
    if margin is None:
        return found.x, value
    # The last step may end a little outside; its start was inside.
    with torch.no_grad():
        at_start = values(x).gather(1, owner[:, None])[:, 0]
        outside = margin(found.x) < 0
    return torch.where(outside[:, None], x, found.x), torch.where(outside, at_start, value)


def _alternate(
    values: Values,
    margin: Callable[[Tensor], Tensor] | None,
    x: Float[Tensor, "t d"],
    value: Float[Tensor, " t"],
    neighbors: Callable[[Tensor], Tensor],
    steps: int,
    rounds: int = 5,
) -> tuple[Tensor, Tensor]:
    """Discrete moves to the best neighbor, each followed by ascent in the continuous coordinates."""
    owner, allowed = torch.arange(x.shape[0], device=x.device), _allowed(values, margin)
    for _ in range(rounds):
        moved = x.clone()
        for t in range(x.shape[0]):
            near = neighbors(x[t])
            with torch.no_grad():
                around = allowed(near)[:, t]
            if around.numel() and float(around.max()) > float(value[t]):
                moved[t] = near[around.argmax()]
        if bool((moved == x).all()):
            break
        found, found_value = _ascend(values, margin, moved, owner, steps)
        better = found_value > value
        x, value = torch.where(better[:, None], found, x), torch.where(better, found_value, value)
    return x, value
