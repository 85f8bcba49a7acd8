"""How much of a question others have asked meanwhile (METHOD 20.1)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.fantasy import Pending, precision
from pesky.model.belief import Belief


def overlap(belief: Belief, x: Float[Tensor, " d"], rows: Bool[Tensor, " j"], others: Pending) -> float:
    """The share of the variance at x, of the row of these where it is largest, that the others' answers explain.

    An answer y of variance v + noise tells 0.5 log(1 + v / noise) of its row at x, and beside others that explain the
    share r of v at least 1 - r of that, since the logarithm is concave. It takes a millisecond to compute, where to
    decide anew takes all the stages of that.
    """
    batch = belief.amplitude.shape[:-1]
    here, there = (P.expand(*batch, *P.shape) for P in (x[None], others.X))
    with_x = belief.covariance(there, here)
    explained = (with_x * (precision(belief, others) @ with_x)).sum((-2, -1))
    # what is known of the row but for rounding errors is explained by nobody
    share = explained / torch.maximum(belief.variance(here)[..., 0], 1e-10 * belief.amplitude)
    return float(share.reshape(-1, share.shape[-1]).mean(0)[rows].amax().clamp(max=1.0))
