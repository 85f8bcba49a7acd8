"""Problem g12 of Liang et al. (2006): a bowl, of which 729 small balls, all apart, are feasible.

    minimize ((x1 - 5)^2 + (x2 - 5)^2 + (x3 - 5)^2) / 100 - 1 on [0, 10]^3
    such that c1 = 1/16 - |x - p|^2 >= 0 for one of the points p with coordinates of 1, 2, .., 9

The optimum, (5, 5, 5), is the middle of a ball: no constraint is active there.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

OPTIMUM = (5.0, 5.0, 5.0)


def g12_rows(X: Float[Tensor, "n 3"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x1, x2, x3)."""
    nearest = X.detach().round().clamp(1, 9)
    return torch.stack([(X - 5).square().sum(-1) / 100 - 1, 1 / 16 - (X - nearest).square().sum(-1)], dim=-1)


def g12(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Problem g12; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={f"x{j}": Real(0.0, 10.0) for j in range(1, 4)},
        rows=g12_rows,
        optimum=OPTIMUM,
        optimum_value=-1.0,
        worst_value=-0.25,  # at the corners
        noise=noise,
        confidence=confidence,
    )
