"""What rounding leaves of noise, where outcomes are counts or readings of a coarse scale (METHOD 10).

Two whole numbers that are equal are no proof that measurements do not scatter: they tell no more than their unit does.
"""

import math
from collections.abc import Sequence

COARSE = 1e-3
"""Of the range of the values: a unit below that is hardly ever met twice where there is noise, and where there is none
it leaves three digits to find."""
EXACT = 1e-9
"""Of the largest value: how exactly values are multiples, as far as they are known."""


def rounding(values: Sequence[float]) -> float:
    """The deviation of an error that is anywhere within a unit of the values, if they have one; else zero."""
    return unit_of(values) / math.sqrt(12)


def unit_of(values: Sequence[float]) -> float:
    """The largest unit of which all values are multiples; zero where it is not coarse, or no value is met twice."""
    distinct = sorted(set(values))
    if len(distinct) < 3 or len(distinct) == len(values):
        return 0.0
    spread, exact, unit = distinct[-1] - distinct[0], EXACT * max(map(abs, distinct)), 0.0
    for value in distinct:
        unit = _common(abs(value), unit, exact)
        if unit < COARSE * spread:
            return 0.0
    return unit if 2 * unit <= spread + exact else 0.0


def _common(a: float, b: float, exact: float) -> float:
    """The largest number of which both are multiples, by Euclid's algorithm."""
    while b > exact:
        a, b = b, abs(math.remainder(a, b))
    return a
