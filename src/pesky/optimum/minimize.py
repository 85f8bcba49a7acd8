"""The constrained minimizer of each drawn function (METHOD 4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.likelihood import Conditions
from pesky.model.belief import Paths, RoughPaths
from pesky.numerics import separable
from pesky.numerics.least import argmin

FEASIBLE = 1e-6
"""Violations up to this, in prior deviations, count as feasible."""
BEYOND = 1e38
"""What a violation costs where a feasible point is sought: however small, more than any can be worth."""
OTHERS = 0.3
"""What the curvature of an average row counts beside that of the objective."""


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
        return self._inequalities(*self.paths.at(X))

    def roughly_at(self, X: Float[Tensor, "*b m d"]) -> tuple[Float[Tensor, "*b i m"], Float[Tensor, "*b i m d"]]:
        return self._inequalities(*rough_evaluation(self.paths)(X))

    def _inequalities(
        self, value: Float[Tensor, "*b j m"], gradient: Float[Tensor, "*b j m d"]
    ) -> tuple[Float[Tensor, "*b i m"], Float[Tensor, "*b i m d"]]:
        slopes = torch.cat([gradient[..., :1, :, :], self.conditions.signed(gradient, -3)], -3)
        return self.conditions.inequalities(value, -2), slopes

    def select(self, index: Int[Tensor, "*b r"]) -> Inequalities:
        return Inequalities(self.paths.select(index), self.conditions)


def best_candidates(paths: Paths, X: Float[Tensor, "*b n d"], deviation: Float[Tensor, "*b j"]) -> Candidates:
    """Which of the candidates X is best in each draw; `deviation` is the prior deviation of each row."""
    values = rough_values(paths, X)
    which, _ = lowest_feasible(values, deviation.to(values))
    chosen = torch.gather(values, -1, which[..., None, :, None].expand(*values.shape[:-1], 1))[..., 0]
    return Candidates(which, chosen.to(deviation) / deviation[..., None])


def lowest_feasible(
    z: Float[Tensor, "*b j m n"], deviation: Float[Tensor, "*b j"], mask: Bool[Tensor, "*b n"] | None = None
) -> tuple[Int[Tensor, "*b m"], Bool[Tensor, "*b m"]]:
    """Of n points that of each draw's feasible minimum and True, or that of its least violation and False.

    Rows but the first are feasible where they are not negative, and what they lack counts in deviations (METHOD 4.3).
    With a mask, of the points that it has.
    """
    objective, mask = z[..., 0, :, :], None if mask is None or bool(mask.all()) else mask
    if mask is not None:
        objective = torch.where(mask[..., None, :], objective, torch.inf)
    if z.shape[-3] == 1:
        return argmin(objective), torch.ones_like(objective[..., 0], dtype=torch.bool)
    # Sums instead of choices by a mask, which take five times as long.
    short = z[..., 1:, :, :].amin(-3).clamp(max=0.0)
    if mask is not None:
        short = torch.where(mask[..., None, :], short, -1.0)
    which = argmin(torch.add(objective, short, alpha=-BEYOND))
    is_feasible = torch.gather(short, -1, which[..., None])[..., 0] == 0
    nowhere = (~is_feasible).nonzero(as_tuple=True)
    if len(nowhere[0]):
        batch_element = nowhere[:-1]
        constraints = z[..., 1:, :, :].movedim(-3, -2)[nowhere] / deviation[batch_element][..., 1:, None]
        violation = constraints.clamp(max=0.0).square().sum(-2)
        violation = violation if mask is None else torch.where(mask[batch_element], violation, torch.inf)
        which[nowhere] = argmin(violation)
    return which, is_feasible


def rough_values(paths: Paths, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j m x"]:
    """Every draw at every point, as exactly as is needed to choose among them."""
    return paths.roughly(X) if isinstance(paths, RoughPaths) else paths.values(X)


def rough_evaluation(paths: Paths) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """Of each draw at a point of its own, with its gradient, as exactly as is needed to minimize it."""
    return paths.roughly_at if isinstance(paths, RoughPaths) else paths.at


def polish(
    paths: Paths,
    start: Float[Tensor, "*b m d"],
    deviation: Float[Tensor, "*b i"],
    lengthscale: Float[Tensor, "*b j d"],
    radius: float,
    steps: int,
) -> Minimizers:
    """Each draw minimized from its start by batched sequential quadratic programming.

    The lowest feasible point met on the way, the start among them; where there is none, the one of least violation.
    The deviation is that of each row of the draws, the lengthscales are those of the belief's rows.
    """
    unit, at = deviation[..., None], rough_evaluation(paths)

    def evaluate(flat: Float[Tensor, "d e"]) -> tuple[Float[Tensor, "i e"], Float[Tensor, "i d e"]]:
        value, gradient = at(flat.mT.reshape(start.shape))
        value, gradient = value / unit, gradient / unit[..., None]
        return value.movedim(-2, 0).flatten(1), gradient.movedim((-3, -1), (0, 1)).flatten(2).contiguous()

    length = _curving_length(lengthscale)[..., None, :].expand(start.shape)
    first, length = (each.movedim(-1, 0).flatten(1).contiguous() for each in (start, length))
    found = separable.minimize(evaluate, first, length=length, radius=radius, steps=steps, tolerance=FEASIBLE)
    return Minimizers(found.x.mT.reshape(start.shape), (found.violation <= FEASIBLE).view(start.shape[:-1]))


def _curving_length(lengthscale: Float[Tensor, "*b j d"]) -> Float[Tensor, "*b d"]:
    """Over which Lagrangians curve along each axis: the objective does, and constraints that are active.

    Of draws in 6 to 50 dimensions it is a better guess than the objective's, all rows' mean or their least length.
    """
    precision = lengthscale.square().reciprocal()
    # along some axes nothing may vary
    return (precision[..., 0, :] + OTHERS * precision.mean(-2)).clamp(min=1e-6).rsqrt()
