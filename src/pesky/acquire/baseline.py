"""Rules that do not look at what was measured: what every other one must beat."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.rule import Named, Rule, Scene


@dataclass(frozen=True)
class QuasiRandom(Rule):
    """The next point of a Sobol sequence; measured separately, the outcomes take turns."""

    name: ClassVar[str] = "sobol"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False

    def prepare(self, scene: Scene) -> Named:
        # One sequence for the whole study, of which this question takes its own point.
        u = scene.space.sobol(scene.asked + 1, scene.seed)[-1]
        return Named(scene.belief, u.to(scene.belief.points), _preference(scene, scene.asked))


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
        return Named(scene.belief, u.to(scene.belief.points), _preference(scene, row))


def _preference(scene: Scene, row: int) -> Float[Tensor, " j"]:
    """Almost all worth to one row; the rest decides, by chance, where no task measures that row."""
    rows = scene.belief.amplitude.shape[-1]
    weight = 1e-6 * torch.rand(rows, generator=scene.generator, dtype=torch.float64)
    weight[row % rows] = 1.0
    return weight.to(scene.belief.points)
