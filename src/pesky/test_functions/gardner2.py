"""Simulation 2 of Gardner et al. (2014), "Bayesian optimization with inequality constraints".

    minimize sin(x) + y on [0, 6]^2
    such that c1 = -sin(x) sin(y) - 0.95 >= 0

The feasible region is two small ovals, around (pi/2, 3 pi/2) and (3 pi/2, pi/2). The optimum is the lower end of the
second, x = 3 pi / 2 and sin(y) = 0.95, where c1 is active.
"""

from math import asin, pi

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

OPTIMUM = (1.5 * pi, asin(0.95))
OPTIMUM_VALUE = asin(0.95) - 1


def gardner2_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x, y)."""
    x, y = X.unbind(-1)
    return torch.stack([torch.sin(x) + y, -torch.sin(x) * torch.sin(y) - 0.95], dim=-1)


def gardner2(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Gardner et al.'s simulation 2; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x": Real(0.0, 6.0), "y": Real(0.0, 6.0)},
        rows=gardner2_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=7.0,  # at x = pi / 2, y = 6
        noise=noise,
        confidence=confidence,
    )
