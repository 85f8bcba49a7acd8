"""The problems of an experiment, one for each realisation, evaluated all at once.

Where the constrained minimum of a drawn function is takes a second of searching to find, so those of the first
realisations are kept in `experiments/optima`: `python -m experiments.worlds --dim 2` finds them, and says how large the
functions are.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from experiments.progress import Progress
from pesky.model.surrogate import GP, FixedHyperparameters
from pesky.problem import Problem
from pesky.test_functions import gp_sample, toy
from pesky.test_functions.base import ROUNDING
from pesky.test_functions.gp_samples import DrawnFunctions, draw_functions, gp_problem

KEPT = Path(__file__).parent / "optima"
LENGTHSCALE, AMPLITUDE, NOISE, POINTS = 0.1, 1.0, 0.01, 1000
"""Of the drawn functions; the noise is a variance, the points those of a Halton sequence."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Worlds:
    """B problems that differ in their functions alone, or not even in them."""

    problem: Problem
    truth: Callable[[Tensor], Tensor]
    """Points (B, n, d) of the unit cube -> noise-free rows (B, n, J)."""
    optimum_value: Float[Tensor, " B"]
    worst_value: Float[Tensor, " B"]
    noise: float
    """Standard deviation."""
    model: GP
    """What a study of it is given."""

    def judge(self, u: Float[Tensor, "B d"]) -> tuple[Float[Tensor, " B"], Bool[Tensor, " B"]]:
        """The utility gap of a recommendation in each world, and whether it is feasible there."""
        rows = self.truth(u[:, None])[:, 0]
        feasible = (rows[:, 1:] >= -ROUNDING).all(-1)
        utility = torch.where(feasible, rows[:, 0], self.worst_value)
        return (utility - self.optimum_value).abs(), feasible


class Optimum(NamedTuple):
    """What is kept of a drawn problem."""

    draws: int
    """How many were drawn until one had a feasible point."""
    u: list[float]
    value: float
    worst: float


def find_optimum(dim: int, lengthscale: float, seed: int) -> Optimum:
    """The constrained minimum of the problem that `gp_sample` draws with this seed."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    benchmark, state = gp_sample(dim, generator, lengthscale=lengthscale), generator.get_state()
    replayed, draws = torch.Generator().manual_seed(seed), 0
    while not torch.equal(replayed.get_state(), state):
        torch.randn(POINTS, 2, generator=replayed, dtype=torch.float64)
        draws += 1
    return Optimum(draws, benchmark.optimum.tolist(), benchmark.optimum_value, benchmark.worst_value)


def path_of(dim: int, lengthscale: float) -> Path:
    """Where the optima of such problems are kept."""
    return KEPT / (f"gp{dim}.json" if lengthscale == LENGTHSCALE else f"gp{dim}-{lengthscale:g}.json")


def kept_optima(dim: int, lengthscale: float) -> list[Optimum]:
    """Those that were found before, of the seeds 0, 1, .."""
    path = path_of(dim, lengthscale)
    return [Optimum(*each) for each in json.loads(path.read_text())] if path.exists() else []


def drawn(
    dim: int, seeds: Sequence[int], device: str, lengthscale: float = LENGTHSCALE, model: GP | None = None
) -> Worlds:
    """The problems that `gp_sample` draws with these seeds; their model knows the hyperparameters if none is given."""
    kept = kept_optima(dim, lengthscale)
    found = [kept[seed] if seed < len(kept) else find_optimum(dim, lengthscale, seed) for seed in seeds]
    functions = [_functions(dim, lengthscale, seed, each.draws) for seed, each in zip(seeds, found, strict=True)]
    centers, stacked = functions[0].centers, torch.stack([each.weights for each in functions])
    known = FixedHyperparameters(lengthscale, AMPLITUDE, NOISE)
    return Worlds(
        problem=gp_problem(dim, ("f", "c1"), NOISE, CONFIDENCE),
        truth=DrawnFunctions(centers.to(device), stacked.to(device), lengthscale, AMPLITUDE),
        optimum_value=torch.tensor([each.value for each in found], dtype=torch.float64, device=device),
        worst_value=torch.tensor([each.worst for each in found], dtype=torch.float64, device=device),
        noise=NOISE**0.5,
        model=GP("se", {"f": known, "c1": known}) if model is None else model,
    )


def _functions(dim: int, lengthscale: float, seed: int, draws: int) -> DrawnFunctions:
    """The last of so many draws."""
    generator = torch.Generator().manual_seed(seed)
    each = [draw_functions(dim, 2, generator, lengthscale, AMPLITUDE, POINTS) for _ in range(draws)]
    return each[-1]


def toys(seeds: Sequence[int], device: str) -> Worlds:
    """The toy problem as often as there are seeds; what differs are the first points."""
    benchmark = toy()
    ones = torch.ones(len(seeds), dtype=torch.float64, device=device)
    return Worlds(
        problem=benchmark.problem,
        truth=benchmark.truth,
        optimum_value=benchmark.optimum_value * ones,
        worst_value=benchmark.worst_value * ones,
        noise=benchmark.noise,
        model=GP(),
    )


def describe(worlds: Worlds, count: int) -> str:
    """How large the functions are, all over the space."""
    d = len(worlds.problem.parameters)
    U = torch.rand(count, 500, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    size = worlds.truth(U).abs()
    return f"half of all values are below {size.median():.2g}, and {(size < 0.05).double().mean():.0%} below 0.05"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.worlds", description=__doc__)
    parser.add_argument("--dim", type=int, required=True)
    parser.add_argument("--lengthscale", type=float, default=LENGTHSCALE)
    parser.add_argument("--realisations", type=int, default=500)
    parser.add_argument("--workers", type=int, default=None)
    given = parser.parse_args()
    found = kept_optima(given.dim, given.lengthscale)
    seeds = range(len(found), given.realisations)
    with ProcessPoolExecutor(given.workers) as pool, Progress(f"optima in {given.dim}-D", steps=len(seeds)) as bar:
        began = monotonic()
        for step, optimum in enumerate(pool.map(partial(find_optimum, given.dim, given.lengthscale), seeds), 1):
            found.append(optimum)
            bar.advance(step, (monotonic() - began) / step)
    KEPT.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(each) for each in found)
    path_of(given.dim, given.lengthscale).write_text(f"[\n{lines}\n]\n")
    some = range(min(32, given.realisations))
    print(describe(drawn(given.dim, some, "cpu", given.lengthscale), len(some)))


if __name__ == "__main__":
    main()
