"""Simulation 1 of Gardner et al. (2014), "Bayesian optimization with inequality constraints".

    minimize cos(2 x) cos(y) + sin(x) on [0, 6]^2
    such that c1 = 1/2 - cos(x) cos(y) + sin(x) sin(y) >= 0

The feasible region, cos(x + y) <= 1/2, is two diagonal bands. Both terms of the objective are as low as they can
be at x = 3 pi / 2, y = 0, which is feasible: the constraint is not active there, and y is at its bound.
"""

from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

OPTIMUM = (1.5 * pi, 0.0)


def gardner1_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x, y)."""
    x, y = X.unbind(-1)
    f = torch.cos(2 * x) * torch.cos(y) + torch.sin(x)
    c1 = 0.5 - torch.cos(x) * torch.cos(y) + torch.sin(x) * torch.sin(y)
    return torch.stack([f, c1], dim=-1)


def gardner1(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Gardner et al.'s simulation 1; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x": Real(0.0, 6.0), "y": Real(0.0, 6.0)},
        rows=gardner1_rows,
        optimum=OPTIMUM,
        optimum_value=-2.0,
        worst_value=2.0,  # at x = pi / 2, y = pi
        noise=noise,
        confidence=confidence,
    )
