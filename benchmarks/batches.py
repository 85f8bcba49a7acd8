"""`python -m benchmarks.batches`: how good questions are that are asked for at once, beside one at a time and random.

On random functions: some initial evaluations at random points, then as many questions by each way, told only once all
of them were asked where they are asked for at once. The gap is that of the recommendation; means are of its logarithm.
"""

import argparse
import math
import statistics
from collections.abc import Sequence
from time import process_time

import torch

import pesky
from benchmarks.gaps import median_error
from benchmarks.report import build_table, console, progress_bar, write_json
from pesky.test_functions.base import Benchmark
from pesky.test_functions.gp_samples import gp_sample

WAYS = ("one at a time", "at once", "random")
FINEST = 1e-4
"""Gaps below this are alike: the noise of a measurement is a tenth."""


def run(benchmark: Benchmark, way: str, initial: int, count: int, seed: int) -> dict[str, float]:
    """The gap of the recommendation after so many questions, their CPU seconds and how close two of them are."""
    rule = "random" if way == "random" else "pesc"
    study = pesky.Study(benchmark.problem, seed=seed, rule=rule)
    generator = torch.Generator().manual_seed(seed)

    def tell(evaluation: pesky.Evaluation) -> None:
        study.tell(evaluation.id, benchmark.evaluate(evaluation.params, generator))

    for x in torch.rand(initial, len(benchmark.problem.parameters), generator=generator, dtype=torch.float64).tolist():
        params = dict(zip(benchmark.problem.parameters, x, strict=True))
        study.add(params, benchmark.evaluate(params, generator))
    began, asked = process_time(), []
    if way == "one at a time":
        for _ in range(count):
            asked.append(study.ask())
            tell(asked[-1])
    else:
        asked = study.ask(count)
    seconds = process_time() - began
    if way != "one at a time":
        for each in asked:
            tell(each)
    X = torch.tensor([[float(v) for v in each.params.values()] for each in asked], dtype=torch.float64)
    apart = torch.cdist(X, X) + torch.diag(torch.full((count,), math.inf, dtype=X.dtype))
    nearest = float(apart.amin(-1).median()) if count > 1 else math.inf
    gap = benchmark.utility_gap(study.recommend().params)
    return {"gap": max(gap, FINEST), "seconds": seconds, "nearest": nearest}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    parser.add_argument("--functions", type=int, default=10, help="random problems, default %(default)s")
    parser.add_argument("--dim", type=int, default=2, help="parameters, default %(default)s")
    parser.add_argument("--constraints", type=int, default=1, help="default %(default)s")
    parser.add_argument("--initial", type=int, default=10, help="evaluations before, default %(default)s")
    parser.add_argument("--count", type=int, default=8, help="questions, default %(default)s")
    parser.add_argument("--ways", default=",".join(WAYS), help="comma-separated, default %(default)s")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    ways, results = given.ways.split(","), []
    with progress_bar() as bar:
        work = bar.add_task("asking", total=given.functions * len(ways))
        for seed in range(given.functions):
            generator = torch.Generator().manual_seed(seed)
            benchmark = gp_sample(
                given.dim, generator, given.constraints, lengthscale=0.15 * given.dim**0.5, points=500
            )
            for way in ways:
                results.append({"way": way, **run(benchmark, way, given.initial, given.count, seed)})
                bar.advance(work)
    lines = []
    for way in ways:
        own = [each for each in results if each["way"] == way]
        logs = [math.log10(each["gap"]) for each in own]
        middle = [f"{statistics.median(each[key] for each in own):.3g}" for key in ("seconds", "nearest")]
        error = f"{statistics.stdev(logs) / len(logs) ** 0.5:.2f}" if len(logs) > 1 else ""
        spread = f"{10 ** median_error(logs):.2f}" if len(logs) > 1 else ""
        lines.append(
            [way, f"{10 ** statistics.median(logs):.2g}", spread, f"{statistics.mean(logs):.2f}", error, *middle]
        )
    size = f"{given.count} questions after {given.initial} evaluations, K = {given.constraints}, d = {given.dim}"
    columns = ["asked", "median gap", "factor of error", "mean log10", "error", "CPU seconds", "nearest other"]
    console.print(build_table(size, columns, lines))
    write_json(given.json, {"results": results})


if __name__ == "__main__":
    main()
