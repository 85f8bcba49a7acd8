"""Rules that ask whatever was measured: what every other rule must beat."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pesky.acquire.base import Context, PointPreference, Rule
from pesky.numerics.rng import question_seed, source_of, studies_of, uniform

TIE_BREAK = 1e-6
"""The most that a row which was not chosen is worth, beside 1 for the one that was."""


@dataclass(frozen=True)
class Random(Rule):
    """A point drawn uniformly; measured separately, an outcome drawn uniformly."""

    name: ClassVar[str] = "random"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False
    learns: ClassVar[bool] = False

    def acquisition(self, context: Context) -> PointPreference:
        # Random numbers of this question alone, whatever else was drawn for it.
        source = source_of(question_seed(context.seed, context.asked))
        row = uniform(source, *studies_of(source), like=context.belief.points) * context.belief.amplitude.shape[-1]
        # A Latin hypercube of one point is one uniform number per parameter.
        u = context.space.latin(1, source)[..., 0, :]
        return PointPreference(context.belief, u.to(context.belief.points), prefer_row(context, row.long()))


@dataclass(frozen=True)
class QuasiRandom(Rule):
    """The next point of a Sobol sequence; measured separately, the outcomes take turns."""

    name: ClassVar[str] = "sobol"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False
    learns: ClassVar[bool] = False

    def acquisition(self, context: Context) -> PointPreference:
        # One sequence for the whole study, of which this question takes its own point.
        u = context.space.sobol(context.asked + 1, context.seed)[..., -1, :]
        weight = prefer_row(context, torch.tensor(context.asked))
        return PointPreference(context.belief, u.to(context.belief.points), weight)


def prefer_row(context: Context, row: Int[Tensor, "*#w"]) -> Float[Tensor, "*w j"]:
    """A weight of 1 for one row, numbered modulo their count; small random ones, for where no task measures it."""
    rows, w = context.belief.amplitude.shape[-1], studies_of(context.generator)
    weight = TIE_BREAK * uniform(context.generator, *w, rows, like=context.belief.points)
    return weight.scatter(-1, (row.to(weight.device) % rows).expand(w)[..., None], 1.0)
