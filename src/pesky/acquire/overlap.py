"""How much of a question others have asked meanwhile (METHOD 20.1)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.pending import Pending
from pesky.infer.gaussian import cholesky
from pesky.model.belief import Belief


def overlap(belief: Belief, x: Float[Tensor, " d"], rows: Bool[Tensor, " j"], others: Pending) -> float:
    """The share of the variance at x, of the row of these where it is largest, that the others' answers explain.

    An answer y of variance v + noise tells 0.5 log(1 + v / noise) of its row at x, and beside others that explain the
    share r of v at least 1 - r of that, since the logarithm is concave. It takes a millisecond to compute, where to
    decide anew takes all the stages of that.
    """
    batch = belief.amplitude.shape[:-1]
    X = torch.cat([x[None], others.X])
    X = X.expand(*batch, *X.shape)
    K = belief.covariance(X, X)
    measured = others.rows.mT
    both = measured[:, :, None] & measured[:, None, :]
    # as where pending answers are anticipated: no noise below a floor, and rows that are not measured tell nothing
    noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)
    answers = torch.where(both, K[..., 1:, 1:], 0.0) + torch.diag_embed(
        torch.where(measured, noise[..., None], belief.amplitude[..., None])
    )
    root = cholesky(answers, belief.amplitude, jitter=1e-14)
    with_x = torch.where(measured, K[..., 1:, 0], 0.0)[..., None]
    explained = torch.linalg.solve_triangular(root, with_x, upper=False).square().sum((-2, -1))
    # what is known of the row but for rounding errors is explained by nobody
    share = explained / torch.maximum(K[..., 0, 0], 1e-10 * belief.amplitude)
    return float(share.reshape(-1, share.shape[-1]).mean(0)[rows].amax().clamp(max=1.0))
