"""PESC that does not choose what to measure, only where: what choosing is worth."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.pesc.rule import PredictiveEntropySearch
from pesky.model.belief import for_hyper_samples
from pesky.numerics.rng import studies_of, uniform


@dataclass(frozen=True)
class RandomTask(Rule):
    """A row drawn uniformly, and the point where measuring that row tells most about x*."""

    name: ClassVar[str] = "random task"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False

    def acquisition(self, context: Context) -> "OneRow":
        acquisition = PredictiveEntropySearch().acquisition(context)
        rows = context.belief.amplitude.shape[-1]
        row = (uniform(context.generator, *studies_of(context.generator), like=context.belief.points) * rows).long()
        return OneRow(acquisition, torch.nn.functional.one_hot(row, rows).to(context.belief.points))


class OneRow(AcquisitionFunction):
    """The worth of one row alone: the others are worth nothing."""

    def __init__(self, acquisition: AcquisitionFunction, weight: Float[Tensor, "*w j"]) -> None:
        super().__init__(acquisition.belief, acquisition.search_centers, acquisition.search_mask, acquisition.optima)
        self.acquisition, self.weight = acquisition, for_hyper_samples(acquisition.belief, weight[..., None])
        self.memory_per_point = acquisition.memory_per_point

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        # A gain may come out slightly negative; the other rows must still be worth less.
        return self.weight * self.acquisition.forward(X) - (1 - self.weight)
