"""The toy problem of Gramacy et al. (2016), used by the paper in section 4.2.

    minimize x1 + x2 on [0, 1]^2
    such that c1 = 1/2 sin(2 pi (x1^2 - 2 x2)) + x1 + 2 x2 - 3/2 >= 0 and c2 = 3/2 - x1^2 - x2^2 >= 0

The feasible region has two parts; c1 is active at the optimum and c2 at none of the local minima.
"""

from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Constraint, Problem, Real
from pesky.test_functions.base import Benchmark

# Where c1 = 0 and its gradient is parallel to (1, 1), by Newton's method in 40 digits.
OPTIMUM = (0.19512268347207176, 0.4046653685379958)
OPTIMUM_VALUE = 0.5997880520100676


def toy_truth(U: Float[Tensor, "*n 2"]) -> Float[Tensor, "*n 3"]:
    """The rows (objective, c1, c2) at points of the unit square."""
    x1, x2 = U.unbind(-1)
    c1 = 0.5 * torch.sin(2 * pi * (x1**2 - 2 * x2)) + x1 + 2 * x2 - 1.5
    return torch.stack([x1 + x2, c1, 1.5 - x1**2 - x2**2], dim=-1)


def toy(confidence: float = 0.975) -> Benchmark:
    """The toy problem, noise-free; constraints must hold with the given confidence each."""
    problem = Problem(
        parameters={"x1": Real(0.0, 1.0), "x2": Real(0.0, 1.0)},
        minimize="f",
        constraints=[Constraint(name, ">=", 0.0, confidence) for name in ("c1", "c2")],
        noise=0.0,
    )
    return Benchmark(
        problem=problem,
        truth=toy_truth,
        optimum=torch.tensor(OPTIMUM, dtype=torch.float64),
        optimum_value=OPTIMUM_VALUE,
        worst_value=2.0,
    )
