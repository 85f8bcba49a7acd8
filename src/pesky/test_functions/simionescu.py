"""Simionescu's function (2014) in a region with the outline of a flower of eight petals.

    minimize 0.1 x y on [-1.25, 1.25]^2
    such that c1 = (1 + 0.2 cos(8 t))^2 - x^2 - y^2 >= 0

    with t the angle of the point from the y axis

There are two optima of the same value, (a, -a) and (-a, a) with a = 0.6 sqrt(2), the tips of two petals: -0.072. c1 is
active at both.
"""

from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# The lowest x y of all points at the distance 1.2, which is the largest.
OPTIMUM = (0.6 * sqrt(2), -0.6 * sqrt(2))
OPTIMUM_VALUE = -0.072
WORST_VALUE = 0.15625  # at the corners (1.25, 1.25) and (-1.25, -1.25)


def simionescu_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x, y)."""
    x, y = X.unbind(-1)
    radius = 1 + 0.2 * torch.cos(8 * torch.atan2(x, y))
    return torch.stack([0.1 * x * y, radius**2 - x**2 - y**2], dim=-1)


def simionescu(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Simionescu's function; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x": Real(-1.25, 1.25), "y": Real(-1.25, 1.25)},
        rows=simionescu_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
