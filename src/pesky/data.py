"""Observations per row, as tensors; inside, always: minimize, c >= 0 is feasible, scaled.

Row 0 is the objective, row k the k-th constraint; each has points and values of its own. Values are scaled to
suit a Gaussian process of about unit amplitude: scaled = (direction * value - offset) / scale. A constraint's
offset is its threshold and nothing else, so that feasible stays exactly c >= 0.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsFloat

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pesky.errors import DataError, unknown_name
from pesky.problem import Problem
from pesky.space import Space


@dataclass(frozen=True)
class Observations:
    """What was measured: J rows, padded with zeros to the N of the longest; `mask` is true where data are.

    `noise` is the given variance of a measurement in scaled units, NaN where it is to be inferred.
    """

    X: Float[Tensor, "J N d"]
    y: Float[Tensor, "J N"]
    mask: Bool[Tensor, "J N"]
    noise: Float[Tensor, " J"]
    direction: Float[Tensor, " J"]
    offset: Float[Tensor, " J"]
    scale: Float[Tensor, " J"]

    def to_user(self, row: int, values: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Scaled values of a row, in its outcome's own units."""
        return self.direction[row] * (values * self.scale[row] + self.offset[row])

    def from_user(self, row: int, values: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Values in the units of a row's outcome, scaled."""
        return (self.direction[row] * values - self.offset[row]) / self.scale[row]


def collect(
    problem: Problem, space: Space, measured: Sequence[tuple[Float[Tensor, " d"], Mapping[str, float]]]
) -> Observations:
    """The observations of each row, from points with any subset of the outcomes each."""
    told = [(u, check_outcomes(problem, outcomes)) for u, outcomes in measured]
    for u, _ in told:
        if u.shape != (space.dim,):
            raise DataError(f"a point had the shape {tuple(u.shape)}: expected ({space.dim},), as encode gives.")
    points = [[u for u, outcomes in told if name in outcomes] for name in problem.rows]
    values = [_vector([outcomes[name] for _, outcomes in told if name in outcomes]) for name in problem.rows]
    direction = [problem.sign, *(constraint.direction for constraint in problem.constraints)]
    threshold = [None, *(constraint.threshold for constraint in problem.constraints)]
    rows = [_standardize(v, *given) for v, *given in zip(values, direction, threshold, strict=True)]
    scale = _vector([scale for _, _, scale in rows])
    noise = [problem.noise[name] for name in problem.rows]
    deviation = _vector([math.nan if given is None else given for given in noise])
    empty = torch.zeros(0, space.dim, dtype=torch.float64)
    return Observations(
        X=pad_sequence([torch.stack(us) if us else empty for us in points], batch_first=True),
        y=pad_sequence([y for y, _, _ in rows], batch_first=True),
        mask=pad_sequence([torch.ones(len(v), dtype=torch.bool) for v in values], batch_first=True),
        noise=(deviation / scale) ** 2,
        direction=_vector(direction),
        offset=_vector([offset for _, offset, _ in rows]),
        scale=scale,
    )


def check_outcomes(problem: Problem, outcomes: Mapping[str, object]) -> dict[str, float]:
    """The measured outcomes as floats, or a DataError that says which one does not fit the problem."""
    for name in outcomes:
        if name not in problem.outcomes:
            raise DataError(unknown_name("outcome", name, problem.outcomes))
    return {name: _finite(name, value) for name, value in outcomes.items()}


def _standardize(
    values: Float[Tensor, " n"], direction: int, threshold: float | None
) -> tuple[Float[Tensor, " n"], float, float]:
    """The scaled values of a row, its offset and its scale; the objective has no threshold."""
    signed = direction * values
    if not len(signed):
        return signed, direction * (threshold or 0.0), 1.0
    # in units of the largest value, because squares overflow above 1e154 and vanish below 1e-162
    size = float(signed.abs().max()) or 1.0
    unit = signed / size
    offset = float(unit.mean()) * size if threshold is None else direction * threshold
    scale = float(unit.std(correction=0)) * size
    if threshold is not None:
        scale = scale or float((signed - offset).abs().max())
    scale = scale or 1.0
    scaled = (signed - offset) / scale
    # A division may round to zero what is just infeasible.
    scaled = torch.where((signed < offset) & (scaled >= 0), -torch.finfo(scaled.dtype).tiny, scaled)
    return scaled, offset, scale


def _finite(name: str, given: object) -> float:
    try:
        # whatever is one number: also an array or a tensor of one element
        value = float(given) if isinstance(given, SupportsFloat) else math.nan
    except (ValueError, TypeError, RuntimeError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"the outcome {name!r} was {given!r}: expected a finite number; leave it out if it has none.")
    return value


def _vector(numbers: Sequence[float]) -> Float[Tensor, " n"]:
    return torch.tensor(numbers, dtype=torch.float64)
