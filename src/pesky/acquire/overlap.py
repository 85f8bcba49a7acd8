"""How much of a question others have asked meanwhile (METHOD 20.1)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.pending import Pending
from pesky.infer.gaussian import cholesky
from pesky.model.belief import Belief


def overlap(belief: Belief, x: Float[Tensor, " d"], rows: Bool[Tensor, " j"], others: Pending) -> float:
    """Nats that the others' answers tell about the answer of measuring these rows at x.

    What the answer y tells of x* loses at most that: I(y; x*, o) = I(y; o) + I(y; x* | o) is no less than I(y; x*).
    It takes a millisecond, where deciding anew takes all its stages.
    """
    batch = belief.amplitude.shape[:-1]
    X = torch.cat([x[None], others.X])
    measured = torch.cat([rows[None], others.rows]).mT
    both = measured[:, :, None] & measured[:, None, :]
    X = X.expand(*batch, *X.shape)
    # the floor of the noise as where pending answers are anticipated; rows that are not measured tell nothing
    noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)
    joint = torch.where(both, belief.covariance(X, X), 0.0) + torch.diag_embed(
        torch.where(measured, noise[..., None], belief.amplitude[..., None])
    )
    root = cholesky(joint[..., 1:, 1:], belief.amplitude, jitter=1e-14)
    explained = torch.linalg.solve_triangular(root, joint[..., 1:, :1], upper=False).square().sum((-2, -1))
    before = joint[..., 0, 0]
    left = torch.maximum(before - explained, noise.clamp(max=before))
    return float((0.5 * torch.log(before / left)).sum(-1).mean())
