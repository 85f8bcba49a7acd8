"""Where nothing is to be asked: what is improbable to be feasible, asked in vain, or answered already."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import Context
from pesky.acquire.maximize import Best, Values, best_of
from pesky.model.belief import Belief
from pesky.optimum.assessment import SAME_POINT, assess
from pesky.optimum.measured import best_measured
from pesky.space import Space
from pesky.space.region import Region

SAME_PLACE = 0.02
"""Questions closer than this, in the cube, are about the same place."""
TIMES = 3
"""How often a place is asked before it is excluded."""
MANY = 1000
"""Questions from which on all pairs of them take longer than all else."""
PROBABLY_FEASIBLE = 0.5
"""The probability that all constraints hold from which a measured point counts as feasible."""
SAME_QUESTION = 1e-3
"""Questions of one task closer than this, in the unit cube, are the same question."""
LATTICE = 4096
"""Points up to which a finite space is gone through whole in search of one that is left."""

Margin = Callable[[Tensor], Tensor]
"""Points (*w, n, d) -> how far each is from where nothing is to be asked, (*w, n): negative there."""


class ExcludedRegions(NamedTuple):
    """Questions, and which of them were asked where it is in vain."""

    asked: Float[Tensor, "*w n d"]
    is_excluded: Bool[Tensor, "*w n"]

    @property
    def exist(self) -> Bool[Tensor, "*w"]:
        """Whether there is a region to keep away from; of studies in lockstep, some may have none."""
        return self.is_excluded.any(-1)

    def margin(self, X: Float[Tensor, "*w x d"]) -> Float[Tensor, "*w x"]:
        """How far each point is from the regions, negative within them."""
        distance = (X[..., :, None, :] - self.asked[..., None, :, :]).abs().amax(-1)
        return torch.where(self.is_excluded[..., None, :], distance, 1.0).amin(-1) - SAME_PLACE


def excluded_regions(
    belief: Belief, confidence: Float[Tensor, " k"], asked: Float[Tensor, "*w n d"]
) -> ExcludedRegions | None:
    """The questions asked in the same place `TIMES` and more, if nothing measured is probably feasible.

    None if there are none. A model that takes a violation for noise can want the least violated place measured
    for ever. Once something is feasible no place is excluded: the optimum is often on the edge of what is allowed, and
    the questions gather there.
    """
    if asked.shape[-2] < TIMES or not belief.points.shape[-2]:
        return None
    is_large = asked.shape[-2] > MANY and asked.dim() == 2
    if is_large and bool(_is_any_feasible(belief, confidence, best_measured(belief)).all()):
        return None  # before all pairs are looked at
    parts = asked.split(MANY, -2) if is_large else (asked,)
    excluded = torch.cat([_asked_near(part, asked) >= TIMES for part in parts], -1)
    if not bool(excluded.any()):
        return None
    excluded = excluded & ~_is_any_feasible(belief, confidence, belief.points)
    return ExcludedRegions(asked, excluded) if bool(excluded.any()) else None


def _asked_near(X: Float[Tensor, "*w x d"], asked: Float[Tensor, "*w n d"]) -> Int[Tensor, "*w x"]:
    """How many questions were asked about the place of each point."""
    return ((X[..., :, None, :] - asked[..., None, :, :]).abs().amax(-1) < SAME_PLACE).sum(-1)


def _is_any_feasible(
    belief: Belief, confidence: Float[Tensor, " k"], X: Float[Tensor, "*w x d"]
) -> Bool[Tensor, "*w 1"]:
    """Whether any of the points is probably feasible."""
    with torch.no_grad():
        feasible = assess(belief, X, confidence).log_feasible.exp()
    return ~(feasible < PROBABLY_FEASIBLE).all(-1, keepdim=True)


class Duplicates(NamedTuple):
    """Questions whose answers are known or awaited: without noise, to ask them again would tell nothing.

    Also those that break a constraint on parameters: they are not to be asked either.
    """

    space: Space
    points: tuple[Float[Tensor, "_ d"], ...]
    """For each task; no point twice, and none at all of a task whose measurements are noisy."""
    region: Region | None = None
    """Where the constraints on parameters hold; everywhere if None."""
    columns: tuple[Bool[Tensor, " d"], ...] | None = None
    """For each task those that it depends on; all if None."""

    def at(self, X: Float[Tensor, "x d"]) -> Bool[Tensor, "x t"]:
        """Whether each task would be a duplicate at each point."""
        U = self.space.snap(X.detach())
        every = torch.ones(U.shape[-1], dtype=torch.bool)
        columns = self.columns or (every,) * len(self.points)
        pairs = [(U[:, own], P.to(U)[:, own]) for P, own in zip(self.points, columns, strict=True)]
        again = torch.stack([(torch.cdist(V, P, p=torch.inf) < SAME_POINT).any(-1) for V, P in pairs], -1)
        return again if self.region is None else again | ~self.region.contains(U)[:, None]

    def lattice(self) -> Float[Tensor, "x d"] | None:
        """All points of the space; None where they are too many, or so many more that any search meets one left."""
        if self.space.size is None:
            return None
        return self.space.combinations(max(LATTICE, 2 * max(map(len, self.points))))

    def replaced(self, best: Best, values: Values, candidates: Float[Tensor, "n d"], margin: Margin | None) -> Best:
        """The best questions, duplicates replaced by the best of all others of the task.

        Others are the whole space where that is small, and the candidates elsewhere.
        """
        again = self.at(best.x).diagonal()
        if not bool(again.any()):
            return best
        lattice = self.lattice()
        candidates = candidates if lattice is None else lattice.to(candidates)
        return best_of(values, candidates, ~self.at(candidates), margin).where(again, best)


class Masks(NamedTuple):
    """What may be asked where; of studies in lockstep, none has duplicates."""

    min_probability: float | None = None
    """What the probability that all constraints hold must reach at the point."""
    excluded: ExcludedRegions | None = None
    duplicates: Duplicates | None = None

    def margin(self, context: Context) -> Margin | None:
        """How far each point is from where nothing is to be asked; None where all may be asked."""
        margins: list[Margin] = []
        if self.min_probability is not None:
            least = math.log(self.min_probability)
            margins.append(lambda X: log_feasibility(context, X) - least)
        if self.excluded is not None:
            margins.append(self.excluded.margin)
        if self.duplicates is not None and self.duplicates.region is not None:
            margins.append(self.duplicates.region.margin)
        return (lambda X: torch.stack([margin(X) for margin in margins]).amin(0)) if margins else None


def log_feasibility(context: Context, X: Float[Tensor, "*w x d"]) -> Float[Tensor, "*w x"]:
    """Log of the probability that all constraints hold at each point."""
    return assess(context.belief, X, context.confidence).log_feasible
