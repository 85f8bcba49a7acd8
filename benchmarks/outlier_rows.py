"""Rows of data on which outliers are looked for: none has one until one is planted."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.test_functions import problem_by_name
from pesky.test_functions.gp_samples import draw_functions

SIZES = ((12, 2), (20, 2), (40, 2), (20, 4), (40, 5))
"""Values and columns."""
ENGINEERING = ("pressure-vessel", "spring", "welded-beam", "speed-reducer")


@dataclass(frozen=True)
class Row:
    """Points of the unit cube, the values there, and the function that they are of."""

    X: Float[Tensor, "n d"]
    values: Float[Tensor, " n"]
    truth: Callable[[Float[Tensor, "m d"]], Float[Tensor, " m"]]
    noise: float


def _row(seed: int, make: Callable[[int, torch.Generator], Callable[[Tensor], Tensor]], noise: float | None) -> Row:
    """A function at random points; the noise is relative to its deviation, None of 0, 1 and 10 % in turn."""
    g = torch.Generator().manual_seed(seed)
    n, d = SIZES[seed % len(SIZES)]
    truth, X = make(d, g), torch.rand(n, d, generator=g, dtype=torch.float64)
    clean = truth(X)
    share = (0.0, 0.01, 0.1)[seed // len(SIZES) % 3] if noise is None else noise
    deviation = share * (float(clean.std()) or 1.0)
    return Row(X, clean + deviation * torch.randn(n, generator=g, dtype=torch.float64), truth, deviation)


def gp_sample(seed: int, lengthscale: float = 0.3, noise: float | None = None) -> Row:
    """A sample of a Gaussian process."""

    def make(d: int, g: torch.Generator) -> Callable[[Tensor], Tensor]:
        function = draw_functions(d, 1, g, lengthscale * d**0.5, amplitude=1.0, points=300)
        return lambda X: function(X)[:, 0]

    return _row(seed, make, noise)


def exponential_of_sample(seed: int) -> Row:
    """The exponential of one, over two decades."""

    def make(d: int, g: torch.Generator) -> Callable[[Tensor], Tensor]:
        function = draw_functions(d, 1, g, 0.3 * d**0.5, amplitude=1.0, points=300)
        return lambda X: torch.exp(2 * function(X)[:, 0])

    return _row(seed, make, None)


def formula(f: Callable[[Tensor, Tensor], Tensor]) -> Callable[[int], Row]:
    """Rows of a function of points and of one random vector of the unit cube."""

    def make(d: int, g: torch.Generator) -> Callable[[Tensor], Tensor]:
        drawn = torch.rand(d, generator=g, dtype=torch.float64)
        return lambda X: f(X, drawn)

    return lambda seed: _row(seed, make, None)


def engineering(seed: int, gathered: bool, noise: float) -> Row:
    """A row of an engineering problem at 40 points: all random, or half of them gathered around the optimum."""
    g = torch.Generator().manual_seed(seed)
    benchmark = problem_by_name(ENGINEERING[seed % len(ENGINEERING)], 0)
    best = benchmark.optimum
    X = torch.rand(40, len(best), generator=g, dtype=torch.float64)
    if gathered:
        step = 10 ** -(1 + 2 * torch.rand(20, 1, generator=g, dtype=torch.float64))
        X[20:] = (best + step * torch.randn(20, len(best), generator=g, dtype=torch.float64)).clamp(0, 1)
    rows = benchmark.truth(X)
    row = seed // len(ENGINEERING) % rows.shape[-1]
    deviation = noise * float(rows[:, row].std())
    values = rows[:, row] + deviation * torch.randn(40, generator=g, dtype=torch.float64)
    return Row(X, values, lambda Z: benchmark.truth(Z)[:, row], deviation)


def network(seed: int) -> Row:
    """Errors like those of a network: few percent, of 450 pictures, and 0.9 where it diverges or hardly learns."""
    g = torch.Generator().manual_seed(seed)
    n = (20, 30, 40)[seed % 3]
    X = torch.rand(n, 4, generator=g, dtype=torch.float64)

    def truth(Z: Tensor) -> Tensor:
        rate, units, layers = Z[:, 0], Z[:, 1], (3 * Z[:, 2]).floor() / 2
        error = 0.02 + 0.1 * (rate - 0.6).square() + 0.05 * (1 - units).square() + 0.01 * layers
        slow = torch.sigmoid((0.15 - rate) / 0.03)
        return torch.where(rate + 0.1 * layers > 0.95, 0.9, error + 0.8 * slow)

    errors = torch.binomial(torch.full((n,), 450.0, dtype=torch.float64), truth(X), generator=g) / 450
    return Row(X, errors, truth, 0.006)


def small_errors(seed: int) -> Row:
    """Values about 0.02 with a noise of 0.0005."""

    def make(d: int, g: torch.Generator) -> Callable[[Tensor], Tensor]:
        return lambda X: 0.02 + 0.008 * torch.sin(4 * X[:, 0]) + 0.004 * X[:, -1]

    return _row(seed, make, 0.08)


CLEAN: dict[str, Callable[[int], Row]] = {
    "GP samples": gp_sample,
    "GP samples, rough": lambda seed: gp_sample(seed, 0.12),
    "exponentials of GP samples": exponential_of_sample,
    "exponentials": formula(lambda X, r: torch.exp(6 * X[:, 0] + 2 * X[:, -1])),
    "parabolas": formula(lambda X, r: (X - r).square().sum(-1)),
    "fourth powers over decades": formula(
        lambda X, r: ((X - r) ** 4 * torch.logspace(0, 3, X.shape[-1], dtype=X.dtype)).sum(-1)
    ),
    "poles": formula(lambda X, r: 1 / (0.02 + X[:, 0])),
    "kinks": formula(lambda X, r: (X - r).abs().sum(-1)),
    "steps": formula(lambda X, r: (X[:, 0] > 0.6 + 0.4 * r[0]).to(X.dtype) + 0.1 * X[:, -1]),
    "cliffs across": formula(lambda X, r: (X[:, 0] + X[:, -1] > 1.2 + 0.7 * r[0]).to(X.dtype) + 0.1 * X[:, -1]),
    "engineering": lambda seed: engineering(seed, False, 0.0),
    "engineering, 1 % noise": lambda seed: engineering(seed, False, 0.01),
    "engineering, gathered": lambda seed: engineering(seed, True, 0.0),
    "engineering, gathered, 1 % noise": lambda seed: engineering(seed, True, 0.01),
    "a network's errors": network,
}
"""Rows without outliers."""


def plant(row: Row, seed: int, noises: float | None) -> tuple[Row, int]:
    """The row with one value replaced: by 0.9, or by itself and so many deviations of the noise, up or down."""
    datum, values = seed % len(row.values), row.values.clone()
    values[datum] = 0.9 if noises is None else values[datum] + (1 if seed % 2 else -1) * noises * row.noise
    return Row(row.X, values, row.truth, row.noise), datum


PLANTED: dict[str, Callable[[int], tuple[Row, int]]] = {
    "0.9 among 0.02": lambda seed: plant(small_errors(seed), seed, None),
    **{
        f"{noises} deviations of {noise:.0%} noise": (
            lambda seed, noises=noises, noise=noise: plant(gp_sample(seed, 0.4, noise), seed, noises)
        )
        for noise, noises in ((0.1, 5), (0.1, 10), (0.1, 30), (0.01, 30), (0.01, 100))
    },
}  # fmt: skip
"""Rows with one, and which it is."""
