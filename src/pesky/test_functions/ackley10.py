"""Ackley's function of ten variables with two constraints, as in Eriksson & Poloczek (2021), "Scalable constrained BO".

    minimize 20 - 20 exp(-0.2 sqrt(|x|^2 / 10)) + e - exp(sum_i cos(2 pi x_i) / 10) on [-5, 10]^10
    such that c1 = -sum_i x_i >= 0
              c2 = 5 - |x| >= 0

The optimum is the origin, with the value 0: the tip of a cusp, on the edge of c1.
"""

from math import e, pi, sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

OPTIMUM = (0.0,) * 10
# All coordinates 9.54002093: f is concave in the means of x_i^2 and cos(2 pi x_i), so that equal ones are the worst.
WORST_VALUE = 19.371124438970821


def ackley10_rows(X: Float[Tensor, "n 10"]) -> Float[Tensor, "n 3"]:
    """The rows (f, c1, c2) at points (x1, .., x10)."""
    length = X.norm(dim=-1)
    # `expm1` keeps the digits near the origin, where all terms cancel
    cosines = (torch.cos(2 * pi * X) - 1).mean(-1)
    f = -20 * torch.expm1(-0.2 * length / sqrt(10)) - e * torch.expm1(cosines)
    return torch.stack([f, -X.sum(-1), 5 - length], dim=-1)


def ackley10(noise: float = 0.0, confidence: float = 1 - 0.05 / 2) -> Benchmark:
    """Ackley's function; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={f"x{j}": Real(-5.0, 10.0) for j in range(1, 11)},
        rows=ackley10_rows,
        optimum=OPTIMUM,
        optimum_value=0.0,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
