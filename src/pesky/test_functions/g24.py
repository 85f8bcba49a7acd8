"""Problem g24 of Liang et al. (2006): a linear objective over two regions that are apart.

    minimize -x1 - x2
    over x1 in [0, 3], x2 in [0, 4]
    such that c1 = 2 + 2 x1^4 - 8 x1^3 + 8 x1^2 - x2 >= 0
              c2 = 36 + 4 x1^4 - 32 x1^3 + 88 x1^2 - 96 x1 - x2 >= 0

Both constraints are active at the optimum, the tip of the second region: -5.508013 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# Where c1 = c2 = 0, by Newton's method in 50 digits.
OPTIMUM = (2.3295201974776055, 3.1784930741176684)
OPTIMUM_VALUE = -5.5080132715952739


def g24_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 3"]:
    """The rows (f, c1, c2) at points (x1, x2)."""
    x1, x2 = X.unbind(-1)
    c1 = 2 + 2 * x1**4 - 8 * x1**3 + 8 * x1**2 - x2
    c2 = 36 + 4 * x1**4 - 32 * x1**3 + 88 * x1**2 - 96 * x1 - x2
    return torch.stack([-x1 - x2, c1, c2], dim=-1)


def g24(noise: float = 0.0, confidence: float = 1 - 0.05 / 2) -> Benchmark:
    """Problem g24; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"x1": Real(0.0, 3.0), "x2": Real(0.0, 4.0)},
        rows=g24_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=0.0,  # at the corner (0, 0)
        noise=noise,
        confidence=confidence,
    )
