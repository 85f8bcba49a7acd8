"""A test problem that is written in its own units: bounds, rows there, and the optimum there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Constraint, Problem, Real
from pesky.space import Space
from pesky.test_functions.base import Benchmark


@dataclass(frozen=True)
class InUnits:
    """Rows of points in their own units, as rows of points of the unit cube."""

    rows: Callable[[Tensor], Tensor]
    low: Float[Tensor, " d"]
    high: Float[Tensor, " d"]

    def __call__(self, U: Float[Tensor, "n d"]) -> Float[Tensor, "n J"]:
        """The values of all rows at `U`."""
        return self.rows(self.low + U * (self.high - self.low))


def benchmark_in_units(
    parameters: Mapping[str, Real],
    rows: Callable[[Tensor], Tensor],
    optimum: Sequence[float],
    optimum_value: float,
    worst_value: float,
    noise: float,
    confidence: float,
) -> Benchmark:
    """The benchmark of `rows`, X (n, d) -> (f, c1, .., cK) as (n, J), whose optimum is given in the units of X."""
    low = torch.tensor([parameter.low for parameter in parameters.values()], dtype=torch.float64)
    high = torch.tensor([parameter.high for parameter in parameters.values()], dtype=torch.float64)
    count = rows(low.unsqueeze(0)).shape[-1] - 1
    problem = Problem(
        parameters=parameters,
        minimize="f",
        constraints=[Constraint(f"c{k}", ">=", 0.0, confidence) for k in range(1, count + 1)],
        noise=noise,
    )
    return Benchmark(
        problem=problem,
        truth=InUnits(rows, low, high),
        optimum=Space.of(problem).encode(dict(zip(parameters, optimum, strict=True))),
        optimum_value=optimum_value,
        worst_value=worst_value,
        noise=noise,
    )
