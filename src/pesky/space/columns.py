"""One parameter <-> its columns of the unit cube.

A real or integer parameter takes one column, a choice of w options takes w one-hot columns. An integer's
column covers [low - step/2, high + step/2], so that every integer has a cell of its own, as wide as the others.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import one_hot

from pesky.problem import Choice, Integer, Option, Parameter, Real
from pesky.problem.values import belongs, is_of_kind

AT_BOUND = 1e-14
"""So near to 0 or 1 a real parameter's value is the bound: of its logarithm, the exponential is a little less."""


def width(parameter: Parameter) -> int:
    """The number of columns w."""
    return len(parameter.options) if isinstance(parameter, Choice) else 1


def size(parameter: Parameter) -> int:
    """The number of values to enumerate: 1, a placeholder, for a real parameter."""
    if isinstance(parameter, Choice):
        return len(parameter.options)
    return (parameter.high - parameter.low) // parameter.step + 1 if isinstance(parameter, Integer) else 1


def to_unit(parameter: Parameter, value: Option) -> list[float]:
    """The columns of a value that belongs to the parameter; as numbers, which take a tenth of the time of tensors."""
    if isinstance(parameter, Choice):
        chosen = parameter.options.index(value)
        return [float(i == chosen) for i in range(len(parameter.options))]
    return [min(max(_along(parameter, float(value)), 0.0), 1.0)]  # a bound's logarithm can round to just outside


def to_units(parameter: Parameter, values: Sequence[Option]) -> Float[Tensor, "n w"]:
    """The columns of many values that belong to the parameter."""
    if isinstance(parameter, Choice):
        index = torch.tensor([parameter.options.index(value) for value in values], dtype=torch.long)
        return one_hot(index, len(parameter.options)).double()
    return _to_unit(parameter, torch.tensor([float(v) for v in values], dtype=torch.float64)[:, None])


def to_place(parameter: Parameter, value: Option) -> list[float] | None:
    """The columns of a value that may be outside of the bounds, and then of the unit interval.

    None where it has no place: an option that there is not, what has no logarithm, and what is further out than the
    bounds are apart, from where no kernel reaches in.
    """
    if belongs(parameter, value):
        return to_unit(parameter, value)
    if isinstance(parameter, Choice) or not is_of_kind(parameter, value) or (parameter.log and float(value) <= 0):
        return None
    u = _along(parameter, float(value))
    return [u] if -1 <= u <= 2 else None


def from_unit(parameter: Parameter, u: Sequence[float]) -> Option:
    """The value that the columns stand for, always within bounds."""
    if isinstance(parameter, Choice):
        return parameter.options[u.index(max(u))]
    if isinstance(parameter, Real) and not AT_BOUND < u[0] < 1 - AT_BOUND:
        return parameter.low if u[0] < 0.5 else parameter.high
    low, high = _edges(parameter)
    value = low + u[0] * (high - low)
    value = float(_number(value).exp()) if parameter.log else value
    if isinstance(parameter, Integer):
        least, step = parameter.low, parameter.step
        value = round(value) if step == 1 else least + step * round((value - least) / step)  # as `_rounded`
    return min(max(value, parameter.low), parameter.high)


def from_units(parameter: Parameter, U: Float[Tensor, "n w"]) -> np.ndarray:
    """The values of many points, as `from_unit` gives each: floats, integers, or the options as objects."""
    if isinstance(parameter, Choice):
        return np.array(parameter.options, dtype=object)[U.argmax(-1).numpy()]
    u = U[:, 0]
    values = _from_unit(parameter, u)
    if isinstance(parameter, Integer):
        return _rounded(parameter, values).clamp(parameter.low, parameter.high).numpy().astype(np.int64)
    values = values.clamp(parameter.low, parameter.high)
    values = values.where(u > AT_BOUND, parameter.low).where(u < 1 - AT_BOUND, parameter.high)
    return values.numpy()


def snap(parameter: Parameter, U: Float[Tensor, "*b w"]) -> Float[Tensor, "*b w"]:
    """The columns of the values that the given columns stand for; real ones are left as they are."""
    if isinstance(parameter, Real):
        return U
    if isinstance(parameter, Choice):
        return one_hot(U.argmax(-1), len(parameter.options)).to(U)
    values, half = _from_unit(parameter, U), 0.75 * parameter.step
    inside = _to_unit(parameter, _rounded(parameter, values).clamp(parameter.low, parameter.high))
    # data may lie outside of bounds that were narrowed: there they stay, a whole step away at the least
    return torch.where((values < parameter.low - half) | (values > parameter.high + half), U, inside)


def place(parameter: Parameter, r: Float[Tensor, " n"]) -> Float[Tensor, "n w"]:
    """The columns of n values, from uniform numbers: options come up equally often, and so do integers."""
    if not isinstance(parameter, Choice):
        return snap(parameter, r.unsqueeze(-1))
    count = len(parameter.options)
    # a layer's upper end can round to 1
    return one_hot((r * count).long().clamp(max=count - 1), count).to(r)


def lattice(parameter: Parameter) -> Float[Tensor, "size w"]:
    """The columns of every value, in order; a single zero for a real parameter."""
    if isinstance(parameter, Choice):
        return torch.eye(len(parameter.options), dtype=torch.float64)
    if isinstance(parameter, Real):
        return torch.zeros(1, 1, dtype=torch.float64)
    values = torch.arange(parameter.low, parameter.high + 1, parameter.step, dtype=torch.float64)
    return _to_unit(parameter, values.unsqueeze(-1))


def moves(parameter: Parameter, u: Sequence[float]) -> list[Option]:
    """The values one move away: other options; an integer's next ones and those a tenth of the range away."""
    if isinstance(parameter, Real):
        return []
    here = from_unit(parameter, u)
    if isinstance(parameter, Choice):
        return [option for option in parameter.options if option != here]
    near = [
        int(here) - parameter.step,
        int(here) + parameter.step,
        from_unit(parameter, [u[0] - 0.1]),
        from_unit(parameter, [u[0] + 0.1]),
    ]
    return [value for value in dict.fromkeys(near) if value != here and belongs(parameter, value)]


def next_values(parameter: Integer, u: Sequence[float], far: int) -> list[int]:
    """The `far` next values of an integer on either side, as far as there are so many."""
    here = int(from_unit(parameter, u))
    near = (here + step * parameter.step for step in range(-far, far + 1) if step)
    return [value for value in near if belongs(parameter, value)]


def _edges(parameter: Real | Integer) -> tuple[float, float]:
    half = parameter.step / 2 if isinstance(parameter, Integer) else 0.0
    low, high = parameter.low - half, parameter.high + half
    return (math.log(low), math.log(high)) if parameter.log else (low, high)


def _along(parameter: Real | Integer, value: float) -> float:
    """How far a value is from the low edge to the high one."""
    low, high = _edges(parameter)
    return ((float(_number(value).log()) if parameter.log else value) - low) / (high - low)


def _number(value: float) -> Tensor:
    """For its logarithm and exponential, whose last digits are others than Python's: as those of many points."""
    return torch.tensor(value, dtype=torch.float64)


def _rounded(parameter: Integer, values: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """The nearest of the values that it can take, bounds apart."""
    if parameter.step == 1:
        return values.round()
    return parameter.low + parameter.step * ((values - parameter.low) / parameter.step).round()


def _to_unit(parameter: Real | Integer, values: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    low, high = _edges(parameter)
    # a bound's logarithm can round to just outside
    return (((values.log() if parameter.log else values) - low) / (high - low)).clamp(0, 1)


def _from_unit(parameter: Real | Integer, U: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    low, high = _edges(parameter)
    values = low + U * (high - low)
    return values.exp() if parameter.log else values
