"""Mishra's bird function (2006) in a disk.

    minimize sin(y) exp((1 - cos(x))^2) + cos(x) exp((1 - sin(y))^2) + (x - y)^2
    over x in [-10, 0], y in [-6.5, 0]
    such that c1 = 25 - (x + 5)^2 - (y + 5)^2 >= 0

The optimum is in the disk, in one of several narrow dips: -106.764537 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where the gradient is zero, by Newton's method in 50 digits.
OPTIMUM = (-3.1302468034546564, -1.5821421769300335)
OPTIMUM_VALUE = -106.76453674926467
WORST_VALUE = 97.719167109734134  # at the corner (-10, 0)


def mishra_bird_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x, y)."""
    x, y = X.unbind(-1)
    wing = torch.sin(y) * torch.exp((1 - torch.cos(x)) ** 2) + torch.cos(x) * torch.exp((1 - torch.sin(y)) ** 2)
    return torch.stack([wing + (x - y) ** 2, 25 - (x + 5) ** 2 - (y + 5) ** 2], dim=-1)


def mishra_bird(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Mishra's bird; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x": Real(-10.0, 0.0), "y": Real(-6.5, 0.0)},
        rows=mishra_bird_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
