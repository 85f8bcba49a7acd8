"""Where the least of many numbers is: torch compares them one after the other, NumPy many at once."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

CPU = torch.device("cpu")


def argmin(values: Float[Tensor, "*b n"]) -> Int[Tensor, "*b"]:
    """`values.argmin(-1)`, on a processor in a sixth of the time: of those that are equal the first one."""
    if values.device != CPU or values.requires_grad:
        return values.argmin(-1)
    return torch.as_tensor(values.numpy().argmin(-1))
