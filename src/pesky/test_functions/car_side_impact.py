"""The side impact of a car of Jain & Deb (2014): the least weight of which the crash is safe enough.

    minimize 1.98 + 4.9 x1 + 6.67 x2 + 6.98 x3 + 4.01 x4 + 1.78 x5 + 0.00001 x6 + 2.73 x7
    over seven thicknesses, x1, x3, x4 in [0.5, 1.5], x2 in [0.45, 1.35], x5 in [0.875, 2.625], x6, x7 in [0.4, 1.2]
    such that c1, .., c10 >= 0: load on the abdomen, three viscous criteria, deflections of three ribs, force on the
    pubic symphysis, velocities of the middle pillar and of the front door, each below its limit; the formulas are in
    `car_side_impact_rows`

Theirs has two further objectives, which here are the limits of force and velocities alone; their terms and limits are
those of Tanabe & Ishibuchi (2020), RE41. At the optimum c7, c8 and c10 are active and x1, x3, x5 and x7 are at their
lower bounds: 23.585658, the lowest weight on their front.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

BOUNDS = ((0.5, 1.5), (0.45, 1.35), (0.5, 1.5), (0.5, 1.5), (0.875, 2.625), (0.4, 1.2), (0.4, 1.2))

# Where c7 = c8 = c10 = 0 at those bounds, by Newton's method in 50 digits.
OPTIMUM = (0.5, 1.2257323232323232, 0.5, 1.2071108585858586, 0.875, 0.88418912048805287, 0.4)
OPTIMUM_VALUE = 23.585657980780094
# The weight grows with every thickness: the upper corner is the worst.
WORST_VALUE = 1.98 + 4.9 * 1.5 + 6.67 * 1.35 + 6.98 * 1.5 + 4.01 * 1.5 + 1.78 * 2.625 + 1e-5 * 1.2 + 2.73 * 1.2


def car_side_impact_rows(X: Float[Tensor, "n 7"]) -> Float[Tensor, "n 11"]:
    """The rows (f, c1, .., c10) at points (x1, .., x7)."""
    x1, x2, x3, x4, x5, x6, x7 = X.unbind(-1)
    abdomen = 1.16 - 0.3717 * x2 * x4 - 0.0092928 * x3
    upper = 0.261 - 0.0159 * x1 * x2 - 0.06486 * x1 - 0.019 * x2 * x7 + 0.0144 * x3 * x5 + 0.0154464 * x6
    middle = 0.214 + 0.00817 * x5 - 0.0587118 * x1 + 0.03099 * x2 * x6 - 0.018 * x2 * x7 + 0.030408 * x3
    middle = middle - 0.00364 * x5 * x6 - 0.018 * x2**2
    lower = 0.74 - 0.61 * x2 - 0.031296 * x3 - 0.031872 * x7 + 0.227 * x2**2
    upper_rib = 28.98 + 3.818 * x3 - 4.2 * x1 * x2 + 1.27296 * x6 - 2.68065 * x7
    middle_rib = 35.31728 + 2.95 * x3 - 5.057 * x1 * x2 - 3.795 * x2 - 3.4431 * x7
    lower_rib = 46.36 - 9.9 * x2 - 4.4505 * x1
    force = 4.72 - 0.5 * x4 - 0.19 * x2 * x3
    pillar = 10.58 - 0.674 * x1 * x2 - 0.67275 * x2
    door = 16.45 - 0.489 * x3 * x7 - 0.843 * x5 * x6
    weight = 1.98 + 4.9 * x1 + 6.67 * x2 + 6.98 * x3 + 4.01 * x4 + 1.78 * x5 + 1e-5 * x6 + 2.73 * x7
    viscous = [0.32 - upper, 0.32 - middle, 0.32 - lower]
    ribs = [32 - upper_rib, 32 - middle_rib, 32 - lower_rib]
    return torch.stack([weight, 1 - abdomen, *viscous, *ribs, 4 - force, 9.9 - pillar, 15.7 - door], dim=-1)


def car_side_impact(noise: float = 0.0, confidence: float = 1 - 0.05 / 10) -> Benchmark:
    """The side impact; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={f"x{j}": Real(*bounds) for j, bounds in enumerate(BOUNDS, 1)},
        rows=car_side_impact_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
