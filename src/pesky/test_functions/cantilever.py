"""The cantilever of Chickermane & Gea (1996): five hollow blocks in a row, of least weight.

    minimize 0.0624 (x1 + x2 + x3 + x4 + x5)
    over the heights of the blocks, in [0.01, 100]
    such that c1 = 1 - 61 / x1^3 - 37 / x2^3 - 19 / x3^3 - 7 / x4^3 - 1 / x5^3 >= 0

The deflection, in units of its limit, spans eight decades. c1 is active at the optimum: 1.339956 in the literature.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

COMPLIANCE = (61.0, 37.0, 19.0, 7.0, 1.0)

# x_i = a_i^(1/4) (sum_j a_j^(1/4))^(1/3), where c1 = 0 and its gradient is parallel to (1, .., 1), in 50 digits.
OPTIMUM = (6.0160158941505913, 5.3091738574132379, 4.4943295733231554, 3.5014749704253206, 2.1526653296728658)
OPTIMUM_VALUE = 1.3399563605990747
WORST_VALUE = 31.2  # at the upper corner


def cantilever_rows(X: Float[Tensor, "n 5"]) -> Float[Tensor, "n 2"]:
    """The rows (f, c1) at points (x1, .., x5)."""
    compliance = torch.tensor(COMPLIANCE, dtype=X.dtype, device=X.device)
    return torch.stack([0.0624 * X.sum(-1), 1 - (compliance / X**3).sum(-1)], dim=-1)


def cantilever(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """The cantilever; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={f"height_{j}": Real(0.01, 100.0) for j in range(1, 6)},
        rows=cantilever_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
