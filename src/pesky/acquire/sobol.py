"""Points spread evenly, whatever was measured: a baseline."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from pesky.acquire.base import Context, PointPreference, Rule
from pesky.acquire.baseline import preference


@dataclass(frozen=True)
class QuasiRandom(Rule):
    """The next point of a Sobol sequence; measured separately, the outcomes take turns."""

    name: ClassVar[str] = "sobol"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False

    def prepare(self, context: Context) -> PointPreference:
        # One sequence for the whole study, of which this question takes its own point.
        u = context.space.sobol(context.asked + 1, context.seed)[..., -1, :]
        return PointPreference(
            context.belief, u.to(context.belief.points), preference(context, torch.tensor(context.asked))
        )
