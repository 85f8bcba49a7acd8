"""Problem g07 of Liang et al. (2006): a bowl of ten variables, three linear and five quadratic constraints.

    minimize x1^2 + x2^2 + x1 x2 - 14 x1 - 16 x2 + (x3 - 10)^2 + 4 (x4 - 5)^2 + (x5 - 3)^2 + 2 (x6 - 1)^2 + 5 x7^2
             + 7 (x8 - 11)^2 + 2 (x9 - 10)^2 + (x10 - 7)^2 + 45
    on [-10, 10]^10
    such that c1 = 1 - (4 x1 + 5 x2 - 3 x7 + 9 x8) / 105 >= 0
              c2 = -10 x1 + 8 x2 + 17 x7 - 2 x8 >= 0
              c3 = 1 - (-8 x1 + 2 x2 + 5 x9 - 2 x10) / 12 >= 0
              c4 = 1 - (3 (x1 - 2)^2 + 4 (x2 - 3)^2 + 2 x3^2 - 7 x4) / 120 >= 0
              c5 = 1 - (5 x1^2 + 8 x2 + (x3 - 6)^2 - 2 x4) / 40 >= 0
              c6 = -x1^2 - 2 (x2 - 2)^2 + 2 x1 x2 - 14 x5 + 6 x6 >= 0
              c7 = 1 - (1/2 (x1 - 8)^2 + 2 (x2 - 4)^2 + 3 x5^2 - x6) / 30 >= 0
              c8 = 3 x1 - 6 x2 - 12 (x9 - 8)^2 + 7 x10 >= 0

Constraints with a limit are divided by it, which leaves the feasible set as it is: two or three points in a
million. At the optimum c1 to c6 are active: 24.30620907 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where c1 = .. = c6 = 0 and the gradient is a combination of theirs, by Newton's method in 50 digits.
OPTIMUM = (
    2.1719963712554553,
    2.3636829736972798,
    8.7739257384768504,
    5.0959844879484528,
    0.99065476496385916,
    1.4305739789363159,
    1.3216442081617033,
    9.8287258078863211,
    8.2800916700983458,
    8.3759266639213233,
)
OPTIMUM_VALUE = 24.306209068179809
# A convex function is highest at a corner: (-10, .., -10) of all 1024.
WORST_VALUE = 7032.0


def g07_rows(X: Float[Tensor, "n 10"]) -> Float[Tensor, "n 9"]:
    """The rows (f, c1, .., c8) at points (x1, .., x10)."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10 = X.unbind(-1)
    pair = x1**2 + x2**2 + x1 * x2 - 14 * x1 - 16 * x2
    bowl = (x3 - 10) ** 2 + 4 * (x4 - 5) ** 2 + (x5 - 3) ** 2 + 2 * (x6 - 1) ** 2 + 5 * x7**2
    rest = 7 * (x8 - 11) ** 2 + 2 * (x9 - 10) ** 2 + (x10 - 7) ** 2 + 45
    rows = [
        pair + bowl + rest,
        1 - (4 * x1 + 5 * x2 - 3 * x7 + 9 * x8) / 105,
        -10 * x1 + 8 * x2 + 17 * x7 - 2 * x8,
        1 - (-8 * x1 + 2 * x2 + 5 * x9 - 2 * x10) / 12,
        1 - (3 * (x1 - 2) ** 2 + 4 * (x2 - 3) ** 2 + 2 * x3**2 - 7 * x4) / 120,
        1 - (5 * x1**2 + 8 * x2 + (x3 - 6) ** 2 - 2 * x4) / 40,
        -(x1**2) - 2 * (x2 - 2) ** 2 + 2 * x1 * x2 - 14 * x5 + 6 * x6,
        1 - ((x1 - 8) ** 2 / 2 + 2 * (x2 - 4) ** 2 + 3 * x5**2 - x6) / 30,
        3 * x1 - 6 * x2 - 12 * (x9 - 8) ** 2 + 7 * x10,
    ]
    return torch.stack(rows, dim=-1)


def g07(noise: float = 0.0, confidence: float = 1 - 0.05 / 8) -> Benchmark:
    """Problem g07; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={f"x{j}": Real(-10.0, 10.0) for j in range(1, 11)},
        rows=g07_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
