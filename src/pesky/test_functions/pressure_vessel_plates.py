"""The pressure vessel of Sandgren (1990), made of plates whose thicknesses are multiples of 1/16 inch.

    minimize 0.6224 s r l + 1.7781 h r^2 + 3.1661 s^2 l + 19.84 s^2 r
    over whole sixteenths of an inch in [1, 99] for shell and heads, s and h, radius r and length l in [10, 200]
    such that c1, .., c4 >= 0 as in `pressure_vessel`

At the optimum the shell has 13 sixteenths and the heads have 7; c1 and c3 are active: 6059.714335 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Integer, Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.pressure_vessel import WORST_VALUE, pressure_vessel_rows
from pesky.test_functions.units import benchmark_in_units

# c1 = 0 gives the radius and c3 = 0 the length, in 50 digits.
OPTIMUM = (13, 7, 42.098445595854922, 176.63659584243938)
OPTIMUM_VALUE = 6059.7143350484354


def pressure_vessel_plates_rows(X: Float[Tensor, "n 4"]) -> Float[Tensor, "n 5"]:
    """The rows (f, c1, .., c4) at points (sixteenths of the shell, of the heads, r, l)."""
    return pressure_vessel_rows(torch.cat([X[:, :2] / 16, X[:, 2:]], dim=-1))


def pressure_vessel_plates(noise: float = 0.0, confidence: float = 1 - 0.05 / 4) -> Benchmark:
    """The pressure vessel of plates; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={
            "shell_sixteenths": Integer(1, 99),
            "head_sixteenths": Integer(1, 99),
            "radius": Real(10.0, 200.0),
            "length": Real(10.0, 200.0),
        },
        rows=pressure_vessel_plates_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
