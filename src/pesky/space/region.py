"""The part of the space where the constraints on parameters hold: nothing is asked outside it."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.errors import ProblemError
from pesky.numerics.rng import source_of
from pesky.problem import Constraint, Problem
from pesky.space.exact import Exact, evaluate
from pesky.space.space import Space

POOL = 512
"""Points of the region that are kept for searches to start from."""
DRAWN = 2**13
"""Points drawn at a time to find some of it."""
ROUNDS = 30
"""Times that points are drawn closer to those that break the constraints least, where chance finds too few."""
LATTICE = 4096
"""Points up to which a finite space is gone through whole."""
BISECTIONS = 40


@dataclass(frozen=True)
class Bound:
    """One constraint on parameters, as a number that is not negative where it holds."""

    constraint: Constraint
    outcome: Exact

    @cached_property
    def scale(self) -> float:
        """The unit in which bounds are compared: the spread of its values."""
        return float(self.outcome.spread.std()) or 1.0

    def values(self, U: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        threshold, sign = float(self.constraint.threshold), self.constraint.direction
        return (sign * (self.outcome.values(U) - threshold) / self.scale).to(U)

    def gradients(self, U: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        return (self.constraint.direction / self.scale * self.outcome.gradients(U)).to(U)


@dataclass(frozen=True)
class Region:
    """Where all of some bounds hold."""

    space: Space
    bounds: tuple[Bound, ...]

    @classmethod
    def of(cls, problem: Problem, space: Space) -> "Region | None":
        """The region of a problem; None where there is no constraint on parameters."""
        bounds = [
            Bound(each, Exact(each.outcome, problem.known[each.outcome], space))
            for each in problem.parameter_constraints
        ]
        return cls(space, tuple(bounds)) if bounds else None

    def margin(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b x"]:
        """How far inside each point is, negative outside; differentiable once."""
        flat = X.reshape(-1, X.shape[-1])
        return torch.stack([evaluate(flat, bound) for bound in self.bounds]).amin(0).view(X.shape[:-1])

    def contains(self, X: Float[Tensor, "*b x d"]) -> Bool[Tensor, "*b x"]:
        """Whether each point is inside."""
        return self.margin(X.detach()) >= 0

    @cached_property
    def size(self) -> int | None:
        """How many points it has; None where that cannot be counted."""
        lattice = None if self.space.size is None else self.space.combinations(LATTICE)
        return None if lattice is None else int(self.contains(lattice).sum())

    @cached_property
    def pool(self) -> Float[Tensor, "n d"]:
        """Points all over it, at most `POOL` of them; a ProblemError if none is found."""
        U = self.space.spread(DRAWN, 0)
        found, source = U[self.contains(U)], source_of(0)
        for round_ in range(ROUNDS):
            if len(found) >= POOL:
                break
            # Around those that break the constraints least, or fulfil them: ever closer.
            near = U[self.margin(U).topk(POOL // 4).indices].repeat(DRAWN // POOL, 1)
            step = 0.5 ** (round_ / 2) * torch.randn(near.shape, generator=source, dtype=near.dtype)
            U = torch.cat([near, self.space.snap((near + step).clamp(0, 1))])
            found = torch.cat([found, U[self.contains(U)]]).unique(dim=0)
            if round_ >= ROUNDS // 3 and len(found):
                break
        if not len(found):
            texts = " and ".join(f"'{bound.constraint}'" for bound in self.bounds)
            raise ProblemError(
                f"no point of the space was found where {texts} {'holds' if len(self.bounds) == 1 else 'hold'}: widen "
                "the bounds of the parameters, or leave the constraints more room."
            )
        return found[torch.randperm(len(found), generator=source)[:POOL]]

    def nearest(self, u: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
        """The point itself if it is inside, and else one on the way to the nearest point of the pool."""
        if bool(self.contains(u[None])):
            return u
        inside = self.pool.to(u)[(self.pool.to(u) - u).abs().amax(-1).argmin()]
        outside = u
        for _ in range(BISECTIONS):
            middle = self.space.snap((inside + outside) / 2)
            if bool(self.contains(middle[None])):
                inside = middle
            else:
                outside = middle
        return inside

    def repaired(self, design: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """A design whose points outside are replaced, each by the point of the pool farthest from all others."""
        is_inside = self.contains(design)
        kept = list(design[is_inside])
        for _ in range(int((~is_inside).sum())):
            distance = torch.cdist(self.pool, torch.stack(kept)).amin(-1) if kept else torch.zeros(len(self.pool))
            kept.append(self.pool[distance.argmax()])
        return torch.stack(kept)
