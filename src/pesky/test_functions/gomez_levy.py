"""The six-hump camel over a region of many parts, by Gomez & Levy (1982), modified.

    minimize 4 x^2 - 2.1 x^4 + x^6 / 3 + x y - 4 y^2 + 4 y^4
    over x in [-1, 0.75], y in [-1, 1]
    such that c1 = 3/2 + sin(4 pi x) - 2 sin(2 pi y)^2 >= 0

Of the camel's two equal minima one is feasible, and no constraint is active there: -1.031628 in the literature.
"""

from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where the gradient is zero, by Newton's method in 50 digits.
OPTIMUM = (0.089842013100318062, -0.71265640302073963)
OPTIMUM_VALUE = -1.0316284534898774
WORST_VALUE = 4 - 2.1 + 1 / 3 + 1  # at the corner (-1, -1)


def gomez_levy_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x, y)."""
    x, y = X.unbind(-1)
    f = 4 * x**2 - 2.1 * x**4 + x**6 / 3 + x * y - 4 * y**2 + 4 * y**4
    return torch.stack([f, 1.5 + torch.sin(4 * pi * x) - 2 * torch.sin(2 * pi * y) ** 2], dim=-1)


def gomez_levy(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Gomez and Levy's problem; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x": Real(-1.0, 0.75), "y": Real(-1.0, 1.0)},
        rows=gomez_levy_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
