"""The speed reducer of Lemonge et al. (2010), a gearbox of least weight, with a continuous number of teeth.

    minimize 0.7854 x1 x2^2 (3.3333 x3^2 + 14.9334 x3 - 43.0934) - 1.508 x1 (x6^2 + x7^2)
             + 7.4777 (x6^3 + x7^3) + 0.7854 (x4 x6^2 + x5 x7^2)
    over the face width x1 in [2.6, 3.6], the module of the teeth x2 in [0.7, 0.8], the teeth of the pinion x3 in
    [17, 28], the lengths of the shafts, x4 in [7.3, 8.3] and x5 in [7.8, 8.3], and their diameters, x6 in
    [2.9, 3.9] and x7 in [5, 5.5]
    such that c1  = 1 - 27 / (x1 x2^2 x3) >= 0
              c2  = 1 - 397.5 / (x1 x2^2 x3^2) >= 0
              c3  = 1 - 1.93 x4^3 / (x2 x3 x6^4) >= 0
              c4  = 1 - 1.93 x5^3 / (x2 x3 x7^4) >= 0
              c5  = 1 - sqrt((745 x4 / (x2 x3))^2 + 16.9e6) / (110 x6^3) >= 0
              c6  = 1 - sqrt((745 x5 / (x2 x3))^2 + 157.5e6) / (85 x7^3) >= 0
              c7  = 1 - x2 x3 / 40 >= 0
              c8  = x1 / (5 x2) - 1 >= 0
              c9  = 1 - x1 / (12 x2) >= 0
              c10 = 1 - (1.5 x6 + 1.9) / x4 >= 0
              c11 = 1 - (1.1 x7 + 1.9) / x5 >= 0

c5 to c9 are divided by their limits, which leaves the feasible set as it is. At the optimum c5, c6 and c8 are active
and x2, x3, x4 and x5 at their lower bounds: 2996.3482 in the literature. (With x5 from 7.3 on, as other authors have
it, c11 is active instead of the bound of x5, and it is 2994.47.)
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

# The bounds and 5 x2 are known; x6 and x7 are where c5 = 0 and c6 = 0, in 40 digits.
OPTIMUM = (3.5, 0.7, 17.0, 7.3, 7.8, 3.3502146660964473, 5.2866832297579161)
OPTIMUM_VALUE = 2996.3481649685297
# At the upper corner.
WORST_VALUE = 7144.825930798401


def shaft_stress(
    length: Float[Tensor, " n"], diameter: Float[Tensor, " n"], pitch: Float[Tensor, " n"], torque_square: float
) -> Float[Tensor, " n"]:
    """The stress in a shaft; `pitch` is the pinion's diameter, x2 x3."""
    return torch.sqrt((745 * length / pitch) ** 2 + torque_square) / (0.1 * diameter**3)


def speed_reducer_rows(X: Float[Tensor, "n 7"]) -> Float[Tensor, "n 12"]:
    """The rows (f, c1, .., c11) at points (x1, .., x7)."""
    x1, x2, x3, x4, x5, x6, x7 = X.unbind(-1)
    gears = 0.7854 * x1 * x2**2 * (3.3333 * x3**2 + 14.9334 * x3 - 43.0934) - 1.508 * x1 * (x6**2 + x7**2)
    shafts = 7.4777 * (x6**3 + x7**3) + 0.7854 * (x4 * x6**2 + x5 * x7**2)
    rows = [
        gears + shafts,
        1 - 27 / (x1 * x2**2 * x3),
        1 - 397.5 / (x1 * x2**2 * x3**2),
        1 - 1.93 * x4**3 / (x2 * x3 * x6**4),
        1 - 1.93 * x5**3 / (x2 * x3 * x7**4),
        1 - shaft_stress(x4, x6, x2 * x3, 16.9e6) / 1100,
        1 - shaft_stress(x5, x7, x2 * x3, 157.5e6) / 850,
        1 - x2 * x3 / 40,
        x1 / (5 * x2) - 1,
        1 - x1 / (12 * x2),
        1 - (1.5 * x6 + 1.9) / x4,
        1 - (1.1 * x7 + 1.9) / x5,
    ]
    return torch.stack(rows, dim=-1)


def speed_reducer(noise: float = 0.0, confidence: float = 1 - 0.05 / 11) -> Benchmark:
    """The speed reducer; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={
            "face_width": Real(2.6, 3.6),
            "module": Real(0.7, 0.8),
            "teeth": Real(17.0, 28.0),
            "length_1": Real(7.3, 8.3),
            "length_2": Real(7.8, 8.3),
            "diameter_1": Real(2.9, 3.9),
            "diameter_2": Real(5.0, 5.5),
        },
        rows=speed_reducer_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
