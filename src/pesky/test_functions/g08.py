"""Problem g08 of Liang et al. (2006): many hills and dips, of which the feasible part has but a few.

    minimize -sin(2 pi x1)^3 sin(2 pi x2) / (x1^3 (x1 + x2)) on [0, 10]^2
    such that c1 = x2 - x1^2 - 1 >= 0
              c2 = x1 - 1 - (x2 - 4)^2 >= 0

Outside of the feasible part, towards x1 = 0, the objective is ten thousand times as large as in it. It is continued
to x1 = 0 by its limit, and is 0 in the corner, where it has none. No constraint is active at the optimum: -0.095825 in
the literature.
"""

from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where the gradient is zero, by Newton's method in 50 digits.
OPTIMUM = (1.2279713527638443, 4.2453733664584182)
OPTIMUM_VALUE = -0.095825041418035819
# At x1 = 0, where sin(2 pi x2) / x2 is lowest: tan(2 pi x2) = 2 pi x2.
WORST_VALUE = 338.56848425717649


def g08_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 3"]:
    """The rows (f, c1, c2) at points (x1, x2)."""
    x1, x2 = X.unbind(-1)
    # torch's sinc(2 x) is sin(2 pi x) / (2 pi x), and 1 at zero; the least sum only keeps 0 / 0 from the corner.
    hills = (2 * pi * torch.sinc(2 * x1)) ** 3 * torch.sin(2 * pi * x2) / (x1 + x2).clamp(min=1e-300)
    return torch.stack([-hills, x2 - x1**2 - 1, x1 - 1 - (x2 - 4) ** 2], dim=-1)


def g08(noise: float = 0.0, confidence: float = 1 - 0.05 / 2) -> Benchmark:
    """Problem g08; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x1": Real(0.0, 10.0), "x2": Real(0.0, 10.0)},
        rows=g08_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
