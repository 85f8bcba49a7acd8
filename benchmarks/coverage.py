"""How often values are in intervals of 90 %, at the maximum and by samples of hyperparameters, as answers have them.

Rows by themselves, drawn from Gaussian processes with a noise of 0.1 deviations; the hyperparameters are not told, nor,
with `--undeclared`, the noise. Lengthscales are those in two dimensions, and grow with the root of their number. Beside
the coverage, the mean logarithm of the predicted density: more is better.
"""

import argparse
import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.model.fit import maximize
from pesky.model.hyper import Hyperparameters, padded_gram
from pesky.model.surrogate import GP
from pesky.observations import Observations, observe
from pesky.problem import Constraint, Problem, Real

LENGTHSCALES, COUNTS = (0.1, 0.3, 1.0), (3, 5, 10, 20, 40)
NOISE, ELSEWHERE = 0.1, 20
"""Deviation of the noise, and at how many other points a row is predicted."""


class Rows(NamedTuple):
    """What was measured of some rows, other points, and the scaled values there."""

    observations: Observations
    X: Float[Tensor, "x d"]
    truth: Float[Tensor, "j x"]


def draw(rows: int, dim: int, lengthscale: float, count: int, seed: int, noise: float | None = NOISE) -> Rows:
    """So many constraints, all measured at the same points; `noise` is what is declared."""
    g = torch.Generator().manual_seed(seed)
    X = torch.rand(count + ELSEWHERE, dim, generator=g, dtype=torch.float64)
    one = torch.ones(1, dtype=torch.float64)
    h = Hyperparameters(lengthscale * math.sqrt(dim / 2) * one.expand(1, dim), one, 1e-8 * one, 0 * one)
    root = torch.linalg.cholesky(padded_gram("se", X[None], torch.ones(1, len(X), dtype=torch.bool), h)[0])
    f = root @ torch.randn(len(X), rows, generator=g, dtype=torch.float64)
    y = f[:count] + NOISE * torch.randn(count, rows, generator=g, dtype=torch.float64)
    names = [f"c{j}" for j in range(rows)]
    problem = Problem(
        {f"x{i}": Real(0, 1) for i in range(dim)},
        minimize="f",
        constraints=[Constraint(name, ">=", 0.0) for name in names],
        noise=noise,
    )
    o = observe(problem, [X[:count]] * (rows + 1), [y[:, 0], *y.unbind(-1)], {})
    o = o.select(torch.arange(rows + 1) > 0)
    return Rows(o, X[count:], f[count:].mT / o.scale[:, None])


def judge(h: Hyperparameters, rows: Rows) -> tuple[float, float]:
    """The share of values within intervals of 90 %, and the mean log density, in the rows' own units."""
    o = rows.observations
    belief = GP().condition(o, h, None)
    X = rows.X.expand(*h.amplitude.shape[:-1], *rows.X.shape)
    mean, variance = (part.reshape(-1, *rows.truth.shape) for part in (belief.mean(X), belief.variance(X)))
    z = (rows.truth - mean) / variance.sqrt()
    below = torch.special.ndtr(z).mean(0)
    each = -0.5 * z.square() - 0.5 * (2 * math.pi * variance).log()
    density = each.logsumexp(0) - math.log(len(each)) - o.scale.log()[:, None]
    return float(((below > 0.05) & (below < 0.95)).double().mean()), float(density.mean())


def main(arguments: list[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--rows", type=int, default=20, help="of each of ten sets of points")
    parser.add_argument("--dim", type=int, default=2)
    parser.add_argument("--undeclared", action="store_true", help="the noise is not told")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    print("lengthscale  data  coverage: maximum  samples  log density: maximum  samples")
    for lengthscale in LENGTHSCALES:
        for count in COUNTS:
            found = []
            for seed in range(10):
                noise = None if given.undeclared else NOISE
                rows = draw(given.rows, given.dim, lengthscale, count, seed, noise)
                o = rows.observations
                best = maximize("matern52", o.X, o.y, o.mask, o.noise)
                sampled = GP().spread(o, best, torch.Generator().manual_seed(seed))
                found.append([*judge(best, rows), *judge(sampled, rows)])
            a, b, c, d = torch.tensor(found).mean(0).tolist()
            print(f"{lengthscale:11g}  {count:4d}  {a:17.2f}  {c:7.2f}  {b:20.2f}  {d:7.2f}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
