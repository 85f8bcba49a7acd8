"""Problem g09 of Liang et al. (2006): seven variables, an objective of sixth order, two active constraints of four.

    minimize (x1 - 10)^2 + 5 (x2 - 12)^2 + x3^4 + 3 (x4 - 11)^2 + 10 x5^6 + 7 x6^2 + x7^4 - 4 x6 x7 - 10 x6 - 8 x7
    on [-10, 10]^7
    such that c1 = 1 - (2 x1^2 + 3 x2^4 + x3 + 4 x4^2 + 5 x5) / 127 >= 0
              c2 = 1 - (7 x1 + 3 x2 + 10 x3^2 + x4 - x5) / 282 >= 0
              c3 = 1 - (23 x1 + x2^2 + 6 x6^2 - 8 x7) / 196 >= 0
              c4 = -4 x1^2 - x2^2 + 3 x1 x2 - 2 x3^2 - 5 x6 + 11 x7 >= 0

Constraints with a limit are divided by it, which leaves the feasible set as it is. The objective spans five decades.
At the optimum c1 and c4 are active: 680.630057 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where c1 = c4 = 0 and the gradient is a combination of theirs, by Newton's method in 50 digits.
OPTIMUM = (
    2.3304993728795700,
    1.9513723728968890,
    -0.47754139238887163,
    4.3657262336558102,
    -0.62448697052681741,
    1.0381310186079583,
    1.5942267116118685,
)
OPTIMUM_VALUE = 680.63005737440215
# A function that is convex in each variable is highest at a corner, here (-10, -10, x3, -10, x5, -10, 10).
WORST_VALUE = 10025263.0


def g09_rows(X: Float[Tensor, "n 7"]) -> Float[Tensor, "n 5"]:
    """The rows (f, c1, .., c4) at points (x1, .., x7)."""
    x1, x2, x3, x4, x5, x6, x7 = X.unbind(-1)
    alone = (x1 - 10) ** 2 + 5 * (x2 - 12) ** 2 + x3**4 + 3 * (x4 - 11) ** 2 + 10 * x5**6
    pair = 7 * x6**2 + x7**4 - 4 * x6 * x7 - 10 * x6 - 8 * x7
    rows = [
        alone + pair,
        1 - (2 * x1**2 + 3 * x2**4 + x3 + 4 * x4**2 + 5 * x5) / 127,
        1 - (7 * x1 + 3 * x2 + 10 * x3**2 + x4 - x5) / 282,
        1 - (23 * x1 + x2**2 + 6 * x6**2 - 8 * x7) / 196,
        -4 * x1**2 - x2**2 + 3 * x1 * x2 - 2 * x3**2 - 5 * x6 + 11 * x7,
    ]
    return torch.stack(rows, dim=-1)


def g09(noise: float = 0.0, confidence: float = 1 - 0.05 / 4) -> Benchmark:
    """Problem g09; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={f"x{j}": Real(-10.0, 10.0) for j in range(1, 8)},
        rows=g09_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
