"""Rejection sampling as plainly as can be: joint samples at all points, and a loop over the cells."""

import math

import torch
from torch import Tensor

from pesky.data.pending import Pending
from pesky.likelihood import Conditions
from pesky.model.belief import Belief


def brute_force(
    belief: Belief, cells: Tensor, X: Tensor, samples: int, seed: int, pending: Pending | None = None
) -> Tensor:
    """The gain of each row at each point (n, J), of a belief without batch dimensions; of yes/no rows that of the bit.

    Pending values are joint samples like all others; within a cell they are conditioned on as if Gaussian.
    """
    generator = torch.Generator().manual_seed(seed)
    everywhere = torch.cat([cells, X, *([] if pending is None else [pending.X])])
    variance, vectors = torch.linalg.eigh(belief.covariance(everywhere, everywhere))
    root = vectors * variance.clamp(min=0.0).sqrt()[:, None, :]
    rows, n, m = root.shape[0], len(cells), len(X)
    normal = torch.randn(rows, samples, len(everywhere), generator=generator)
    z = belief.mean(everywhere)[:, None] + normal @ root.mT
    conditions = belief.likelihoods.conditions
    margins = z[1:, :, :n] if conditions is None else _margins(z[..., :n], conditions)
    feasible = (margins >= 0).all(0)
    kept = feasible.any(-1)
    lowest = torch.where(feasible, z[0, :, :n], torch.inf).argmin(-1)
    error = torch.randn(rows, samples, len(everywhere) - n - m, generator=generator)
    awaited = z[..., n + m :] + belief.noise.sqrt()[:, None, None] * error
    gain = torch.zeros(m, rows)
    for j in range(rows):
        at = [] if pending is None else pending.rows[:, j].nonzero()[:, 0].tolist()
        entropy = _answer_entropy if belief.likelihoods.kinds[j] == "probit" else _entropy
        noise = float(belief.noise[j])
        before = entropy(z[j, :, n : n + m], awaited[j][:, at], noise)
        after = 0.0
        for cell in lowest[kept].unique():
            mine = kept & (lowest == cell)
            if int(mine.sum()) > 3 + 2 * len(at):
                after += mine.sum() / kept.sum() * entropy(z[j, mine, n : n + m], awaited[j][mine][:, at], noise)
        gain[:, j] = before - after
    return gain


def _margins(z: Tensor, conditions: Conditions) -> Tensor:
    """How far each condition holds: row by row, as they are written."""
    each = zip(conditions.row, conditions.sense, conditions.bound.tolist(), strict=True)
    return torch.stack([sense * (z[row] - bound) for row, sense, bound in each])


def _residual(values: Tensor, awaited: Tensor) -> Tensor:
    """The values less what is explained by regression on what is awaited."""
    values, awaited = values - values.mean(0), awaited - awaited.mean(0)
    return values if awaited.shape[1] == 0 else values - awaited @ torch.linalg.lstsq(awaited, values).solution


def _entropy(values: Tensor, awaited: Tensor, noise: float) -> Tensor:
    freedom = len(values) - 1 - awaited.shape[1]
    return 0.5 * (_residual(values, awaited).square().sum(0) / freedom + noise).log()


def _answer_entropy(values: Tensor, awaited: Tensor, noise: float) -> Tensor:
    """Of a yes or no with probability Phi(value), on average over what the awaited values tell."""
    left = _residual(values, awaited)
    spread = (1 + left.square().sum(0) / (len(values) - 1 - awaited.shape[1])).sqrt()
    p = 0.5 * (1 + torch.erf((values - left) / spread / math.sqrt(2)))
    return -(torch.xlogy(p, p) + torch.xlogy(1 - p, 1 - p)).mean(0)
