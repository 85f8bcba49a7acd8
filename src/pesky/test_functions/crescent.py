"""Problem g06 of Michalewicz & Schoenauer (1996): a crescent between two circles, 0.007 % of the box.

    minimize (x - 10)^3 + (y - 20)^3
    over x in [13, 100], y in [0, 100]
    such that c1 = (x - 5)^2 + (y - 5)^2 - 100 >= 0
              c2 = 82.81 - (x - 6)^2 - (y - 5)^2 >= 0

Both constraints are active at the optimum, the tip of the crescent, where they nearly exclude each other; they span
four decades beyond it. The optimum is -6961.8139 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# c1 = c2 = 0: the difference of the two is linear in x, and gives x; c1 = 0 gives y. Both in 40 digits.
OPTIMUM = (14.095, 0.8429607892154782)
OPTIMUM_VALUE = -6961.813875580139
WORST_VALUE = 1241000.0  # both terms grow with their variable


def crescent_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 3"]:
    """The rows (f, c1, c2) at points (x, y)."""
    x, y = X.unbind(-1)
    outside = (x - 5).square() + (y - 5).square() - 100
    inside = 82.81 - (x - 6).square() - (y - 5).square()
    return torch.stack([(x - 10) ** 3 + (y - 20) ** 3, outside, inside], dim=-1)


def crescent(noise: float = 0.0, confidence: float = 1 - 0.05 / 2) -> Benchmark:
    """The crescent; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x": Real(13.0, 100.0), "y": Real(0.0, 100.0)},
        rows=crescent_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
