"""The rows that may decide where x* is: the objective, and the constraints that may be active at some cell.

A constraint that holds at every cell whatever the sample does not choose between cells: its row is independent of which
cell x* is in, and a measurement of it tells nothing. Of many constraints most are such once there are some data.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.data.pending import Pending
from pesky.model.belief import Belief, SelectsRows, for_hyper_samples, over_hyper_samples
from pesky.model.limited import with_conditions, without_conditions

DEVIATIONS = 6.0
"""Deviations from its bounds at which a constraint holds: 6,000 samples of 300 cells break it in one ask of 600."""


class ActiveRows(NamedTuple):
    """Those of any of the studies in lockstep."""

    belief: Belief
    """Of these rows alone."""
    which: Int[Tensor, " r"]
    """Which of all rows they are."""
    is_own: Bool[Tensor, "*b r 1"]
    """Which of them may decide anything in each study."""
    rows: int
    """How many there are in all."""

    def pending(self, pending: Pending | None) -> Pending | None:
        """What is measured of these rows."""
        return None if pending is None else Pending(pending.X, pending.rows.index_select(-1, self.which))

    def gains_of_all(self, gains: Float[Tensor, "*b r x"]) -> Float[Tensor, "*b j x"]:
        """The gains of all rows: none of those that decide nothing."""
        own = torch.where(self.is_own, gains, 0.0)
        if len(self.which) == self.rows:
            return own
        return own.new_zeros(*own.shape[:-2], self.rows, own.shape[-1]).index_copy(-2, self.which, own)


def active_rows(belief: Belief, cells: Float[Tensor, "*b n d"]) -> ActiveRows:
    """The rows of which something may be violated at one of the cells, and the objective's."""
    is_own = may_be_violated(belief, cells)
    is_own[..., 0] = True
    is_own = over_hyper_samples(belief, is_own).any(-2)
    index = is_own.reshape(-1, is_own.shape[-1]).any(0).nonzero()[:, 0]
    rows, bare, conditions = is_own.shape[-1], without_conditions(belief), belief.likelihoods.conditions
    if isinstance(bare, SelectsRows) and len(index) < rows:
        some = with_conditions(bare.select_rows(index), None if conditions is None else conditions.select_rows(index))
    else:
        index, some = torch.arange(rows, device=index.device), belief
    return ActiveRows(some, index, for_hyper_samples(belief, is_own[..., index, None]), rows)


def may_be_violated(belief: Belief, cells: Float[Tensor, "*b n d"]) -> Bool[Tensor, "*b j"]:
    """Whether each row is less than `DEVIATIONS` inside of one of its bounds anywhere."""
    mean, variance, _ = belief.evaluator(cells[..., :0, :])(cells)
    low, high = belief.likelihoods.bounds(belief.amplitude)
    margin = DEVIATIONS * variance.sqrt()
    return ((mean - margin < low[..., None]) | (mean + margin > high[..., None])).any(-1)
