"""Points drawn by chance: what every other rule must beat."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from pesky.acquire.baseline import preference
from pesky.acquire.rule import Named, Rule, Scene


@dataclass(frozen=True)
class Random(Rule):
    """A point drawn uniformly; measured separately, an outcome drawn uniformly."""

    name: ClassVar[str] = "random"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False

    def prepare(self, scene: Scene) -> Named:
        # Random numbers of this question alone, whatever else was drawn for it.
        generator = torch.Generator().manual_seed((scene.seed * 1_000_003 + scene.asked) % 2**63)
        row = int(torch.randint(scene.belief.amplitude.shape[-1], (1,), generator=generator))
        # A Latin hypercube of one point is one uniform number per parameter.
        u = scene.space.latin(1, generator)[0]
        return Named(scene.belief, u.to(scene.belief.points), preference(scene, row))
