"""The best point for every task at once: candidates, then batched ascent from the best of them (METHOD 14)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor

from pesky.numerics import sqp
from pesky.optimum.starts import spread_out

Values = Callable[[Tensor], Tensor]
"""Points (*w, n, d) -> what measuring each task there is worth (*w, n, t), for every one of the studies in lockstep."""

STARTS, CANDIDATES = 4, 256
STEPS, RADIUS = 8, 0.1
FINALISTS = 32
"""Candidates of each task that a rough look leaves."""
SETTLED = 1e-3
"""An ascent ends that gained less than this share of its value in two steps: the question is as good."""
BACK = (1e-6, 1e-4, 1e-2, 1e-1, 1.0)
"""Its last step may end a little outside of the margin: shares of the way back to its start, which was inside."""


class Best(NamedTuple):
    """The best point of each of t tasks, and its value."""

    x: Float[Tensor, "*w t d"]
    value: Float[Tensor, "*w t"]

    def where(self, wanted: Bool[Tensor, "*w #t"], other: "Best") -> "Best":
        """These where they are wanted, the others elsewhere."""
        return Best(torch.where(wanted[..., None], self.x, other.x), torch.where(wanted, self.value, other.value))


class Effort(NamedTuple):
    """How hard to climb."""

    starts: int = STARTS
    """Ascents per task."""
    steps: int = STEPS
    radius: float | Float[Tensor, "*w"] = RADIUS
    """How long the first step may be."""
    candidates: int = CANDIDATES
    """Points all over the space, besides those near its search centers, that the starts are the best of."""


def maximize(
    values: Values,
    candidates: Float[Tensor, "*w n d"],
    neighbors: Callable[[Tensor], Tensor] | None = None,
    margin: Callable[[Tensor], Tensor] | None = None,
    effort: Effort = Effort(),  # noqa: B008
    rough: Values | None = None,
) -> Best:
    """For each task the point of its largest value, differentiable in x, where the margin is not negative.

    `neighbors`, if any, lists the points one discrete move away from a point: continuous ascent and discrete moves
    then alternate. Where no candidate has a margin, those of the largest are taken: see `lowered`. `rough`, if any,
    are quicker values that choose among the candidates first.
    """
    with torch.no_grad():
        margin = None if margin is None else lowered(margin, candidates)
        if rough is not None:
            candidates = _finalists(_allowed(rough, margin)(candidates), candidates)
        value = _allowed(values, margin)(candidates)
    tasks, d = value.shape[-1], candidates.shape[-1]
    starts = torch.cat([spread_out(candidates, value[..., t], effort.starts) for t in range(tasks)], -2)
    owner = torch.arange(tasks, device=starts.device).repeat_interleave(effort.starts)

    x, value = _ascend(values, margin, starts, owner, effort)
    value = value.view(*value.shape[:-1], tasks, effort.starts)
    best = value.argmax(-1, keepdim=True)
    x = torch.gather(x.view(*value.shape, d), -2, best[..., None].expand(*best.shape, d))[..., 0, :]
    value = torch.gather(value, -1, best)[..., 0]
    if neighbors is not None:
        x, value = _alternate(values, margin, x, value, neighbors, effort)
    return Best(x, value)


def _finalists(value: Float[Tensor, "*w n t"], candidates: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w m d"]:
    """The best candidates of every task."""
    count = min(FINALISTS, candidates.shape[-2])
    best = torch.nan_to_num(value, nan=-torch.inf).topk(count, -2).indices.flatten(-2)
    return torch.gather(candidates, -2, best[..., None].expand(*best.shape, candidates.shape[-1]))


def best_of(
    values: Values,
    candidates: Float[Tensor, "n d"],
    allowed: Bool[Tensor, "n t"],
    margin: Callable[[Tensor], Tensor] | None = None,
) -> Best:
    """For each task the best of the candidates that it is allowed; minus infinity, somewhere, if there are none."""
    with torch.no_grad():
        value = values(candidates)
        # What is allowed and worth nothing at all, to a rule that counts in logarithms, is above what is not allowed.
        lowest = torch.finfo(value.dtype).min
        value = torch.where(allowed, value.nan_to_num(nan=lowest, neginf=lowest), -torch.inf)
        for t, own in enumerate(allowed.unbind(-1)):
            if margin is not None and bool(own.any()):
                # Lowered for each task by itself: all that is left to one may be without.
                inside = lowered(margin, candidates[own])(candidates[own]) >= 0
                value[own, t] = torch.where(inside, value[own, t], -torch.inf)
    best = value.argmax(0)
    return Best(candidates[best], value.gather(0, best[None])[0])


def lowered(margin: Callable[[Tensor], Tensor], candidates: Float[Tensor, "*w n d"]) -> Callable[[Tensor], Tensor]:
    """The margin, lowered to what the best twentieth of the candidates reach if none of them has any.

    Not to the best alone: the same point would be asked for ever.
    """
    here = margin(candidates)
    level = torch.where((here >= 0).any(-1), 0.0, here.quantile(0.95, -1))[..., None]
    return lambda X: margin(X) - level


def _allowed(values: Values, margin: Callable[[Tensor], Tensor] | None) -> Values:
    """The values, minus infinity where the margin is negative."""
    return values if margin is None else lambda X: torch.where(margin(X)[..., None] >= 0, values(X), -torch.inf)


def _ascend(
    values: Values,
    margin: Callable[[Tensor], Tensor] | None,
    x: Float[Tensor, "*w s d"],
    owner: Int[Tensor, " s"],
    effort: Effort,
) -> tuple[Float[Tensor, "*w s d"], Float[Tensor, "*w s"]]:
    """Each start's local maximum of its own task's value, within the margin."""

    def own(X: Tensor) -> Tensor:
        return torch.gather(values(X), -1, owner[:, None].expand(*X.shape[:-1], 1))[..., 0]

    def descend(some_of_flat: Tensor, some: Tensor) -> tuple[Tensor, Tensor]:
        # the others are evaluated as well: a few points more cost nothing, and studies in lockstep keep their shape
        flat = first.index_copy(0, some, some_of_flat).detach().requires_grad_()
        here = flat.view(x.shape)
        rows = [-own(here), *([] if margin is None else [margin(here)])]
        gradients = [torch.autograd.grad(row.sum(), flat, retain_graph=len(rows) > 1)[0] for row in rows]
        return torch.stack([row.detach().flatten() for row in rows], 1)[some], torch.stack(gradients, 1)[some]

    first = x.reshape(-1, x.shape[-1])
    zero, one = torch.zeros_like(first[0]), torch.ones_like(first[0])
    radius = torch.as_tensor(effort.radius).to(x)[..., None].expand(x.shape[:-1]).reshape(-1, 1)
    how_far = {"radius": radius, "steps": effort.steps, "tolerance": 1e-5, "worthwhile": Climbing()}
    found = sqp.minimize(descend, first, zero, one, **how_far)
    end, value = found.x.view(x.shape), -found.values[:, 0].view(x.shape[:-1])
    if margin is None or not bool((margin(end) < 0).any()):
        return end, value
    with torch.no_grad():
        inside = end
        for share in BACK:
            inside = torch.where((margin(inside) < 0)[..., None], torch.lerp(end, x, share), inside)
        return inside, torch.where((inside == end).all(-1), value, own(inside))


class Climbing:
    """Whether each ascent still gains a share of its value, `SETTLED`, in the last two steps; all do within margins."""

    def __init__(self) -> None:
        self._before: list[ndarray] = []

    def __call__(self, progress: sqp.Progress) -> Bool[ndarray, " b"]:
        value = -progress.values[:, 0]
        self._before.append(value)
        if progress.steps <= 2 or progress.values.shape[1] > 1:
            return np.ones_like(value, dtype=bool)
        return ~(value - self._before[-3] < SETTLED * np.abs(value))


def _alternate(
    values: Values,
    margin: Callable[[Tensor], Tensor] | None,
    x: Float[Tensor, "t d"],
    value: Float[Tensor, " t"],
    neighbors: Callable[[Tensor], Tensor],
    effort: Effort,
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
        found, found_value = _ascend(values, margin, moved, owner, effort)
        better = found_value > value
        x, value = torch.where(better[:, None], found, x), torch.where(better, found_value, value)
    return x, value
