"""The constrained minimizer of each drawn function (METHOD 4.2 and 4.3)."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky import sqp
from pesky.model.belief import Paths

FEASIBLE = 1e-6
"""Violations up to this, in prior deviations, count as feasible."""


class Minimizers(NamedTuple):
    """One minimizer per draw; where a draw has no feasible point, the point of least violation."""

    x: Float[Tensor, "*b m d"]
    feasible: Bool[Tensor, "*b m"]


def minimizers(
    paths: Paths,
    candidates: Float[Tensor, "n d"],
    deviation: Float[Tensor, "*b j"],
    steps: int,
) -> Minimizers:
    """The best candidate of each draw, polished by `steps` of batched sequential quadratic programming.

    `deviation` is the prior standard deviation of each row. A polished point is taken only if it is feasible and no
    worse than the candidate, or less infeasible where the candidate is not feasible.
    """
    batch = deviation.shape[:-1]
    values = paths.values(candidates.expand(*batch, *candidates.shape))
    scaled = values / deviation[..., None, None]
    violation = (-scaled[..., 1:, :, :]).clamp(min=0.0).square().sum(-3)
    feasible = violation == 0
    rank = torch.where(feasible, scaled[..., 0, :, :], torch.inf)
    best = torch.where(feasible.any(-1), rank.argmin(-1), violation.argmin(-1))
    x = candidates[best]
    start = torch.gather(scaled, -1, best[..., None, :, None].expand(*scaled.shape[:-1], 1))[..., 0]
    if steps == 0:
        return Minimizers(x, feasible.any(-1))

    shape, rows = x.shape, deviation.shape[-1]

    def evaluate(flat: Tensor) -> tuple[Tensor, Tensor]:
        value, gradient = paths.at(flat.view(shape))
        return value.movedim(-2, -1).reshape(-1, rows), gradient.movedim(-3, -2).reshape(-1, rows, shape[-1])

    d = shape[-1]
    zero, one = torch.zeros(d, dtype=x.dtype, device=x.device), torch.ones(d, dtype=x.dtype, device=x.device)
    scale = deviation[..., None, :].expand(*shape[:-1], rows).reshape(-1, rows)
    spacing = 0.5 * candidates.shape[0] ** (-1 / d)
    found = sqp.minimize(evaluate, x.reshape(-1, d), zero, one, radius=spacing, scale=scale, steps=steps)

    objective, short = start[..., 0, :], (-start[..., 1:, :]).clamp(min=0.0)
    start_violation = short.amax(-2) if rows > 1 else torch.zeros_like(objective)
    polished = (found.values / scale)[:, 0].view(shape[:-1])
    left = found.violation.view(shape[:-1])
    was_feasible, is_feasible = start_violation <= 0, left <= FEASIBLE
    better = torch.where(was_feasible, is_feasible & (polished <= objective), is_feasible | (left < start_violation))
    x = torch.where(better[..., None], found.x.view(shape), x)
    return Minimizers(x, torch.where(better, is_feasible, was_feasible))
