"""Where asking once more is in vain: places asked again and again while nothing feasible is known."""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.model.belief import Belief
from pesky.optimum.recommend import standing

REACH = 0.02
"""Questions closer than this, in the cube, are about the same place."""
TIMES = 3
"""How often a place is asked before it is worn out."""
HOPE = 0.5
"""The probability that all constraints hold from which a measured point counts as feasible."""


def worn_out(
    belief: Belief, confidence: Float[Tensor, " k"], asked: Float[Tensor, "n d"]
) -> Float[Tensor, "w d"] | None:
    """The questions asked in the same place `TIMES` and more, if nothing measured is probably feasible; None if none.

    A model that takes a violation for noise can want the least violated place measured for ever. Once something is
    feasible no place is worn out: the optimum is often on the edge of what is allowed, and the questions gather there.
    """
    if len(asked) < TIMES or not len(belief.points):
        return None
    near = (asked[:, None] - asked).abs().amax(-1) < REACH
    worn = asked[near.sum(-1) >= TIMES]
    if not len(worn):
        return None
    with torch.no_grad():
        hope = standing(belief, belief.points, confidence).log_probability.sum(0).exp()
    return None if bool((hope >= HOPE).any()) else worn
