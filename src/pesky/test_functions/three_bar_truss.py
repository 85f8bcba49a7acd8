"""The truss of three bars of Ray & Saini (2001), of least volume.

    minimize 100 (2 sqrt(2) x1 + x2)
    over the cross-sections of the outer bars, x1, and of the one between them, x2, in [0, 1]
    such that c1 = 1 - (sqrt(2) x1 + x2) / (sqrt(2) x1^2 + 2 x1 x2) >= 0
              c2 = 1 - x2 / (sqrt(2) x1^2 + 2 x1 x2) >= 0
              c3 = 1 - 1 / (sqrt(2) x2 + x1) >= 0

The length is 100 cm, load and allowed stress are 2 kN / cm^2: stresses are divided by their limit, which leaves the
feasible set as it is. They have poles where bars vanish and are cut off at 101 times the limit. At the optimum c1 is
active: 263.895843 in the literature.
"""

from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

CUT_OFF = -100.0
LEAST = 1e-12  # of a denominator: it keeps 0 / 0 from the corner, where c3 is cut off

# Where c1 = 0 and the gradient is a multiple of its, by Newton's method in 50 digits.
OPTIMUM = (0.78867513459481288, 0.40824829046386302)
OPTIMUM_VALUE = 263.89584337646841
# The volume grows with every parameter: the upper corner is the worst.
WORST_VALUE = 100 * (2 * sqrt(2) + 1)


def three_bar_truss_rows(X: Float[Tensor, "n 2"]) -> Float[Tensor, "n 4"]:
    """The rows (f, c1, c2, c3) at points (x1, x2)."""
    x1, x2 = X.unbind(-1)
    both = (sqrt(2) * x1**2 + 2 * x1 * x2).clamp(min=LEAST)
    stresses = [(sqrt(2) * x1 + x2) / both, x2 / both, 1 / (sqrt(2) * x2 + x1).clamp(min=LEAST)]
    rows = [100 * (2 * sqrt(2) * x1 + x2), *((1 - stress).clamp(min=CUT_OFF) for stress in stresses)]
    return torch.stack(rows, dim=-1)


def three_bar_truss(noise: float = 0.0, confidence: float = 1 - 0.05 / 3) -> Benchmark:
    """The truss; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"outer": Real(0.0, 1.0), "middle": Real(0.0, 1.0)},
        rows=three_bar_truss_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
