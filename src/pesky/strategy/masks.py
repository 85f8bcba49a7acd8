"""Where nothing is to be asked: what is improbable to be feasible, forbidden, or answered already."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.base import Context
from pesky.acquire.maximize import Best, Values, best_of
from pesky.optimum.assessment import SAME_POINT, assess
from pesky.space import Space
from pesky.space.region import Region

SAME_QUESTION = 1e-3
"""Questions of one task closer than this, in the unit cube, are the same question."""
LATTICE = 4096
"""Points up to which a finite space is gone through whole in search of one that is left."""

Margin = Callable[[Tensor], Tensor]
"""Points (*w, n, d) -> how far each is from where nothing is to be asked, (*w, n): negative there."""


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
    """What may be asked where."""

    min_probability: float | None = None
    """What the probability that all constraints hold must reach at the point."""
    duplicates: Duplicates | None = None

    def margin(self, context: Context) -> Margin | None:
        """How far each point is from where nothing is to be asked; None where all may be asked."""
        margins: list[Margin] = []
        if self.min_probability is not None:
            least = math.log(self.min_probability)
            margins.append(lambda X: log_feasibility(context, X) - least)
        if self.duplicates is not None and self.duplicates.region is not None:
            margins.append(self.duplicates.region.margin)
        return (lambda X: torch.stack([margin(X) for margin in margins]).amin(0)) if margins else None


def log_feasibility(context: Context, X: Float[Tensor, "*w x d"]) -> Float[Tensor, "*w x"]:
    """Log of the probability that all constraints hold at each point."""
    return assess(context.belief, X, context.confidence).log_feasible
