"""Problem g04 of Liang et al. (2006), Himmelblau's problem 11: three quantities between two limits each.

    minimize 5.3578547 x3^2 + 0.8356891 x1 x5 + 37.293239 x1 - 40792.141
    over x1 in [78, 102], x2 in [33, 45], x3, x4, x5 in [27, 45]
    such that c1 = u / 92 >= 0,      c2 = 1 - u / 92 >= 0
              c3 = v / 90 - 1 >= 0,  c4 = 1 - v / 110 >= 0
              c5 = w / 20 - 1 >= 0,  c6 = 1 - w / 25 >= 0

    u = 85.334407 + 0.0056858 x2 x5 + 0.0006262 x1 x4 - 0.0022053 x3 x5
    v = 80.51249 + 0.0071317 x2 x5 + 0.0029955 x1 x2 + 0.0021813 x3^2
    w = 9.300961 + 0.0047026 x3 x5 + 0.0012547 x1 x3 + 0.0019085 x3 x4

The source is "Problem definitions and evaluation criteria for the CEC 2006 special session on constrained
real-parameter optimization". Constraints are divided by their limits, which leaves the feasible set as it is. At the
optimum c2 and c5 are active, x1 and x2 are at their lower bounds and x4 is at its upper one: -30665.538672 in the
literature. (With 0.00026 x1 x4 in u, as other authors have it, it is -31025.560.)
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where c2 = c5 = 0 at those bounds, by Newton's method in 50 digits.
OPTIMUM = (78.0, 33.0, 29.995256025681599, 45.0, 36.775812905788205)
OPTIMUM_VALUE = -30665.538671783316
# Every term grows with every parameter: the upper corner is the worst.
WORST_VALUE = 5.3578547 * 45**2 + 0.8356891 * 102 * 45 + 37.293239 * 102 - 40792.141


def g04_rows(X: Float[Tensor, "n 5"]) -> Float[Tensor, "n 7"]:
    """The rows (f, c1, .., c6) at points (x1, .., x5)."""
    x1, x2, x3, x4, x5 = X.unbind(-1)
    u = 85.334407 + 0.0056858 * x2 * x5 + 0.0006262 * x1 * x4 - 0.0022053 * x3 * x5
    v = 80.51249 + 0.0071317 * x2 * x5 + 0.0029955 * x1 * x2 + 0.0021813 * x3**2
    w = 9.300961 + 0.0047026 * x3 * x5 + 0.0012547 * x1 * x3 + 0.0019085 * x3 * x4
    f = 5.3578547 * x3**2 + 0.8356891 * x1 * x5 + 37.293239 * x1 - 40792.141
    return torch.stack([f, u / 92, 1 - u / 92, v / 90 - 1, 1 - v / 110, w / 20 - 1, 1 - w / 25], dim=-1)


def g04(noise: float = 0.0, confidence: float = 1 - 0.05 / 6) -> Benchmark:
    """Problem g04; `noise` is the standard deviation of every outcome."""
    low, high = (78.0, 33.0, 27.0, 27.0, 27.0), (102.0, 45.0, 45.0, 45.0, 45.0)
    return benchmark_in_units(
        parameters={f"x{j}": Real(*bounds) for j, bounds in enumerate(zip(low, high, strict=True), 1)},
        rows=g04_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
