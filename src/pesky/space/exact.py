"""A known outcome as a function of points of the unit cube."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from pesky.errors import PeskyError, ProblemError
from pesky.problem import Option, Problem
from pesky.problem.fields import number
from pesky.problem.known import KnownFunction
from pesky.space.space import Space

SPREAD = 256
"""Points all over the space at which a known outcome shows its size."""
COMPARED = 16
"""Those of them at which its values for arrays are compared with those for single points."""
STEP = 1e-5
"""Half the width of a central difference in the unit cube: errors of curvature and of rounding are about equal."""


@dataclass(frozen=True)
class Exact:
    """The values and gradients, in the outcome's own units, of a user's function of the parameters.

    Functions that work on arrays as they do on numbers, as p["x1"] + p["x2"] does, are called once for all points.
    """

    outcome: str
    function: KnownFunction
    space: Space

    def values(self, U: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """The outcome at each point; a ProblemError where it is no finite number."""
        params = self.space.decode_all(U)
        values = self._of_arrays(params) if self.takes_arrays else None
        # What arrays do not give, single points do, or say at which of them, and why not.
        return self._of_each(params) if values is None else torch.from_numpy(values)

    def gradients(self, U: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """Central differences along real columns, one-sided at the faces of the cube; zero along the others."""
        U = U.detach().cpu().double().clamp(0, 1)
        axes = self.space.continuous.nonzero()[:, 0]
        steps = STEP * torch.eye(U.shape[-1], dtype=U.dtype)[axes]
        ahead, behind = (U[:, None] + steps).clamp(max=1), (U[:, None] - steps).clamp(min=0)
        values = self.values(torch.cat([ahead, behind]).flatten(0, 1)).view(2, *ahead.shape[:-1])
        gradients = torch.zeros_like(U)
        gradients[:, axes] = (values[0] - values[1]) / (ahead - behind).sum(-1)
        return gradients

    @cached_property
    def spread(self) -> Float[Tensor, " n"]:
        """Its values all over the space: what its unit is chosen by."""
        return self.values(self.space.sobol(SPREAD, seed=0))

    @cached_property
    def takes_arrays(self) -> bool:
        """Whether the function gives for arrays of parameters what it gives for each point of them."""
        U = self.space.sobol(SPREAD, seed=0)
        # Where whole numbers overflow in arrays alone, they do so at the corners.
        U[0], U[1] = self.space.snap(torch.zeros_like(U[0])), self.space.snap(torch.ones_like(U[0]))
        params = self.space.decode_all(U)
        each = self._of_each({name: column[:COMPARED] for name, column in params.items()}).numpy()
        values = self._of_arrays(params)
        return values is not None and bool(
            np.allclose(values[:COMPARED], each, rtol=1e-9, atol=1e-9 * np.abs(each).max())
        )

    def _of_arrays(self, params: dict[str, np.ndarray]) -> np.ndarray | None:
        """The values at all points from one call; None if it gives none of that shape, or any that is not finite."""
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(self.function(dict(params)), dtype=np.float64)  # pyright: ignore[reportArgumentType]
        except PeskyError:  # the function is not there
            raise
        except Exception:  # written for single numbers
            return None
        is_right = values.shape == next(iter(params.values())).shape and bool(np.isfinite(values).all())
        return values if is_right else None

    def _of_each(self, params: dict[str, np.ndarray]) -> Float[Tensor, " n"]:
        return torch.tensor([self._of_one(each) for each in _points(params)], dtype=torch.float64)

    def _of_one(self, params: dict[str, Option]) -> float:
        what = f"the known outcome {self.outcome!r} at {params}"
        try:
            given = self.function(dict(params))
        except PeskyError:
            raise
        except Exception as error:
            raise ProblemError(
                f"{what}: its function raised {type(error).__name__}: {error}. Expected a finite number everywhere in "
                "the space: mend the function, or narrow the parameters' bounds."
            ) from error
        if not math.isfinite(value := number(given)):
            raise ProblemError(
                f"{what} was {given!r}: expected a finite number everywhere in the space: mend its function, or narrow "
                "the parameters' bounds."
            )
        return value


def exact_outcomes(problem: Problem, space: Space) -> dict[str, Exact]:
    """The known outcomes of a problem, by name."""
    return {outcome: Exact(outcome, function, space) for outcome, function in problem.known.items()}


def _points(params: dict[str, np.ndarray]) -> Iterator[dict[str, Option]]:
    """The parameters of each point, as plain Python values."""
    for values in zip(*(column.tolist() for column in params.values()), strict=True):
        yield dict(zip(params, values, strict=True))


@runtime_checkable
class Differentiable(Protocol):
    """A function of points with gradients of its own."""

    def values(self, U: Float[Tensor, "n d"], /) -> Float[Tensor, " n"]: ...
    def gradients(self, U: Float[Tensor, "n d"], /) -> Float[Tensor, "n d"]: ...


def evaluate(X: Float[Tensor, "x d"], function: Differentiable) -> Float[Tensor, " x"]:
    """The function at points; differentiable once."""
    return _Evaluate.apply(X, function)  # pyright: ignore[reportReturnType]


class _Evaluate(torch.autograd.Function):
    """A function at points (x, d), with its difference quotients for a gradient."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, function: Differentiable) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.save_for_backward(X)
        ctx.function = function
        return function.values(X)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        (X,) = ctx.saved_tensors
        if not bool(upstream.any()):  # the gradient of another row: the differences would be for nothing
            return torch.zeros_like(X), None
        return upstream[:, None] * ctx.function.gradients(X), None
