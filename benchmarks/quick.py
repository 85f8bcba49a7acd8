"""`python -m benchmarks.quick`: quick functions, with full decisions and with a bounded share of deciding.

200 evaluations of the toy problem whose functions take 10 ms, on one core, for several `deciding_share`s.
"""

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from rich.table import Table

import pesky
from benchmarks.report import build_table, console, progress_bar, write_json
from pesky.space import Space
from pesky.test_functions import toy


@dataclass(frozen=True)
class Result:
    """One run: its wall time and CPU time, the time of deciding and its kinds, and the gap at the end."""

    share: float | None
    seed: int
    seconds: float
    cpu_seconds: float
    deciding: float
    decisions: dict[str, int]
    gap: float


def measure_run(share: float | None, seed: int, evaluations: int, milliseconds: float) -> Result:
    """A run of the toy problem with functions that take so long."""
    benchmark, noise = toy(), torch.Generator().manual_seed(seed)
    study = pesky.Study(benchmark.problem, seed=seed, deciding_share=share)

    def function(params: Mapping[str, Any]) -> dict[str, float]:
        time.sleep(milliseconds / 1000)
        return benchmark.evaluate(params, noise)

    began, cpu_began = time.monotonic(), time.process_time()
    study.run(function, pesky.Budget(evaluations=evaluations, confirm=0), progress=False)
    seconds, cpu_seconds = time.monotonic() - began, time.process_time() - cpu_began
    gap = benchmark.utility_gap(Space.of(benchmark.problem).encode(study.recommend().params))
    decisions = {level: study.time_budget.decisions[level] for level in ("full", "update", "thompson")}
    return Result(share, seed, seconds, cpu_seconds, study.time_budget.deciding, decisions, gap)


def tabulate(results: Sequence[Result], evaluations: int, milliseconds: float) -> Table:
    """A line per share: medians over the seeds."""
    lines = []
    for share in dict.fromkeys(result.share for result in results):
        own = [result for result in results if result.share == share]
        kinds = [[result.decisions[level] for result in own] for level in ("full", "update", "thompson")]
        measuring = [result.seconds - result.deciding for result in own]
        lines.append(
            [
                "none: all full" if share is None else f"{share:g}",
                *(
                    f"{statistics.median(getattr(result, what) for result in own):.1f}"
                    for what in ("seconds", "cpu_seconds")
                ),
                f"{statistics.median(r.deciding / m for r, m in zip(own, measuring, strict=True)):.2f}",
                *(f"{statistics.median(kind):g}" for kind in kinds),
                f"{statistics.median(result.gap for result in own):.1e}",
                f"{max(result.gap for result in own):.1e}",
            ]
        )
    columns = [
        "deciding_share",
        "seconds",
        "CPU seconds",
        "deciding / measuring",
        "full",
        "updates",
        "draws",
        "gap",
        "worst gap",
    ]
    title = f"{evaluations} evaluations of {milliseconds:g} ms: medians of {len({r.seed for r in results})} seeds"
    return build_table(title, columns, lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs every share on every seed and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--milliseconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shares", type=float, nargs="*", default=[10.0, 2.0, 0.5])
    parser.add_argument("--json", metavar="FILE", help="write the results as data, too")
    given = parser.parse_args(arguments)
    plans = [(share, seed) for share in (None, *given.shares) for seed in range(given.seeds)]
    results = []
    with progress_bar() as progress:
        bar = progress.add_task("runs", total=len(plans))
        for share, seed in plans:
            results.append(measure_run(share, seed, given.evaluations, given.milliseconds))
            progress.advance(bar)
    console.print(tabulate(results, given.evaluations, given.milliseconds))
    if given.json:
        write_json(given.json, {"runs": [vars(result) for result in results]})


if __name__ == "__main__":
    main()
