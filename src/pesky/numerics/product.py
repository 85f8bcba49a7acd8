"""Products of single-precision matrices, by the quickest of the libraries that torch has.

What torch calls by itself is MKL, which on processors of AMD's does less than half of what these can do: a product of
(384, 542) and (542, 542) takes 2.2 ms of an EPYC 9005 there, and 0.9 ms by oneDNN, which is part of torch as well.
"""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

LEAST = 40_000_000
"""Multiplications from which on it pays: to prepare it for matrices of another size takes .1 to .7 ms."""


def product(A: Float[Tensor, "*b m k"], B: Float[Tensor, "*b k n"]) -> Float[Tensor, "*b m n"]:
    """A @ B."""
    is_plain = A.dtype == B.dtype == torch.float32 and not (A.is_cuda or A.requires_grad or B.requires_grad)
    if not is_plain or A.numel() * B.shape[-1] < LEAST or (linear := _linear()) is None:
        return A @ B
    out = A.new_empty(*A.shape[:-1], B.shape[-1])
    for into, a, b in zip(*(each.reshape(-1, *each.shape[-2:]) for each in (out, A, B)), strict=True):
        into.copy_(linear(a, b.mT, None, "none", [], ""))
    return out


@cache
def _linear() -> Any:
    """OneDNN's product, where this torch has it, on processors on which it was seen to be the quicker one."""
    is_there = torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability() == "AVX512"
    return getattr(torch.ops.mkldnn, "_linear_pointwise", None) if is_there else None
