"""Questions whose answers are known or awaited: without noise, to ask them again would tell nothing."""

from collections.abc import Callable
from math import prod
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.maximize import Best, Values, best_of
from pesky.space import Space, columns

SAME = 1e-9
"""Points closer than this, in the unit cube, are one point: what is encoded and decoded again is rounded, and no model
tells such points apart."""
LATTICE = 4096
"""Points up to which a finite space is gone through whole in search of one that is left."""


class Duplicates(NamedTuple):
    """Where each task of a menu need not be asked any more, in a space."""

    space: Space
    points: tuple[Float[Tensor, "_ d"], ...]
    """For each task; no point twice, and none at all of a task whose measurements are noisy."""

    def at(self, X: Float[Tensor, "x d"]) -> Bool[Tensor, "x t"]:
        """Whether each task is settled at each point."""
        U = self.space.snap(X.detach())
        return torch.stack([(torch.cdist(U, P.to(U), p=torch.inf) < SAME).any(-1) for P in self.points], -1)

    def lattice(self) -> Float[Tensor, "x d"] | None:
        """All points of the space; None where they are too many, or so many more that any search meets one left."""
        if size(self.space) is None:
            return None
        return self.space.combinations(max(LATTICE, 2 * max(map(len, self.points))))


def size(space: Space) -> int | None:
    """How many points a space has; None where a parameter is real."""
    return None if bool(space.continuous.any()) else prod(map(columns.size, space.parameters.values()))


def instead(
    best: Best,
    values: Values,
    candidates: Float[Tensor, "n d"],
    margin: Callable[[Tensor], Tensor] | None,
    duplicates: Duplicates,
) -> Best:
    """The best questions, those that are settled replaced by the best of all others of the task.

    Others are the whole space where that is small, and the candidates elsewhere.
    """
    again = duplicates.at(best.x).diagonal()
    if not bool(again.any()):
        return best
    lattice = duplicates.lattice()
    candidates = candidates if lattice is None else lattice.to(candidates)
    other = best_of(values, candidates, ~duplicates.at(candidates), margin)
    return Best(torch.where(again[:, None], other.x, best.x), torch.where(again, other.value, best.value))
