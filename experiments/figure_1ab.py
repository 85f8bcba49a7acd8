"""`python -m experiments.figure_1ab`: figures 1a and 1b of the paper, a belief and what PESC and RS say of it.

In one dimension rejection sampling is the truth: many joint draws on a fine grid, nothing else approximated.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.gain_curves import move
from experiments.files import OUT, rounded, write_json
from experiments.pictures import draw_if_possible
from pesky.acquire import Context, EntropySearchByEP, PredictiveEntropySearch, RejectionSampling
from pesky.model.gp import GaussianProcess
from pesky.model.surrogate import GP, FixedHyperparameters
from pesky.observations import Observations, collect
from pesky.space import Space
from pesky.test_functions import Benchmark
from pesky.test_functions.gp_samples import gp_sample

SEED = 1
"""The first of those whose x* may be in several places; neither setting of PESC is at its best there."""
EVALUATIONS = 5
POINTS, CELLS, PARTS = 301, 401, 50
"""Of the curves, of the grid of RS, and of the histogram of x*."""
SAMPLES = 200_000
"""Joint draws of RS: its standard error is then below 1 % of its largest gain."""
DIGITS = 4


def look(benchmark: Benchmark, generator: torch.Generator) -> tuple[Observations, GaussianProcess]:
    """Noisy values at a few random points, and the belief of someone who knows the hyperparameters."""
    space = Space.of(benchmark.problem)
    measured = []
    for _ in range(EVALUATIONS):
        u = torch.rand(space.dim, generator=generator, dtype=torch.float64)
        measured.append((u, benchmark.evaluate(space.decode(u), generator)))
    observations = collect(benchmark.problem, space, measured)
    known = {name: FixedHyperparameters(**given) for name, given in (benchmark.hyperparameters or {}).items()}
    model = GP(kernel="se", hyperparameters=known)
    return observations, model.fit(observations, benchmark.problem.rows, None, None, generator)


def measure(seed: int, device: str, samples: int) -> dict[str, Any]:
    """All that both figures show, as data."""
    generator = torch.Generator().manual_seed(seed)
    benchmark = gp_sample(1, generator)
    observations, belief = look(benchmark, generator)
    grid = torch.linspace(0.0, 1.0, POINTS, dtype=torch.float64)[:, None]
    return {
        "figure": "1ab",
        "seed": seed,
        "device": device,
        "samples": samples,
        "optimum": rounded(benchmark.optimum, DIGITS),
        "grid": rounded(grid[:, 0], DIGITS),
        "posterior": posteriors(benchmark, observations, belief, grid),
        **compare_gains(benchmark, move(belief, device), grid.to(device), samples, seed),
    }


def posteriors(
    benchmark: Benchmark, observations: Observations, belief: GaussianProcess, grid: Tensor
) -> dict[str, dict[str, list[float]]]:
    """For each outcome, in its own units: truth, posterior mean and deviation on the grid, and what was measured."""
    found = {}
    for j, name in enumerate(benchmark.problem.rows):
        curves = {
            "truth": benchmark.truth(grid)[:, j],
            "mean": observations.to_user(j, belief.mean(grid)[j]),
            "deviation": belief.variance(grid)[j].sqrt() * observations.scale[j],
            "x": observations.X[j, :, 0],
            "y": observations.to_user(j, observations.y[j]),
        }
        found[name] = {what: rounded(values, DIGITS) for what, values in curves.items()}
    return found


@torch.no_grad()
def compare_gains(
    benchmark: Benchmark, belief: GaussianProcess, grid: Tensor, samples: int, seed: int
) -> dict[str, Any]:
    """The gains of each rule on the grid, for each outcome in nats; of RS also their errors, and where x* was."""
    rows, confidence = benchmark.problem.rows, torch.full((len(benchmark.problem.rows) - 1,), 0.95).to(grid)

    def context() -> Context:
        return Context(belief, Space.of(benchmark.problem), confidence, torch.Generator().manual_seed(seed))

    truth = RejectionSampling(cells=CELLS, samples=samples).acquisition(context())
    value, error = truth.with_standard_errors(grid)
    gains = {"rs": value}
    for label, rule in {"pesc": PredictiveEntropySearch(), "pesc-paper": EntropySearchByEP.paper()}.items():
        gains[label] = rule.acquisition(context())(grid)
    named = {
        label: {name: rounded(values[:, j], DIGITS) for j, name in enumerate(rows)} for label, values in gains.items()
    }
    part = (PARTS * truth.groups.cell.flatten() // CELLS).cpu()
    size = truth.groups.size.flatten().cpu()
    solutions = torch.zeros(PARTS, dtype=size.dtype).index_add(0, part, size / size.sum())
    return {"rs_error": round(float(error.max()), 5), "solutions": rounded(solutions, DIGITS), "gains": named}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, writes and draws."""
    parser = argparse.ArgumentParser(prog="python -m experiments.figure_1ab", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--samples", type=int, default=SAMPLES, metavar="N", help="joint draws of RS")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help=f"where files go ({OUT})")
    given = parser.parse_args(arguments)
    path = given.out / "1ab.json"
    write_json(path, measure(given.seed, given.device, given.samples))
    print(path)
    draw_if_possible(path)


if __name__ == "__main__":
    main()
