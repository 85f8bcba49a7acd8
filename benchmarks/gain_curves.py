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
    belief = GaussianProcess(
        "se",
        pad_sequence([row.X for row in rows], batch_first=True),
        pad_sequence([row.y for row in rows], batch_first=True),
        pad_sequence([torch.ones(len(row.y), dtype=torch.bool) for row in rows], batch_first=True),
        Hyperparameters(
            torch.stack([torch.as_tensor(row.lengthscale, dtype=grid.dtype).expand(grid.shape[-1]) for row in rows]),
            *(torch.tensor([getattr(row, name) for row in rows], dtype=grid.dtype) for name in ("amplitude", "noise")),
            torch.zeros(len(rows), dtype=grid.dtype),
        ),
    )
    chosen = SETTINGS[setting] if samples is None else replace(SETTINGS[setting], samples=samples)
    with torch.no_grad():
        return PESC(belief, setting=chosen, seed=seed).gains(grid).mT
