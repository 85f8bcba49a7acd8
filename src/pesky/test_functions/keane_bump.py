"""Keane's bump function in ten dimensions, problem g02 of Liang et al. (2006) with ten of its twenty variables.

    minimize -|sum_i cos(x_i)^4 - 2 prod_i cos(x_i)^2| / sqrt(sum_i i x_i^2) on [0, 10]^10
    such that c1 = prod_i x_i - 3/4 >= 0
              c2 = 1 - sum_i x_i / 75 >= 0

It has very many local minima. c1 spans ten decades, and nearly all of the box is feasible. At the optimum c1 is
active: -0.747310 in the literature. Towards the origin, which is infeasible, the objective falls without limit: there
it is cut off at -1000.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

CUT_OFF = -1000.0

# Where c1 = 0 and the gradient is a multiple of its, by Newton's method in 50 digits.
OPTIMUM = (
    3.1238903824684472,
    3.0691548778722759,
    3.0142823255331236,
    2.9575883710087617,
    1.4660413609449288,
    0.36805851640282909,
    0.36348232517282680,
    0.35912063501074588,
    0.35495428124040207,
    0.35096664551285710,
)
OPTIMUM_VALUE = -0.74731036152612067


def keane_bump_rows(X: Float[Tensor, "n 10"]) -> Float[Tensor, "n 3"]:
    """The rows (f, c1, c2) at points (x1, .., x10)."""
    weights = torch.arange(1, X.shape[-1] + 1, dtype=X.dtype, device=X.device)
    square = torch.cos(X).square()
    # the least length only keeps infinity from the corner
    length = (weights * X.square()).sum(-1).clamp(min=1e-12).sqrt()
    f = -(square.square().sum(-1) - 2 * square.prod(-1)).abs() / length
    return torch.stack([f.clamp(min=CUT_OFF), X.prod(-1) - 0.75, 1 - X.sum(-1) / 75], dim=-1)


def keane_bump(noise: float = 0.0, confidence: float = 1 - 0.05 / 2) -> Benchmark:
    """Keane's bump function; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={f"x{j}": Real(0.0, 10.0) for j in range(1, 11)},
        rows=keane_bump_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=0.0,  # where all cosines are zero
        noise=noise,
        confidence=confidence,
    )
