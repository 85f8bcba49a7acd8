"""Our gains on the grid of an oracle."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from benchmarks.oracle import Dataset
from pesky.acquire import PESC
from pesky.acquire.settings import SETTINGS
from pesky.model import GaussianProcess, Hyperparameters


def gain_curves(
    dataset: Dataset, grid: Float[Tensor, "n d"], setting: str, samples: int | None, seed: int
) -> Float[Tensor, "J n"]:
    """The gain of measuring each row at each point of the grid, at the known hyperparameters."""
    rows = dataset.rows

    def column(values: list[float]) -> Float[Tensor, " J"]:
        return torch.tensor(values, dtype=grid.dtype)

    known = Hyperparameters(
        column([row.lengthscale for row in rows])[:, None].expand(-1, grid.shape[-1]),
        column([row.amplitude for row in rows]),
        column([row.noise for row in rows]),
        torch.zeros(len(rows), dtype=grid.dtype),
    )
    belief = GaussianProcess(
        "se",
        pad_sequence([row.X for row in rows], batch_first=True),
        pad_sequence([row.y for row in rows], batch_first=True),
        pad_sequence([torch.ones(len(row.y), dtype=torch.bool) for row in rows], batch_first=True),
        known,
    )
    chosen = SETTINGS[setting] if samples is None else replace(SETTINGS[setting], samples=samples)
    with torch.no_grad():
        return PESC(belief, setting=chosen, seed=seed).gains(grid).mT
