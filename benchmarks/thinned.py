"""`python -m benchmarks.thinned`: what is lost by hyperparameters from 400 values of each outcome, beside all values.

On random functions, measured apart: the objective often, its constraint less. What is believed rests on all values
either way. Predictions are compared with the functions, without noise, at points that were not measured, and so are the
gaps of what is recommended.
"""

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import process_time

import torch

import pesky
from benchmarks.report import build_table, console, progress_bar, write_json
from pesky.answer.prediction import predict
from pesky.model import surrogate
from pesky.test_functions.base import Benchmark, decouple
from pesky.test_functions.gp_samples import gp_sample

ALL = 10**9


@contextmanager
def at_most(values: int) -> Iterator[None]:
    """Fits within it are of no more than so many values of a row."""
    usual, surrogate.MOST = surrogate.MOST, values
    try:
        yield
    finally:
        surrogate.MOST = usual


def answer(benchmark: Benchmark, counts: dict[str, int], held_out: int, seed: int) -> dict[str, float]:
    """How good predictions and the recommendation are, and the CPU seconds of both, after so many values of each."""
    study, generator = pesky.Study(benchmark.problem, seed=seed), torch.Generator().manual_seed(seed)
    names = [*benchmark.problem.parameters]
    X = torch.rand(max(counts.values()), len(names), generator=generator, dtype=torch.float64)
    for i, x in enumerate(X.tolist()):
        params = dict(zip(names, x, strict=True))
        values = benchmark.evaluate(params, generator)
        study.add(params, {name: values[name] for name, count in counts.items() if i < count})
    elsewhere = torch.rand(held_out, len(names), generator=generator, dtype=torch.float64)
    truth, began = benchmark.truth(elsewhere), process_time()
    inferred = study.inferred()
    predicted = [predict(inferred, u).outcomes for u in elsewhere]
    gap, seconds = benchmark.utility_gap(study.recommend().params), process_time() - began
    found = {"gap": gap, "seconds": seconds}
    for row, name in enumerate(benchmark.problem.outcomes):
        mean, deviation = (torch.tensor([getattr(p[name], of) for p in predicted]) for of in ("mean", "deviation"))
        error = truth[:, row] - mean
        density = -0.5 * (error / deviation).square() - deviation.log() - 0.5 * math.log(2 * math.pi)
        found |= {f"rmse of {name}": float(error.square().mean().sqrt()), f"density of {name}": float(density.mean())}
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.thinned", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    parser.add_argument("--functions", type=int, default=3, help="random problems, default %(default)s")
    parser.add_argument("--dim", type=int, default=6, help="parameters, default %(default)s")
    parser.add_argument("--values", default="1000,300", help="of the objective and the constraint, default %(default)s")
    parser.add_argument("--held-out", type=int, default=100, help="points of predictions, default %(default)s")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    counts: dict[str, int] = dict(zip(["f", "c1"], map(int, given.values.split(",")), strict=True))
    limits = {"400": surrogate.MOST, "all": ALL}
    results: list[dict] = []
    with progress_bar() as bar:
        work = bar.add_task("fitting", total=given.functions * len(limits))
        for seed in range(given.functions):
            generator = torch.Generator().manual_seed(seed)
            drawn = gp_sample(given.dim, generator, 1, lengthscale=0.2 * given.dim**0.5, points=1000)
            for name, limit in limits.items():
                with at_most(limit):
                    results.append({"values": name, **answer(decouple(drawn), counts, given.held_out, seed)})
                write_json(given.json, {"results": results})
                bar.advance(work)
    columns = [key for key in results[0] if key != "values"]
    lines = [
        [name, *(f"{statistics.mean(each[key] for each in results if each['values'] == name):.3g}" for key in columns)]
        for name in limits
    ]
    size = f"{given.values} values of the outcomes, d = {given.dim}, mean of {given.functions} random problems"
    console.print(build_table(size, ["hyperparameters from", *columns], lines))


if __name__ == "__main__":
    main()
