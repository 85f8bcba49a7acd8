"""What must hold: which rows must be on which side of which bounds (METHOD 24).

Where an outcome has several constraints, they are conditions of one row, and a constrained objective's are conditions
of the first row: one function, with an interval within which it is feasible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.infer.limits import Limits


@dataclass(frozen=True, eq=False)
class Conditions:
    """q conditions, in the order of the problem's: sense * (row - bound) >= 0."""

    row: tuple[int, ...]
    sense: tuple[int, ...]
    """+1 where the row must be at least the bound, -1 where it must be at most that."""
    bound: Float[Tensor, "*b q"]
    """In the units of the row."""
    rows: int
    """How many rows there are."""

    @cached_property
    def _row(self) -> Int[Tensor, " q"]:
        return torch.tensor(self.row, dtype=torch.long, device=self.bound.device)

    @cached_property
    def _sense(self) -> Float[Tensor, " q"]:
        return torch.tensor(self.sense, dtype=self.bound.dtype, device=self.bound.device)

    @cached_property
    def is_limited(self) -> Bool[Tensor, " j"]:
        """Which rows have any."""
        return torch.tensor([row in self.row for row in range(self.rows)], device=self.bound.device)

    @cached_property
    def low(self) -> Float[Tensor, "*b j"]:
        """Where each row begins to be feasible; minus infinity where it has no such bound."""
        return self._tightest(1)

    @cached_property
    def high(self) -> Float[Tensor, "*b j"]:
        """Where each row ends to be feasible."""
        return -self._tightest(-1)

    def _tightest(self, sense: int) -> Float[Tensor, "*b j"]:
        tightest = self.bound.new_full((*self.bound.shape[:-1], self.rows), -torch.inf)
        for i, (row, own) in enumerate(zip(self.row, self.sense, strict=True)):
            if own == sense:
                tightest[..., row] = torch.maximum(tightest[..., row], sense * self.bound[..., i])
        return tightest

    @cached_property
    def limits(self) -> Limits:
        """The same for the rows of a question, where constraints are feasible from zero on."""
        return Limits(self.high[..., 1:], self.low[..., 0], self.high[..., 0])

    def of(self, some: Bool[Tensor, " w"]) -> Conditions:
        """Those of some of the studies in lockstep."""
        return Conditions(self.row, self.sense, self.bound[some], self.rows)

    def select_rows(self, index: Int[Tensor, " r"]) -> Conditions:
        """Those on some of the rows, which are counted among these."""
        number = {row: i for i, row in enumerate(index.tolist())}
        own = [i for i, row in enumerate(self.row) if row in number]
        return Conditions(
            tuple(number[self.row[i]] for i in own),
            tuple(self.sense[i] for i in own),
            self.bound[..., own],
            len(number),
        )

    def rows_of(self, values: Tensor, dim: int) -> Tensor:
        """Of what there is for each row along a dimension, that of the row of each condition."""
        return values.index_select(dim, self._row)

    def signed(self, values: Tensor, dim: int) -> Tensor:
        """The same with the sign of the sense."""
        sense = self._sense.view(-1, *(1,) * (-dim - 1))
        return sense * self.rows_of(values, dim)

    def back(self, each: Float[Tensor, "*b q x"], *, is_signed: bool) -> Float[Tensor, "*b j x"]:
        """What each condition has, with the sign of its sense or without, added up for each row."""
        each = self._sense[:, None] * each if is_signed else each
        return each.new_zeros(*each.shape[:-2], self.rows, each.shape[-1]).index_add(-2, self._row, each)

    def margins(self, values: Tensor, dim: int = -2) -> Tensor:
        """How far the rows (*b, j, ..) along a dimension, with these values, are on the right side: (*b, q, ..)."""
        bound = self.signed_bound.view(*self.bound.shape, *(1,) * (-dim - 1))
        return self.signed(values, dim) - bound

    @cached_property
    def signed_bound(self) -> Float[Tensor, "*b q"]:
        return self._sense * self.bound

    def inequalities(self, values: Tensor, dim: int = -2) -> Tensor:
        """The objective, and then the margin of each condition, which must not be negative."""
        return torch.cat([values.narrow(dim, 0, 1), self.margins(values, dim)], dim)

    def units(self, deviation: Float[Tensor, "*b j"]) -> Float[Tensor, "*b i"]:
        """The same of the units of rows: that of the objective, and then that of each condition."""
        return torch.cat([deviation[..., :1], self.rows_of(deviation, -1)], -1)
