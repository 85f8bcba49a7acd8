"""Lines and planes through a point of the space, along one parameter or two, and what is believed there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pesky.answer.outlook import Outlook, outlook_at
from pesky.errors import DataError, unknown_name
from pesky.inference.inferred import Inferred
from pesky.problem import Option
from pesky.show.axes import coordinates, grid
from pesky.space import Space

LINE, PLANE = 61, 33
"""Points along a parameter: of a line, and of each side of a plane."""


@dataclass(frozen=True)
class Slice:
    """What is believed along some parameters, the others being what they are at one point."""

    parameters: tuple[str, ...]
    along: tuple[np.ndarray, ...]
    """Where the values of each are along its axis; see `coordinate`."""
    outlook: Outlook
    """In the order of the first parameter's values, and of the second's within each of them."""


def line(inferred: Inferred, at: Mapping[str, Option], name: str) -> Slice:
    """What is believed along one parameter."""
    U, along = points(inferred.space, at, [name], LINE)
    return Slice((name,), along, outlook_at(inferred, U))


def plane(inferred: Inferred, at: Mapping[str, Option], names: Sequence[str]) -> Slice:
    """What is believed along two parameters; without intervals, which a map has no room for."""
    U, along = points(inferred.space, at, names, PLANE)
    return Slice(tuple(names), along, outlook_at(inferred, U, with_intervals=False))


def named(picture: str, given: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """The parameters that a picture is to be along; a DataError if one is none, or there twice."""
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in known:
            raise DataError(f"{picture}: {unknown_name('parameter', name, known)}")
    if not names or len(set(names)) < len(names):
        raise DataError(f"{picture}: the parameters were {list(names)!r}: expected at least one, none twice.")
    return names


def points(
    space: Space, at: Mapping[str, Option], names: Sequence[str], most: int
) -> tuple[Float[Tensor, "n d"], tuple[np.ndarray, ...]]:
    """All combinations of values of these parameters, at most so many each, and where these are along each axis."""
    grids = [grid(space.parameters[name], most) for name in names]
    places = torch.cartesian_prod(*(torch.arange(len(each)) for each in grids)).reshape(-1, len(grids))
    U = space.encode(at).repeat(len(places), 1)
    for i, name in enumerate(names):
        U[:, space.columns_of([name])] = grids[i][places[:, i]]
    return U, tuple(coordinates(space.parameters[name], each) for name, each in zip(names, grids, strict=True))
