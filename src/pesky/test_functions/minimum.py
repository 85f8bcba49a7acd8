"""The constrained minimum of functions that are cheap: a dense search, then polishing."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

# The minimum is polished to c >= MARGIN, above the rounding of a sum of 1000 kernels (1e-10), so that it
# is feasible without tolerance.
MARGIN = 1e-9


@runtime_checkable
class SmoothRows(Protocol):
    """Rows with gradients: row 0 to be minimized where all other rows are >= 0."""

    def __call__(self, U: Float[Tensor, "n d"], /) -> Float[Tensor, "n J"]:
        """The values of all rows at `U`."""
        ...

    def gradient(self, u: Float[Tensor, " d"], /) -> Float[Tensor, "J d"]:
        """The gradients of all rows at `u`."""
        ...


def find_minimum(
    functions: SmoothRows,
    U: Float[Tensor, "n d"],
    rows: Float[Tensor, "n J"],
    apart: float,
    slack: float = 0.1,
    starts: int = 20,
) -> Float[Tensor, " d"] | None:
    """The feasible minimizer of row 0 in the unit cube, or None if no point is feasible.

    Polishing starts from the lowest candidates `U`, with values `rows`, at least `apart` from each other.
    A narrow feasible strip can lie between them: those that violate by less than `slack` are starts too.
    """
    violation = rows[:, 1:].clamp(max=0.0).abs().sum(-1)
    best, best_value = None, float("inf")
    for eligible in (violation == 0, (violation > 0) & (violation < slack)):
        for u in spread_lowest(U[eligible], rows[eligible, 0], apart, starts):
            polished = polish(functions, u)
            row = functions(polished.unsqueeze(0))[0]
            if bool((row[1:] >= 0).all()) and row[0].item() < best_value:
                best, best_value = polished, row[0].item()
    return best


def spread_lowest(
    U: Float[Tensor, "n d"], values: Float[Tensor, " n"], apart: float, count: int
) -> Float[Tensor, "k d"]:
    """Up to `count` of the points with the lowest values, each at least `apart` from those before it."""
    chosen = []
    values = values.clone()
    while len(chosen) < count and bool(values.isfinite().any()):
        u = U[values.argmin()]
        chosen.append(u)
        values[(U - u).norm(dim=-1) <= apart] = float("inf")
    return torch.stack(chosen) if chosen else U[:0]


def polish(functions: SmoothRows, start: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    """The local minimizer reached from `start`, or `start` itself where it is feasible and better."""
    before = functions(start.unsqueeze(0))[0]

    def value(row: int, shift: float = 0.0) -> Callable[[np.ndarray], float]:
        return lambda x: functions(torch.from_numpy(x).unsqueeze(0))[0, row].item() - shift

    def slope(row: int) -> Callable[[np.ndarray], np.ndarray]:
        return lambda x: functions.gradient(torch.from_numpy(x))[row].numpy()

    found = minimize(
        value(0),
        start.numpy(),
        jac=slope(0),
        bounds=[(0.0, 1.0)] * len(start),
        constraints=[{"type": "ineq", "fun": value(row, MARGIN), "jac": slope(row)} for row in range(1, len(before))],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 200},
    )
    end = torch.as_tensor(found.x, dtype=torch.float64).clamp(0.0, 1.0)
    after = functions(end.unsqueeze(0))[0]
    is_worse = bool((after[1:] < 0).any()) or bool(after[0] > before[0])
    return start if is_worse and bool((before[1:] >= 0).all()) else end
