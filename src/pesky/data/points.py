"""Where evaluations measure, in the unit cube."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.space import Space
from pesky.store import Evaluation


class Points:
    """The points of evaluations, each encoded once; those of several are on the device that computes."""

    def __init__(self, space: Space, device: torch.device | str = "cpu") -> None:
        self.space, self.device = space, device
        self._encoded: dict[int, Tensor | None] = {}

    def of(self, evaluation: Evaluation) -> Float[Tensor, " d"]:
        """The point of an evaluation of the study."""
        u = self.place(evaluation)
        return self.space.encode(evaluation.params) if u is None else u

    def place(self, evaluation: Evaluation) -> Float[Tensor, " d"] | None:
        """The same, also outside of the unit cube; None where it has no place that tells of the cube."""
        if evaluation.id not in self._encoded:
            self.remember([evaluation])
        return self._encoded[evaluation.id]

    def remember(self, evaluations: Iterable[Evaluation]) -> None:
        """Encodes those of them that are new, all at once."""
        if not (new := [e for e in evaluations if e.id not in self._encoded]):
            return
        self._encoded.update(zip((e.id for e in new), self.space.place_all([e.params for e in new]), strict=True))

    def stack(self, evaluations: Iterable[Evaluation]) -> Float[Tensor, "n d"]:
        """The points of these, which may be none."""
        each = [self.of(e) for e in evaluations]
        found = torch.stack(each) if each else torch.zeros(0, self.space.dim, dtype=torch.float64)
        return found.to(self.device)
