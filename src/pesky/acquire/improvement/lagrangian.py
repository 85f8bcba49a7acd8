"""The augmented Lagrangian of a history of values (Gramacy et al., Technometrics 2016; METHOD 16)."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf, log_density

SMALLEST_UNIT = 1e-3
"""Units taken from the first few data are at least this share of the prior deviation: they may nearly coincide."""
SMALLEST_RHO = 1e-8
"""Beyond this the penalty is a wall, and further halving only loses digits."""


class Lagrangian(NamedTuple):
    """L = f + unit_f (sum_k -multiplier_k c_k/unit_k + min(0, c_k/unit_k)^2 / (2 rho)), in the units of f.

    The rows are scaled by the data, anew for every question, so multipliers and penalty are kept in units of the first
    data: the same history gives the same L, however it is scaled.
    """

    unit_f: Float[Tensor, "*b"]
    unit: Float[Tensor, "*b k"]
    multiplier: Float[Tensor, "*b k"]
    rho: Float[Tensor, "*b"]

    def penalty(self, c: Float[Tensor, "*b k x"]) -> Float[Tensor, "*b x"]:
        """L - f where the constraints have these values."""
        c = c / self.unit[..., None]
        squared, linear = c.clamp(max=0.0).square().sum(-2), (self.multiplier[..., None] * c).sum(-2)
        return self.unit_f[..., None] * (squared / (2 * self.rho[..., None]) - linear)

    def value(self, rows: Float[Tensor, "*b j x"]) -> Float[Tensor, "*b x"]:
        """L where the objective, the first row, and the constraints have these values."""
        return rows[..., 0, :] + self.penalty(rows[..., 1:, :])

    def slope(self, c: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
        """The derivative of L by each constraint."""
        scaled = c / self.unit
        return self.unit_f[..., None] / self.unit * (scaled.clamp(max=0.0) / self.rho[..., None] - self.multiplier)

    def expected_penalty(
        self, mean: Float[Tensor, "*b k x"], deviation: Float[Tensor, "*b k x"]
    ) -> Float[Tensor, "*b x"]:
        """Its mean where they are normal: E min(0, c)^2 = s^2 [(1 + u^2) Phi(-u) - u phi(u)], u = mean / s."""
        u = mean / deviation
        # Non-negative; rounding far on the feasible side is not.
        share = ((1 + u * u) * log_cdf(-u).exp() - u * log_density(u).exp()).clamp(min=0.0)
        squared = ((deviation / self.unit[..., None]).square() * share).sum(-2)
        linear = (self.multiplier[..., None] * mean / self.unit[..., None]).sum(-2)
        return self.unit_f[..., None] * (squared / (2 * self.rho[..., None]) - linear)


def initial_lagrangian(
    values: Float[Tensor, "*b j n"], deviation: Float[Tensor, "*b j"], multiplier: float, tolerance: float
) -> Lagrangian:
    """The Lagrangian before any update, of the first n values; `deviation` is that of the prior.

    The start of Gramacy et al. makes the penalty of the least violation equal to the best |f|. Here f has no zero,
    so its range over the initial points takes that place: the most that a violation could gain there.
    """
    f, c = values[..., 0, :], values[..., 1:, :]
    unit_f = torch.maximum(f.amax(-1) - f.amin(-1), SMALLEST_UNIT * deviation[..., 0])
    unit = torch.maximum(c.square().mean(-1).sqrt(), SMALLEST_UNIT * deviation[..., 1:])
    violation = (c / unit[..., None]).clamp(max=0.0).square().sum(-2)
    least = torch.where(violation > 0, violation, torch.inf).amin(-1)
    # All feasible: a violation as large as the constraints are shall outweigh the range of f.
    rho = 0.5 * torch.where(least < torch.inf, least, 1.0).clamp(min=tolerance**2)
    return Lagrangian(unit_f, unit, torch.full_like(unit, multiplier), rho)


def replay(
    values: Float[Tensor, "*b j n"],
    deviation: Float[Tensor, "*b j"],
    idle: int,
    *,
    initial: int,
    multiplier: float,
    reduction: float,
    tolerance: float,
    patience: int,
) -> Lagrangian:
    """The Lagrangian after the values were told one by one, and `idle` evaluations that told nothing.

    After `initial` of them it is updated whenever `patience` evaluations in a row brought no lower L. For the options
    see `AugmentedLagrangian`.
    """
    n = values.shape[-1]
    lagrangian = initial_lagrangian(values[..., :initial], deviation, multiplier, tolerance)
    lowest = lagrangian.value(values[..., :initial]).amin(-1)
    stalled = torch.zeros_like(lowest, dtype=torch.int64)
    for told in [*range(initial + 1, n + 1), *[n] * idle]:
        known = values[..., :told]
        level = lagrangian.value(known)
        stalled = torch.where(level.amin(-1) < lowest, 0, stalled + 1)
        due = stalled >= patience
        best = torch.gather(known, -1, level.argmin(-1)[..., None, None].expand(*known.shape[:-1], 1))[..., 0]
        lagrangian = update(lagrangian, best[..., 1:], due, reduction, tolerance)
        # After an update the lowest L is another one.
        lowest = torch.where(due, lagrangian.value(known).amin(-1), level.amin(-1))
        stalled = torch.where(due, 0, stalled)
    return lagrangian


def update(
    lagrangian: Lagrangian,
    c: Float[Tensor, "*b k"],
    due: Bool[Tensor, "*b"],
    reduction: float,
    tolerance: float,
) -> Lagrangian:
    """The multipliers moved along the constraints at the lowest L, and rho reduced where these are violated.

    Where no update is due, the Lagrangian as it is.
    """
    scaled = c / lagrangian.unit
    multiplier = (lagrangian.multiplier - scaled / lagrangian.rho[..., None]).clamp(min=0.0)
    is_feasible = (scaled >= -tolerance).all(-1)
    rho = (reduction * lagrangian.rho).clamp(min=SMALLEST_RHO)
    return lagrangian._replace(
        multiplier=torch.where(due[..., None], multiplier, lagrangian.multiplier),
        rho=torch.where(due & ~is_feasible, rho, lagrangian.rho),
    )
