"""A test problem that is written in its own units: bounds, rows there, and the optimum there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Choice, Constraint, Integer, Option, Parameter, Problem
from pesky.space import Space, columns
from pesky.test_functions.base import Benchmark


@dataclass(frozen=True)
class InUnits:
    """Rows of points in their own units, as rows of points of the unit cube.

    `rows` gets one column for each parameter: the number itself, and of a choice that of its option, from 0 on. Real
    ones are on no log scale.
    """

    rows: Callable[[Tensor], Tensor]
    parameters: Mapping[str, Parameter]

    def __call__(self, U: Float[Tensor, "*n d"]) -> Float[Tensor, "*n J"]:
        """The values of all rows at `U`, with the values that it stands for where a parameter is not real."""
        parts = U.split([columns.width(parameter) for parameter in self.parameters.values()], dim=-1)
        numbers = [_numbers(each, part) for each, part in zip(self.parameters.values(), parts, strict=True)]
        return self.rows(torch.stack(numbers, dim=-1))


def _numbers(parameter: Parameter, U: Float[Tensor, "*n w"]) -> Float[Tensor, "*n"]:
    if isinstance(parameter, Choice):
        return U.argmax(-1).to(U)
    if isinstance(parameter, Integer):
        values = columns.from_units(parameter, U.detach().cpu().reshape(-1, 1))
        return torch.from_numpy(values).to(U).reshape(U.shape[:-1])
    return parameter.low + U[..., 0] * (parameter.high - parameter.low)


def benchmark_in_units(
    parameters: Mapping[str, Parameter],
    rows: Callable[[Tensor], Tensor],
    optimum: Sequence[Option],
    optimum_value: float,
    worst_value: float,
    noise: float,
    confidence: float,
) -> Benchmark:
    """The benchmark of `rows`, X (n, p) -> (f, c1, .., cK) as (n, J), with its optimum in the same units."""
    best = Space(parameters).encode(dict(zip(parameters, optimum, strict=True)))
    truth = InUnits(rows, parameters)
    count = truth(best.unsqueeze(0)).shape[-1] - 1
    problem = Problem(
        parameters=parameters,
        minimize="f",
        constraints=[Constraint(f"c{k}", ">=", 0.0, confidence) for k in range(1, count + 1)],
        noise=noise,
    )
    return Benchmark(
        problem=problem,
        truth=truth,
        optimum=best,
        optimum_value=optimum_value,
        worst_value=worst_value,
        noise=noise,
    )
