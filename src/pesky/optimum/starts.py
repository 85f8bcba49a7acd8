"""Where a search from several points begins."""

import torch
from jaxtyping import Float
from torch import Tensor

APART = 0.05
"""Starts are at least this far apart in the cube, so that they climb different hills."""


def spread_out(
    candidates: Float[Tensor, "*w n d"], values: Float[Tensor, "*w n"], count: int
) -> Float[Tensor, "*w s d"]:
    """The `count` best candidates that keep apart from each other."""
    values = torch.nan_to_num(values, nan=-torch.inf)
    chosen = []
    for _ in range(count):
        best = values.argmax(-1)[..., None, None].expand(*values.shape[:-1], 1, candidates.shape[-1])
        chosen.append(torch.gather(candidates, -2, best))
        close = (candidates - chosen[-1]).abs().amax(-1) < APART
        # Where all is close, the next best serves again: the number of starts is the same for every task.
        left = torch.where(close, -torch.inf, values)
        values = torch.where(torch.isfinite(left).any(-1, keepdim=True), left, values)
    return torch.cat(chosen, -2)
