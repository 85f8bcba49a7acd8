"""The spring of `spring`, whose number of turns is a whole number.

    minimize d^2 D (N + 2)
    over the diameter of the wire, d in [0.05, 2], that of the coil, D in [0.25, 1.3], and its turns, N in 2, 3, .., 15
    such that c1, .., c4 >= 0 as there

At the optimum there are 11 turns, and c1 and c2 are active.
"""

from pesky.problem import Integer, Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.spring import WORST_VALUE, spring_rows
from pesky.test_functions.units import benchmark_in_units

# Where c1 = c2 = 0 at this number of turns, by Newton's method in 50 digits.
OPTIMUM = (0.051897322666195826, 0.36174867129936972, 11)
OPTIMUM_VALUE = 0.012666021010678457


def spring_turns(noise: float = 0.0, confidence: float = 1 - 0.05 / 4) -> Benchmark:
    """The spring of whole turns; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"wire_diameter": Real(0.05, 2.0), "coil_diameter": Real(0.25, 1.3), "turns": Integer(2, 15)},
        rows=spring_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
