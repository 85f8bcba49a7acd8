"""The constrained minimizer of each drawn function (METHOD 4.2 and 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.likelihood import Conditions
from pesky.model.belief import Paths, RoughPaths
from pesky.numerics import sqp

FEASIBLE = 1e-6
"""Violations up to this, in prior deviations, count as feasible."""
PROGRAM_STEPS = 5
"""Of an interior point method, which so is a little inside of the constraints: draws in ten dimensions end half a prior
deviation lower than from programs that are solved exactly, by 8 steps, and in less time."""


class Candidates(NamedTuple):
    """The best candidate of each draw: its lowest feasible one, or else the one of least violation."""

    which: Int[Tensor, "*b m"]
    values: Float[Tensor, "*b j m"]
    """Rows of the draw there, in prior deviations."""


class Minimizers(NamedTuple):
    """One minimizer per draw; where a draw has no feasible point, a point of least violation."""

    x: Float[Tensor, "*b m d"]
    feasible: Bool[Tensor, "*b m"]


@dataclass(frozen=True)
class Inequalities:
    """Draws as what is minimized: their objective, and beside it each condition as a row that must not be negative."""

    paths: Paths
    conditions: Conditions

    def values(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b i m x"]:
        return self.conditions.inequalities(self.paths.values(X), -3)

    def roughly(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b i m x"]:
        return self.conditions.inequalities(rough_values(self.paths, X), -3)

    def at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b i m"], Float[Tensor, "*b i m d"]]:
        value, gradient = self.paths.at(X)
        slopes = torch.cat([gradient[..., :1, :, :], self.conditions.signed(gradient, -3)], -3)
        return self.conditions.inequalities(value, -2), slopes

    def select(self, index: Int[Tensor, "*b r"]) -> Inequalities:
        return Inequalities(self.paths.select(index), self.conditions)


def best_candidates(paths: Paths, X: Float[Tensor, "*b n d"], deviation: Float[Tensor, "*b j"]) -> Candidates:
    """Which of the candidates X is best in each draw; `deviation` is the prior deviation of each row."""
    values = rough_values(paths, X)
    values = values / deviation[..., None, None].to(values)
    violation = (-values[..., 1:, :, :]).clamp(min=0.0).square().sum(-3)
    feasible = violation == 0
    lowest = torch.where(feasible, values[..., 0, :, :], torch.inf).argmin(-1)
    index = torch.where(feasible.any(-1), lowest, violation.argmin(-1))
    chosen = torch.gather(values, -1, index[..., None, :, None].expand(*values.shape[:-1], 1))[..., 0]
    return Candidates(index, chosen.to(deviation))


def rough_values(paths: Paths, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
    """Every draw at every point, as exactly as is needed to choose among them."""
    return paths.roughly(X) if isinstance(paths, RoughPaths) else paths.values(X)


def polish(
    paths: Paths,
    start: Float[Tensor, "*b m d"],
    values: Float[Tensor, "*b j m"],
    deviation: Float[Tensor, "*b j"],
    radius: float,
    steps: int,
    studies: int = 1,
) -> Minimizers:
    """Each draw minimized from its start by batched sequential quadratic programming, by itself in each of the studies.

    A polished point is taken only if it is feasible and no worse than the start, or less infeasible where the start
    is not feasible. `values` are the rows at the start, in prior deviations.
    """
    *shape, d = start.shape
    rows = deviation.shape[-1]

    def evaluate(flat: Tensor) -> tuple[Tensor, Tensor]:
        value, gradient = paths.at(flat.view(start.shape))
        return value.movedim(-2, -1).reshape(-1, rows), gradient.movedim(-3, -2).reshape(-1, rows, d)

    zero, one = torch.zeros_like(start.view(-1, d)[0]), torch.ones_like(start.view(-1, d)[0])
    scale = deviation[..., None, :].expand(*shape, rows).reshape(-1, rows)
    first = start.reshape(-1, d)
    study = sqp.in_groups(studies, len(first), first)
    found = sqp.minimize(
        evaluate, first, zero, one, radius=radius, scale=scale, steps=steps, group=study, program_steps=PROGRAM_STEPS
    )

    objective = values[..., 0, :]
    before = (-values[..., 1:, :]).clamp(min=0.0).amax(-2) if rows > 1 else torch.zeros_like(objective)
    after, polished = found.violation.view(shape), (found.values / scale)[:, 0].view(shape)
    was_feasible, is_feasible = before <= 0, after <= FEASIBLE
    better = torch.where(was_feasible, is_feasible & (polished <= objective), is_feasible | (after < before))
    x = torch.where(better[..., None], found.x.view(start.shape), start)
    return Minimizers(x, torch.where(better, is_feasible, was_feasible))
