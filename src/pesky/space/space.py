"""The space: every parameter's columns side by side, as points u of the unit cube."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import prod

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.numerics.rng import Seed, Source, sobol, studies_of, uniform
from pesky.problem import Choice, Integer, Option, Parameter, Problem, Real
from pesky.problem.values import belongs, check_params
from pesky.space import columns

MANY = 32
"""Whole numbers of so many values are as good as real ones to who looks for points that are a little different."""


@dataclass(frozen=True)
class Space:
    """The unit cube, of d columns, that stands for the values of the named parameters."""

    parameters: Mapping[str, Parameter]

    @classmethod
    def of(cls, problem: Problem) -> "Space":
        """The space of a problem's parameters, in their order."""
        return cls(problem.parameters)

    @cached_property
    def dim(self) -> int:
        """The number of columns d."""
        return sum(map(columns.width, self.parameters.values()))

    @cached_property
    def continuous(self) -> Bool[Tensor, " d"]:
        """Which columns are real."""
        real = [isinstance(p, Real) for p in self.parameters.values() for _ in range(columns.width(p))]
        return torch.tensor(real)

    @cached_property
    def graded(self) -> Bool[Tensor, " d"]:
        """Which columns are numbers of many values, real or whole ones: near one there are others."""
        many = [
            isinstance(p, Real) or (isinstance(p, Integer) and (p.high - p.low) // p.step + 1 >= MANY)
            for p in self.parameters.values()
            for _ in range(columns.width(p))
        ]
        return torch.tensor(many)

    @cached_property
    def is_continuous(self) -> bool:
        """Whether every column is real."""
        return bool(self.continuous.all())

    @cached_property
    def _places(self) -> dict[str, tuple[Parameter, slice]]:
        """Each parameter with the place of its columns."""
        places, start = {}, 0
        for name, parameter in self.parameters.items():
            stop = start + columns.width(parameter)
            places[name] = parameter, slice(start, stop)
            start = stop
        return places

    def columns_of(self, names: Collection[str]) -> Bool[Tensor, " d"]:
        """Which columns are those of the named parameters."""
        chosen = [name in names for name, p in self.parameters.items() for _ in range(columns.width(p))]
        return torch.tensor(chosen)

    def size_of(self, names: Collection[str]) -> int | None:
        """How many combinations of values the named parameters have; None where one of them is real."""
        own = [p for name, p in self.parameters.items() if name in names]
        return None if any(isinstance(p, Real) for p in own) else prod(map(columns.size, own))

    def check(self, params: Mapping[str, object]) -> None:
        """Nothing, or a DataError that says which value does not belong to the space."""
        check_params(self.parameters, params)

    @property
    def size(self) -> int | None:
        """How many points there are; None where a parameter is real."""
        return None if bool(self.continuous.any()) else prod(map(columns.size, self.parameters.values()))

    def encode(self, params: Mapping[str, Option]) -> Float[Tensor, " d"]:
        """The point of the unit cube for the given values."""
        self.check(params)
        return _point(columns.to_unit(p, params[name]) for name, p in self.parameters.items())

    def contains(self, params: Mapping[str, object]) -> bool:
        """Whether these are values of the space."""
        return params.keys() == self.parameters.keys() and all(
            belongs(p, params[name]) for name, p in self.parameters.items()
        )

    def place(self, params: Mapping[str, Option]) -> Float[Tensor, " d"] | None:
        """The point for the given values, outside of the unit cube where they are outside of the bounds.

        None where there is no such point that could tell of those in the cube.
        """
        if params.keys() != self.parameters.keys():
            return None
        parts = [columns.to_place(p, params[name]) for name, p in self.parameters.items()]
        placed = [part for part in parts if part is not None]
        return _point(placed) if len(placed) == len(parts) else None

    def place_all(self, many: Sequence[Mapping[str, Option]]) -> list[Float[Tensor, " d"] | None]:
        """The same of many values; those within the bounds at once."""
        is_inside = [self.contains(params) for params in many]
        inside = [params for params, is_in in zip(many, is_inside, strict=True) if is_in]
        parts = [columns.to_units(p, [params[name] for params in inside]) for name, p in self.parameters.items()]
        placed = iter(torch.cat(parts, -1) if inside else ())
        return [next(placed) if is_in else self.place(params) for params, is_in in zip(many, is_inside, strict=True)]

    def decode(self, u: Float[Tensor, " d"]) -> dict[str, Option]:
        """The values that a point of the unit cube stands for."""
        numbers = u.tolist()
        return {name: columns.from_unit(p, numbers[at]) for name, (p, at) in self._places.items()}

    def decode_all(self, U: Float[Tensor, "n d"]) -> dict[str, np.ndarray]:
        """The values that many points stand for, an array for each parameter; options are objects."""
        U = U.detach().cpu().double()
        return {name: columns.from_units(p, U[:, at]) for name, (p, at) in self._places.items()}

    def snap(self, U: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """The points whose values are the ones evaluated; the gradient passes through real columns alone.

        The model must see what is evaluated (METHOD 20.4), so this comes before any kernel.
        """
        if self.is_continuous:
            return U
        V = U.detach()
        lattice = torch.cat([columns.snap(p, V[..., at]) for p, at in self._places.values()], -1)
        return torch.where(self.continuous.to(U.device), U, lattice)

    def bins(self, U: Float[Tensor, "n d"], most: int) -> dict[str, tuple[int, Int[Tensor, " n"]]]:
        """Of each parameter, into how many parts its values are cut, at most so many, and the part of each point.

        The options of a choice are never put together.
        """
        found = {}
        for name, (p, at) in self._places.items():
            if isinstance(p, Choice):
                found[name] = len(p.options), U[:, at].argmax(-1)
            else:
                parts = most if isinstance(p, Real) else min(most, columns.size(p))
                found[name] = parts, (U[:, at.start] * parts).long().clamp(0, parts - 1)
        return found

    def sobol(self, count: int, seed: Seed) -> Float[Tensor, "*w count d"]:
        """Scrambled Sobol points, snapped; others for each seed."""
        return self._place(sobol(len(self.parameters), count, seed))

    def spread(self, count: int, seed: Seed) -> Float[Tensor, "*w count d"]:
        """Candidates all over the space: Sobol points, which go through every discrete combination if there is room.

        A small lattice is thus searched whole, not by chance (METHOD 20.4).
        """
        U = self.sobol(count, seed)
        if self.is_continuous or (lattice := self.combinations(count)) is None:
            return U
        return torch.where(self.continuous, U, lattice[torch.arange(count) % len(lattice)])

    def latin(self, count: int, source: Source) -> Float[Tensor, "*w count d"]:
        """A Latin hypercube, snapped: each parameter has one value in each of `count` equal layers."""
        size = (*studies_of(source), 2, count, len(self.parameters))
        order, within = uniform(source, *size, like=torch.zeros(0, dtype=torch.float64)).unbind(-3)
        return self._place((order.argsort(-2) + within) / count)

    def neighbors(self, u: Float[Tensor, " d"]) -> Float[Tensor, "n d"]:
        """The points one discrete move away: none in a continuous space."""
        u = self.snap(u)
        here = u.tolist()
        near = [
            [*here[: at.start], *columns.to_unit(p, value), *here[at.stop :]]
            for p, at in self._places.values()
            for value in columns.moves(p, here[at])
        ]
        return torch.tensor(near, dtype=u.dtype, device=u.device).view(len(near), self.dim)

    def double_moves(self, u: Float[Tensor, " d"], far: int = 4) -> Float[Tensor, "n d"]:
        """The points where one integer has its next value and another one of the `far` next ones on either side.

        Along a valley across the lattice every point is worse that one move leads to.
        """
        u = self.snap(u)
        here, near = u.tolist(), []
        integers = [(p, at) for p, at in self._places.values() if isinstance(p, Integer)]
        for (p, at), (q, there) in permutations(integers, 2):
            for value in columns.next_values(p, here[at], 1):
                for following in columns.next_values(q, here[there], far):
                    point = here.copy()
                    point[at], point[there] = columns.to_unit(p, value), columns.to_unit(q, following)
                    near.append(point)
        return torch.tensor(near, dtype=u.dtype, device=u.device).view(len(near), self.dim)

    def combinations(self, limit: int) -> Float[Tensor, "c d"] | None:
        """All combinations of discrete values, real columns zero, or None if there are more than `limit`."""
        sizes = [columns.size(p) for p in self.parameters.values()]
        if prod(sizes) > limit:
            return None
        index = torch.cartesian_prod(*map(torch.arange, sizes)).reshape(-1, len(sizes))
        values = [columns.lattice(p)[i] for p, i in zip(self.parameters.values(), index.T, strict=True)]
        return torch.cat(values, -1)

    def _place(self, R: Float[Tensor, "*w n p"]) -> Float[Tensor, "*w n d"]:
        """Points from one uniform number per parameter."""
        flat = R.reshape(-1, R.shape[-1])
        placed = [columns.place(p, r) for p, r in zip(self.parameters.values(), flat.T, strict=True)]
        return torch.cat(placed, -1).view(*R.shape[:-1], -1)


def _point(columns_of_each: Iterable[Sequence[float]]) -> Float[Tensor, " d"]:
    """The columns of all parameters side by side."""
    return torch.tensor([u for own in columns_of_each for u in own], dtype=torch.float64)
