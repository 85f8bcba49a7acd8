"""Points spread evenly, whatever was measured: a baseline."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from pesky.acquire.baseline import preference
from pesky.acquire.rule import Named, Rule, Scene


@dataclass(frozen=True)
class QuasiRandom(Rule):
    """The next point of a Sobol sequence; measured separately, the outcomes take turns."""

    name: ClassVar[str] = "sobol"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False

    def prepare(self, scene: Scene) -> Named:
        # One sequence for the whole study, of which this question takes its own point.
        u = scene.space.sobol(scene.asked + 1, scene.seed)[..., -1, :]
        return Named(scene.belief, u.to(scene.belief.points), preference(scene, torch.tensor(scene.asked)))
