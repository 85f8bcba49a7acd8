"""Problem g10 of Liang et al. (2006): three heat exchangers in a row, of least area.

    minimize x1 + x2 + x3
    over areas x1 in [100, 10000], x2, x3 in [1000, 10000] and temperatures x4, .., x8 in [10, 1000]
    such that c1 = 1 - (x4 + x6) / 400 >= 0
              c2 = 1 - (x5 + x7 - x4) / 400 >= 0
              c3 = 1 - (x8 - x5) / 100 >= 0
              c4 = (x1 x6 - 833.33252 x4 - 100 x1) / 83333.333 + 1 >= 0
              c5 = (x2 x7 - 1250 x5 - x2 x4 + 1250 x4) / 1250000 >= 0
              c6 = (x3 x8 - x3 x5 + 2500 x5) / 1250000 - 1 >= 0

Constraints are divided by their limits, c5 by that of c6, which leaves the feasible set as it is: ten points in a
million. All six are active at the optimum: 7049.24802 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where c1 = .. = c6 = 0 and the gradient is a combination of theirs, by Newton's method in 50 digits.
OPTIMUM = (
    579.30668442535511,
    1359.9706680516551,
    5109.9706680516551,
    182.01769958111992,
    295.60117327793380,
    217.98230041888008,
    286.41652630318612,
    395.60117327793380,
)
OPTIMUM_VALUE = 7049.2480205286652
WORST_VALUE = 30000.0  # the largest areas


def g10_rows(X: Float[Tensor, "n 8"]) -> Float[Tensor, "n 7"]:
    """The rows (f, c1, .., c6) at points (x1, .., x8)."""
    x1, x2, x3, x4, x5, x6, x7, x8 = X.unbind(-1)
    rows = [
        x1 + x2 + x3,
        1 - (x4 + x6) / 400,
        1 - (x5 + x7 - x4) / 400,
        1 - (x8 - x5) / 100,
        (x1 * x6 - 833.33252 * x4 - 100 * x1) / 83333.333 + 1,
        (x2 * x7 - 1250 * x5 - x2 * x4 + 1250 * x4) / 1250000,
        (x3 * x8 - x3 * x5 + 2500 * x5) / 1250000 - 1,
    ]
    return torch.stack(rows, dim=-1)


def g10(noise: float = 0.0, confidence: float = 1 - 0.05 / 6) -> Benchmark:
    """Problem g10; `noise` is the standard deviation of every outcome."""
    areas = {"x1": Real(100.0, 10000.0), "x2": Real(1000.0, 10000.0), "x3": Real(1000.0, 10000.0)}
    return benchmark_in_units(
        parameters={**areas, **{f"x{j}": Real(10.0, 1000.0) for j in range(4, 9)}},
        rows=g10_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
