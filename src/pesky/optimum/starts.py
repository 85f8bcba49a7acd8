"""Where a search from several points begins."""

import torch
from jaxtyping import Float
from torch import Tensor

APART = 0.05
"""Starts are at least this far apart in the cube, so that they climb different hills."""


def spread_out(candidates: Float[Tensor, "n d"], values: Float[Tensor, " n"], count: int) -> Float[Tensor, "s d"]:
    """The `count` best candidates that keep apart from each other."""
    values = torch.nan_to_num(values, nan=-torch.inf)
    chosen = []
    for _ in range(count):
        chosen.append(candidates[values.argmax()])
        close = (candidates - chosen[-1]).abs().amax(-1) < APART
        # Where all is close, the next best serves again: the number of starts is the same for every task.
        left = torch.where(close, -torch.inf, values)
        values = left if bool(torch.isfinite(left).any()) else values
    return torch.stack(chosen)
