"""Branin's function in a disk, as in Gelbart et al. (2014), "Bayesian optimization with unknown constraints".

    minimize (x2 - 5.1 / (4 pi^2) x1^2 + 5 / pi x1 - 6)^2 + 10 (1 - 1 / (8 pi)) cos(x1) + 10
    on [-5, 10] x [0, 15] such that c1 = 50 - (x1 - 2.5)^2 - (x2 - 7.5)^2 >= 0

Of Branin's three equal minima only (pi, 2.275), with the value 10 / (8 pi), lies in the disk, and inside it.
"""

from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

OPTIMUM = (pi, 2.275)
OPTIMUM_VALUE = 10 / (8 * pi)
# Branin's function at the corner (-5, 0).
WORST_VALUE = 308.12909601160663


def branin_disk_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x1, x2)."""
    x1, x2 = X.unbind(-1)
    valley = x2 - 5.1 / (4 * pi**2) * x1**2 + 5 / pi * x1 - 6
    f = valley**2 + 10 * (1 - 1 / (8 * pi)) * torch.cos(x1) + 10
    return torch.stack([f, 50 - (x1 - 2.5) ** 2 - (x2 - 7.5) ** 2], dim=-1)


def branin_disk(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Branin's function in a disk; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x1": Real(-5.0, 10.0), "x2": Real(0.0, 15.0)},
        rows=branin_disk_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
