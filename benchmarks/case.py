"""The data on which the speed of one ask is measured."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.test_functions.gp_samples import draw_functions

NOISE = 0.01  # variance, against functions of amplitude 1


@dataclass(frozen=True)
class Case:
    """One size: N evaluations of the objective and of K constraints in d dimensions."""

    N: int
    K: int
    d: int

    def __str__(self) -> str:
        return f"({self.N},{self.K},{self.d})"

    @staticmethod
    def parse(text: str) -> "Case":
        """The case written as 'N,K,d', with or without brackets."""
        N, K, d = (int(part) for part in text.strip("()").split(","))
        return Case(N, K, d)


CASES = (
    Case(30, 2, 2),
    Case(30, 2, 20),
    Case(100, 4, 10),
    Case(300, 2, 6),
)
"""What is timed beside all peers."""
LARGER = (Case(300, 4, 10), Case(600, 4, 10), Case(100, 12, 10), Case(100, 2, 50))
"""What is timed beside the quickest of them."""
LARGEST = (Case(1000, 4, 10), Case(3000, 2, 6), Case(10_000, 2, 6))
"""What PESC alone is timed at, since a peer takes minutes."""
BATCHES = (Case(30, 2, 2), Case(100, 4, 10))
"""Where several questions at once are timed, and the rules that take longest."""
SERIES = (
    *(Case(N, 2, 6) for N in (30, 100, 1000)),
    *(Case(100, 2, d) for d in (2, 10, 20)),
    *(Case(100, K, 10) for K in (8, 16)),
)
"""What PESC is timed at besides, to see how its time grows with each of N, d and K."""


@dataclass(frozen=True)
class Measured:
    """Coupled observations: inputs X in the unit cube and rows Y, row 0 minimized, others feasible >= 0."""

    X: Float[Tensor, "N d"]
    Y: Float[Tensor, "N J"]


def measure(case: Case, seed: int = 0) -> Measured:
    """Noisy values of smooth random functions at random points, the same for every rule.

    Draws where no observed point satisfies all constraints are drawn again, so that every rule does its main
    job and not its fallback.
    """
    generator = torch.Generator().manual_seed(seed)
    # A lengthscale that grows as the distance between random points does: functions that N points can learn.
    lengthscale = 0.2 * case.d**0.5
    X = torch.rand(case.N, case.d, generator=generator, dtype=torch.float64)
    while True:
        functions = draw_functions(case.d, case.K + 1, generator, lengthscale, amplitude=1.0, points=500)
        Y = functions(X)
        Y = Y + NOISE**0.5 * torch.randn(Y.shape, generator=generator, dtype=Y.dtype)
        if bool((Y[:, 1:] >= 0).all(-1).any()):
            return Measured(X, Y)
