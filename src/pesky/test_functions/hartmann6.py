"""Hartmann's function of six variables in a ball, as in Letham et al. (2019).

    minimize -sum_i alpha_i exp(-sum_j A_ij (x_j - P_ij)^2) on [0, 1]^6
    such that c1 = 1 - |x|_2 >= 0

The paper is "Constrained Bayesian optimization with noisy experiments". The minimum of the function itself has the
norm 0.946: the constraint is not active there.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

ALPHA = (1.0, 1.2, 3.0, 3.2)
A = (
    (10.0, 3.0, 17.0, 3.5, 1.7, 8.0),
    (0.05, 10.0, 17.0, 0.1, 8.0, 14.0),
    (3.0, 3.5, 1.7, 10.0, 17.0, 8.0),
    (17.0, 8.0, 0.05, 10.0, 0.1, 14.0),
)
P = (
    (0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
    (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
    (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
    (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381),
)
# Where the gradient is zero, by Newton's method in 40 digits.
OPTIMUM = (
    0.20168951100670542,
    0.15001069182345797,
    0.4768739742218970,
    0.27533243049405607,
    0.31165161660011324,
    0.6573005340656203,
)
OPTIMUM_VALUE = -3.3223680114155148
# At the corner (1, 1, 0, 1, 1, 1): far from every dip, but the function is nowhere zero.
WORST_VALUE = -2.8124505439686545e-8


def hartmann6_rows(X: Float[Tensor, "n 6"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points of the unit cube."""
    alpha, steepness, center = (torch.tensor(table, dtype=X.dtype, device=X.device) for table in (ALPHA, A, P))
    distance = (steepness * (X.unsqueeze(-2) - center) ** 2).sum(-1)
    f = -(alpha * torch.exp(-distance)).sum(-1)
    return torch.stack([f, 1 - X.norm(dim=-1)], dim=-1)


def hartmann6(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Hartmann's function in a ball; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={f"x{j}": Real(0.0, 1.0) for j in range(1, 7)},
        rows=hartmann6_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
