"""Townsend's function (2014), modified, in a region with the outline of a heart.

    minimize -cos((x - 0.1) y)^2 - x sin(3 x + y)
    over x in [-2.25, 2.25], y in [-2.5, 1.75]
    such that c1 = (2 cos(t) - 1/2 cos(2 t) - 1/4 cos(3 t) - 1/8 cos(4 t))^2 + (2 sin(t))^2 - x^2 - y^2 >= 0

    with t the angle of the point from the y axis: x = r sin(t), y = r cos(t)

c1 is active at the optimum: -2.0239884 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where c1 = 0 and the gradient is a multiple of its, by Newton's method in 50 digits.
OPTIMUM = (2.0052927155540174, 1.1944528838793893)
OPTIMUM_VALUE = -2.0239883623257626
WORST_VALUE = 2.2285147801921486  # at x = 2.25, y = -2.1616206


def townsend_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x, y)."""
    x, y = X.unbind(-1)
    t = torch.atan2(x, y)
    across = 2 * torch.cos(t) - torch.cos(2 * t) / 2 - torch.cos(3 * t) / 4 - torch.cos(4 * t) / 8
    f = -(torch.cos((x - 0.1) * y) ** 2) - x * torch.sin(3 * x + y)
    return torch.stack([f, across**2 + (2 * torch.sin(t)) ** 2 - x**2 - y**2], dim=-1)


def townsend(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Townsend's function; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x": Real(-2.25, 2.25), "y": Real(-2.5, 1.75)},
        rows=townsend_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
