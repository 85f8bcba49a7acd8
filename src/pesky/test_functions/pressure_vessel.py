"""The pressure vessel of Coello Coello & Mezura Montes (2002), with continuous thicknesses.

    minimize 0.6224 s r l + 1.7781 h r^2 + 3.1661 s^2 l + 19.84 s^2 r
    over the thickness of shell and heads, s and h, in [0.0625, 6.1875], radius r and length l in [10, 200]
    such that c1 = s - 0.0193 r >= 0
              c2 = h - 0.00954 r >= 0
              c3 = (pi r^2 l + 4/3 pi r^3) / 1296000 - 1 >= 0
              c4 = 1 - l / 240 >= 0

The vessel is a cylinder with two half-spheres as its heads, of least cost. c3 and c4 are divided by their limits,
which leaves the feasible set as it is. c4 holds on the whole box. At the optimum c1, c2 and c3 are active and l is
at its upper bound: 5885.3328 in the literature. (Thicknesses that are multiples of 0.0625 give 6059.714, and
lengths up to 240 give 5804.376: these are other problems.)
"""

from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# The root r of c3 = 0 at l = 200, in 40 digits, and with it the thicknesses where c1 = c2 = 0.
OPTIMUM = (0.7781686413751053, 0.3846491626279018, 40.31961872409872, 200.0)
OPTIMUM_VALUE = 5885.332773616458
# Every term grows with every parameter: the upper corner is the worst.
WORST_VALUE = 770282.176640625


def pressure_vessel_rows(X: Float[Tensor, "n 4"]) -> Float[Tensor, "n 5"]:
    """The rows (f, c1, .., c4) at points (s, h, r, l)."""
    s, h, r, length = X.unbind(-1)
    f = 0.6224 * s * r * length + 1.7781 * h * r**2 + 3.1661 * s**2 * length + 19.84 * s**2 * r
    volume = pi * r**2 * length + 4 / 3 * pi * r**3
    return torch.stack([f, s - 0.0193 * r, h - 0.00954 * r, volume / 1296000 - 1, 1 - length / 240], dim=-1)


def pressure_vessel(noise: float = 0.0, confidence: float = 1 - 0.05 / 4) -> Benchmark:
    """The pressure vessel; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={
            "shell_thickness": Real(0.0625, 6.1875),
            "head_thickness": Real(0.0625, 6.1875),
            "radius": Real(10.0, 200.0),
            "length": Real(10.0, 200.0),
        },
        rows=pressure_vessel_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
