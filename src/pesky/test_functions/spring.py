"""The tension and compression spring of Coello Coello & Mezura Montes (2002): a coil spring of least weight.

    minimize d^2 D (N + 2)
    over the diameter of the wire, d in [0.05, 2], that of the coil, D in [0.25, 1.3], and its turns, N in [2, 15]
    such that c1 = D^3 N / (71785 d^4) - 1 >= 0
              c2 = 1 - (4 D^2 - d D) / (12566 (D d^3 - d^4)) - 1 / (5108 d^2) >= 0
              c3 = 140.45 d / (D^2 N) - 1 >= 0
              c4 = 1 - (d + D) / 1.5 >= 0

c2 has a pole at d = D and is cut off at -100 and 100. That leaves the feasible set as it is: signs stay, and where
d >= D, c1 is at most 15 / (71785 * 0.05) - 1 < 0. At the optimum c1 and c2 are active: 0.012665 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

CUT_OFF = 100.0

# Where c1 = c2 = 0 and the gradient is a combination of theirs, by Newton's method in 40 digits.
OPTIMUM = (0.051689061082763456, 0.35671773979944084, 11.288965751613340)
OPTIMUM_VALUE = 0.012665232788319417
# The weight grows with every parameter: the upper corner is the worst.
WORST_VALUE = 88.4


def spring_rows(X: Float[Tensor, "n 3"]) -> Float[Tensor, "n 5"]:
    """The rows (f, c1, .., c4) at points (d, D, N)."""
    d, D, N = X.unbind(-1)
    c2 = 1 - (4 * D**2 - d * D) / (12566 * d**3 * (D - d)) - 1 / (5108 * d**2)
    rows = [
        d**2 * D * (N + 2),
        D**3 * N / (71785 * d**4) - 1,
        c2.clamp(-CUT_OFF, CUT_OFF),
        140.45 * d / (D**2 * N) - 1,
        1 - (d + D) / 1.5,
    ]
    return torch.stack(rows, dim=-1)


def spring(noise: float = 0.0, confidence: float = 1 - 0.05 / 4) -> Benchmark:
    """The spring; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={
            "wire_diameter": Real(0.05, 2.0),
            "coil_diameter": Real(0.25, 1.3),
            "turns": Real(2.0, 15.0),
        },
        rows=spring_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
