"""The price of every task at every point: given, or learnt from how long measurements took."""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pesky.model.fit import maximize
from pesky.model.gp import GaussianProcess

Durations = tuple[Float[Tensor, "_ d"], Float[Tensor, " _"]]
"""Where a task was measured, and how many seconds it took."""
Prices = Callable[[Float[Tensor, "x d"]], Float[Tensor, "x t"]]

ENOUGH = 3
"""Fewer measurements than this have a mean and no shape."""
SHORTEST = 1e-6
"""Seconds: clocks may say zero, which has no logarithm."""
REACH = 10.0
"""A price is at most this many times the longest duration seen and at least this share of the shortest: a prior that is
wrong far from the data must not make a task free or unaffordable."""
UNKNOWN = 1.0
"""The price of a task of which nothing is known."""


def learn_costs(
    given: Sequence[float | None],
    durations: Sequence[Durations],
    snap: Callable[[Tensor], Tensor] | None = None,
) -> Prices:
    """The price of each task as a function of x, differentiable: a number where given, else learnt.

    Learnt: the expectation exp(mean + variance / 2) of a Gaussian process on the logarithms of the task's durations,
    without their noise. With too few of them it is their mean.
    """
    seconds = [measured.to(torch.float64).clamp(min=SHORTEST) for _, measured in durations]
    constant = torch.tensor([_constant(*each) for each in zip(given, seconds, strict=True)], dtype=torch.float64)
    learnt = [t for t, price in enumerate(given) if price is None and len(seconds[t]) >= ENOUGH]
    if not learnt:
        return lambda X: constant.to(X).expand(*X.shape[:-1], -1)

    logs = [seconds[t].log() for t in learnt]
    offset = torch.stack([y.mean() for y in logs])[:, None]
    spread = torch.stack([y.std(correction=0) for y in logs])[:, None]
    scale = torch.where(spread > 0, spread, 1.0)
    y = [(log - m[0]) / s[0] for log, m, s in zip(logs, offset, scale, strict=True)]
    X = pad_sequence([durations[t][0].to(torch.float64) for t in learnt], batch_first=True)
    mask = pad_sequence([torch.ones(len(each), dtype=torch.bool) for each in y], batch_first=True)
    data = ("matern52", X, pad_sequence(y, batch_first=True), mask)
    belief = GaussianProcess(*data, maximize(*data, torch.full((len(learnt),), torch.nan, dtype=X.dtype)), snap)
    shortest = torch.stack([log.min() for log in logs])[:, None] - math.log(REACH)
    longest = torch.stack([log.max() for log in logs])[:, None] + math.log(REACH)
    where = torch.tensor(learnt)

    def prices(X: Float[Tensor, "x d"]) -> Float[Tensor, "x t"]:
        log = offset + scale * belief.mean(X) + 0.5 * scale.square() * belief.variance(X)
        learnt_price = torch.minimum(torch.maximum(log, shortest), longest).exp()
        return constant.expand(X.shape[0], -1).index_copy(1, where, learnt_price.mT)

    return prices


def _constant(price: float | None, seconds: Float[Tensor, " n"]) -> float:
    """The price where it does not depend on x."""
    if price is not None:
        return price
    return float(seconds.mean()) if len(seconds) else UNKNOWN
