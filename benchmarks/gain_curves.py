"""Our gains on the grid of an oracle."""

from jaxtyping import Float
from torch import Tensor

from benchmarks.oracle import Dataset


def gain_curves(
    dataset: Dataset, grid: Float[Tensor, "n d"], setting: str, samples: int | None, seed: int
) -> Float[Tensor, "J n"]:
    """The gain of measuring each row at each point of the grid, at the known hyperparameters."""
    raise NotImplementedError
