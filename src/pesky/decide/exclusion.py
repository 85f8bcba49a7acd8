"""Where asking once more is in vain: places asked again and again while nothing feasible is known."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model.belief import Belief
from pesky.optimum.recommend import assess

REACH = 0.02
"""Questions closer than this, in the cube, are about the same place."""
TIMES = 3
"""How often a place is asked before it is worn out."""
HOPE = 0.5
"""The probability that all constraints hold from which a measured point counts as feasible."""


class ExcludedRegions(NamedTuple):
    """Questions, and which of them were asked where it is in vain."""

    asked: Float[Tensor, "*w n d"]
    is_excluded: Bool[Tensor, "*w n"]

    def margin(self, X: Float[Tensor, "*w x d"]) -> Float[Tensor, "*w x"]:
        """How far each point is from the worn places, negative within their reach."""
        distance = (X[..., :, None, :] - self.asked[..., None, :, :]).abs().amax(-1)
        return torch.where(self.is_excluded[..., None, :], distance, 1.0).amin(-1) - REACH


def excluded_regions(
    belief: Belief, confidence: Float[Tensor, " k"], asked: Float[Tensor, "*w n d"]
) -> ExcludedRegions | None:
    """The questions asked in the same place `TIMES` and more, if nothing measured is probably feasible.

    None if there are none. A model that takes a violation for noise can want the least violated place measured
    for ever. Once something is feasible no place is worn out: the optimum is often on the edge of what is allowed, and
    the questions gather there.
    """
    if asked.shape[-2] < TIMES or not belief.points.shape[-2]:
        return None
    near = (asked[..., :, None, :] - asked[..., None, :, :]).abs().amax(-1) < REACH
    excluded = near.sum(-1) >= TIMES
    if not bool(excluded.any()):
        return None
    with torch.no_grad():
        hope = assess(belief, belief.points, confidence).log_probability.sum(-2).exp()
    excluded = excluded & (hope < HOPE).all(-1, keepdim=True)
    return ExcludedRegions(asked, excluded) if bool(excluded.any()) else None
