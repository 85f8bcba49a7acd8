"""The beam of reinforced concrete of Amir & Hasegawa (1989), as in Gandomi et al. (2011): bars as they are sold.

    minimize 29.4 a + 0.6 b h
    over the area of steel a, one of 6, 6.16, 6.32, 6.6, 7, 7.11, 7.2, 7.8, 7.9, 8 and 8.4 square inches,
    the beam's depth b in 28, 29, .., 40 inches and its width h in [5, 10] inches
    such that c1 = 1 - b / (4 h) >= 0
              c2 = (a b - 7.375 a^2 / h) / 180 - 1 >= 0

Constraints are divided by their limits, which leaves the feasible set as it is. The steel is a choice here: eleven
options without an order. At the optimum c1 is active: 359.208 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Choice, Integer, Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

AREAS = (6.0, 6.16, 6.32, 6.6, 7.0, 7.11, 7.2, 7.8, 7.9, 8.0, 8.4)

# The best of all eleven areas and thirteen depths, each with the least width that holds both constraints.
OPTIMUM = (6.32, 34, 8.5)
OPTIMUM_VALUE = 359.208
WORST_VALUE = 486.96  # the largest of each


def concrete_beam_rows(X: Float[Tensor, "n 3"]) -> Float[Tensor, "n 3"]:
    """The rows (f, c1, c2) at points (number of the area, b, h)."""
    index, b, h = X.unbind(-1)
    a = torch.tensor(AREAS, dtype=X.dtype, device=X.device)[index.long()]
    rows = [29.4 * a + 0.6 * b * h, 1 - b / (4 * h), (a * b - 7.375 * a**2 / h) / 180 - 1]
    return torch.stack(rows, dim=-1)


def concrete_beam(noise: float = 0.0, confidence: float = 1 - 0.05 / 2) -> Benchmark:
    """The beam of concrete; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={"steel": Choice(AREAS), "depth": Integer(28, 40), "width": Real(5.0, 10.0)},
        rows=concrete_beam_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
