"""Points drawn by chance: what every other rule must beat."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pesky.acquire.baseline import preference
from pesky.acquire.rule import Named, Rule, Scene
from pesky.chance import lanes, question_seed, source_of, uniform


@dataclass(frozen=True)
class Random(Rule):
    """A point drawn uniformly; measured separately, an outcome drawn uniformly."""

    name: ClassVar[str] = "random"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False

    def prepare(self, scene: Scene) -> Named:
        # Random numbers of this question alone, whatever else was drawn for it.
        source = source_of(question_seed(scene.seed, scene.asked))
        row = uniform(source, *lanes(source), like=scene.belief.points) * scene.belief.amplitude.shape[-1]
        # A Latin hypercube of one point is one uniform number per parameter.
        u = scene.space.latin(1, source)[..., 0, :]
        return Named(scene.belief, u.to(scene.belief.points), preference(scene, row.long()))
