"""PESC that does not choose what to measure, only where: what choosing is worth."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.pesc import PredictiveEntropySearch
from pesky.acquire.rule import Rule, Scene, Worth
from pesky.acquire.settings import DEFAULT, Setting
from pesky.chance import lanes, uniform
from pesky.model.belief import for_samples


@dataclass(frozen=True)
class RandomTask(Rule):
    """A row drawn uniformly, and the point where measuring that row tells most about x*."""

    name: ClassVar[str] = "random task"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = False

    setting: Setting = DEFAULT

    def prepare(self, scene: Scene) -> "OneRow":
        worth = PredictiveEntropySearch(self.setting).prepare(scene)
        rows = scene.belief.amplitude.shape[-1]
        row = (uniform(scene.generator, *lanes(scene.generator), like=scene.belief.points) * rows).long()
        return OneRow(worth, torch.nn.functional.one_hot(row, rows).to(scene.belief.points))


class OneRow(Worth):
    """The worth of one row alone: the others are worth nothing."""

    def __init__(self, worth: Worth, weight: Float[Tensor, "*w j"]) -> None:
        super().__init__(worth.belief, worth.centers, worth.usable)
        self.worth, self.weight = worth, for_samples(worth.belief, weight[..., None])
        self.seconds, self.optima, self.per_point = worth.seconds, worth.optima, worth.per_point

    def each(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        # A gain may come out slightly negative; the other rows must still be worth less.
        return self.weight * self.worth.each(X) - (1 - self.weight)
