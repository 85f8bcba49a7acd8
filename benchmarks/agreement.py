"""How well gain curves agree with brute force, as pure functions (METHOD 18).

`ours` and `truth` are the gains of J rows at n points; the total curve is their sum over rows.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Agreement:
    """The figures of one pair of gain curves.

    correlation:    of the total curves
    error:          the largest difference of the total curves / the maximum of the true one
    ratio:          the maximum of our total curve / that of the true one
    efficiency:     the true total gain where ours is largest / the best
    decoupled:      the true gain of the row and point where our gain of a single row is largest / the best
    """

    correlation: float
    error: float
    ratio: float
    efficiency: float
    decoupled: float


def compare(ours: Float[Tensor, "J n"], truth: Float[Tensor, "J n"]) -> Agreement:
    """All figures of one pair of gain curves."""
    total, true_total = ours.sum(0), truth.sum(0)
    return Agreement(
        correlation=correlation(total, true_total),
        error=((total - true_total).abs().max() / true_total.max()).item(),
        ratio=(total.max() / true_total.max()).item(),
        efficiency=efficiency(total, true_total),
        decoupled=efficiency(ours.flatten(), truth.flatten()),
    )


def correlation(a: Float[Tensor, " n"], b: Float[Tensor, " n"]) -> float:
    """Pearson's correlation; 0 where one of the curves is constant."""
    a, b = a - a.mean(), b - b.mean()
    scale = (a.norm() * b.norm()).item()
    return (a @ b).item() / scale if scale > 0 else 0.0


def efficiency(ours: Float[Tensor, " n"], truth: Float[Tensor, " n"]) -> float:
    """The share of the best true gain that the choice by our gain gets."""
    return (truth[ours.argmax()] / truth.max()).item()


@dataclass(frozen=True)
class Summary:
    """Means over data sets and seeds, and what a mean hides.

    share_below:    share of (data set, seed) pairs with an efficiency below 0.9
    seed_sd:        standard deviation over seeds of the mean efficiency
    worst, worst_decoupled: the lowest efficiencies
    """

    correlation: float
    error: float
    ratio: float
    efficiency: float
    decoupled: float
    share_below: float
    seed_sd: float
    worst: float
    worst_decoupled: float


def summarize(by_seed: Sequence[Sequence[Agreement]]) -> Summary:
    """The summary of the figures of every seed's data sets."""
    names = list(asdict(by_seed[0][0]))
    figures = torch.tensor([[[getattr(a, name) for name in names] for a in sets] for sets in by_seed])
    efficiency, decoupled = (figures[..., names.index(name)] for name in ("efficiency", "decoupled"))
    return Summary(
        **dict(zip(names, figures.mean((0, 1)).tolist(), strict=True)),
        share_below=(efficiency < 0.9).double().mean().item(),
        seed_sd=efficiency.mean(1).std().item() if len(by_seed) > 1 else 0.0,
        worst=efficiency.min().item(),
        worst_decoupled=decoupled.min().item(),
    )
