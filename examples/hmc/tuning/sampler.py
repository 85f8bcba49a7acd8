"""Hamiltonian Monte Carlo (Duane et al., 1987; Neal, 2011): a step size, a number of steps and one mass.

Chains are rows of one tensor and go together; each accepts for itself. The step size of a transition is drawn within
a fifth of its setting, as Neal advises: where a trajectory is as long as the period of some direction, a fixed one
comes back to where it was, and that direction is hardly sampled at all.
"""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

DIVERGED = 1000.0
"""A transition whose energy is off by more has left the level set that it should stay on (Stan's limit)."""
JITTER = 0.2
"""How far, as a share of itself, the step size varies to either side."""


class Target(Protocol):
    """A density on R^d, for c points at once."""

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        ...

    def log_density(self, q: Tensor) -> Tensor:
        """(c, d) -> (c,), up to a constant."""
        ...

    def gradient(self, q: Tensor) -> Tensor:
        """(c, d) -> (c, d)."""
        ...


@dataclass(frozen=True)
class Integrator:
    """Leapfrog steps: their size, how many make a transition, and the mass of every coordinate."""

    step: float
    steps: int
    mass: float = 1.0

    def move(
        self, target: Target, q: Tensor, p: Tensor, slope: Tensor, scale: float = 1.0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Positions, momenta and gradients at the end of the trajectories; `slope` is the gradient at their start.

        Steps are `scale` times as large as their setting.
        """
        step = scale * self.step
        p = p + 0.5 * step * slope
        for _ in range(self.steps):
            q = torch.add(q, p, alpha=step / self.mass)
            slope = target.gradient(q)
            p = torch.add(p, slope, alpha=step)  # half a step of this one, and half of the next
        return q, p - 0.5 * step * slope, slope


class Trace(NamedTuple):
    """What the chains did.

    draws: (n, c, d);  accepted, errors: (n, c) whether the chain moved, and the error of the energy, below 0 or above
    """

    draws: Tensor
    accepted: Tensor
    errors: Tensor

    @property
    def has_diverged(self) -> bool:
        """Whether any trajectory went off, or overflowed."""
        return bool((~(self.errors <= DIVERGED)).any())  # NaN is not at most anything


def sample(target: Target, start: Tensor, integrator: Integrator, transitions: int, rng: torch.Generator) -> Trace:
    """So many transitions of each chain, from (c, d) starts; it stops at the first that diverges."""
    q, chains = start, len(start)
    value, slope = target.log_density(q), target.gradient(q)
    draws = q.new_empty(transitions, *q.shape)
    accepted = torch.zeros(transitions, chains, dtype=torch.bool)
    errors = q.new_empty(transitions, chains)
    scales = 1 + JITTER * (2 * torch.rand(transitions, generator=rng) - 1)
    for n, scale in enumerate(scales.tolist()):
        p = sqrt(integrator.mass) * torch.randn(q.shape, generator=rng, dtype=q.dtype)
        q_end, p_end, slope_end = integrator.move(target, q, p, slope, scale)
        value_end = target.log_density(q_end)
        kinetic = (p_end.square() - p.square()).sum(-1) / (2 * integrator.mass)
        errors[n] = value - value_end + kinetic
        # a comparison with NaN is false: what overflowed is not accepted
        is_taken = torch.rand(chains, generator=rng, dtype=q.dtype).log() < -errors[n]
        q = torch.where(is_taken[:, None], q_end, q)
        slope = torch.where(is_taken[:, None], slope_end, slope)
        value = torch.where(is_taken, value_end, value)
        draws[n], accepted[n] = q, is_taken
        if not bool((errors[n] <= DIVERGED).all()):
            return Trace(draws[: n + 1], accepted[: n + 1], errors[: n + 1])
    return Trace(draws, accepted, errors)
