"""The synthesis of a process of Yuan et al. (1988): which units to build, and how large.

    minimize (x1 - 1)^2 + (x2 - 2)^2 + (x3 - 3)^2 + (y1 - 1)^2 + (y2 - 2)^2 + (y3 - 1)^2 - log(y4 + 1)
    over sizes x1 in [0, 1.2], x2 in [0, 1.8], x3 in [0, 2.5], and y1, .., y4 in 0, 1
    such that c1 = 5 - x1 - x2 - x3 - y1 - y2 - y3 >= 0
              c2 = 5.5 - x1^2 - x2^2 - x3^2 - y3^2 >= 0
              c3 = 1.2 - x1 - y1 >= 0,  c4 = 1.8 - x2 - y2 >= 0,  c5 = 2.5 - x3 - y3 >= 0,  c6 = 1.2 - x1 - y4 >= 0
              c7 = 1.64 - x2^2 - y2^2 >= 0,  c8 = 4.25 - x3^2 - y3^2 >= 0,  c9 = 4.64 - x3^2 - y2^2 >= 0

The formulas are those of Floudas et al. (1999), "Handbook of test problems in local and global optimization". At the
optimum all units but the third are built, and c3, c4, c6, c7 and c9 are active: 4.579582 in the
literature.
"""

from math import log, sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Integer, Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# The best of all sixteen sets of units: x1, x2 and x3 are as large as c3, c4 and c9 let them be.
OPTIMUM = (0.2, 0.8, sqrt(3.64), 1, 1, 0, 1)
OPTIMUM_VALUE = 0.64 + 1.44 + (sqrt(3.64) - 3) ** 2 + 2 - log(2)
WORST_VALUE = 20.0  # where nothing is built


def process_synthesis_rows(X: Float[Tensor, "n 7"]) -> Float[Tensor, "n 10"]:
    """The rows (f, c1, .., c9) at points (x1, x2, x3, y1, .., y4)."""
    x1, x2, x3, y1, y2, y3, y4 = X.unbind(-1)
    sizes = (x1 - 1) ** 2 + (x2 - 2) ** 2 + (x3 - 3) ** 2
    units = (y1 - 1) ** 2 + (y2 - 2) ** 2 + (y3 - 1) ** 2 - torch.log1p(y4)
    rows = [
        sizes + units,
        5 - x1 - x2 - x3 - y1 - y2 - y3,
        5.5 - x1**2 - x2**2 - x3**2 - y3**2,
        1.2 - x1 - y1,
        1.8 - x2 - y2,
        2.5 - x3 - y3,
        1.2 - x1 - y4,
        1.64 - x2**2 - y2**2,
        4.25 - x3**2 - y3**2,
        4.64 - x3**2 - y2**2,
    ]
    return torch.stack(rows, dim=-1)


def process_synthesis(noise: float = 0.0, confidence: float = 1 - 0.05 / 9) -> Benchmark:
    """The synthesis of a process; `noise` is the standard deviation of every outcome."""
    sizes = {"x1": Real(0.0, 1.2), "x2": Real(0.0, 1.8), "x3": Real(0.0, 2.5)}
    return benchmark_in_units(
        parameters={**sizes, **{f"y{j}": Integer(0, 1) for j in range(1, 5)}},
        rows=process_synthesis_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
