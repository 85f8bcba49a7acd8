"""Points drawn by chance: what every other rule must beat."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pesky.acquire.base import Context, PointPreference, Rule
from pesky.acquire.baseline import preference
from pesky.numerics.rng import lanes, question_seed, source_of, uniform


@dataclass(frozen=True)
class Random(Rule):
    """A point drawn uniformly; measured separately, an outcome drawn uniformly."""

    name: ClassVar[str] = "random"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False

    def prepare(self, context: Context) -> PointPreference:
        # Random numbers of this question alone, whatever else was drawn for it.
        source = source_of(question_seed(context.seed, context.asked))
        row = uniform(source, *lanes(source), like=context.belief.points) * context.belief.amplitude.shape[-1]
        # A Latin hypercube of one point is one uniform number per parameter.
        u = context.space.latin(1, source)[..., 0, :]
        return PointPreference(context.belief, u.to(context.belief.points), preference(context, row.long()))
