"""`python -m benchmarks.optimize PROBLEM`: the utility gap of PESC and of its yardsticks over full runs.

PROBLEM is 'toy', or 'gp1', 'gp2', .. for random functions in 1, 2, .. dimensions with known hyperparameters,
or a file written with --json, whose runs are tabulated again.
"""

import argparse
import json
import math
import multiprocessing
import os
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

import torch
from rich.table import Table

from benchmarks.gaps import first_below, median_error
from benchmarks.report import build_table, console, progress_bar, write_json
from benchmarks.rules import RULES
from benchmarks.runs import INITIAL, Plan, Run, build_benchmark, optimize

MILESTONES = (10, 15, 20, 30, 40)
LIMIT = 0.01


def run_all(plans: Sequence[Plan], workers: int) -> Iterator[Run]:
    """Every plan's run, in the order in which they finish; each worker has one thread."""
    os.environ["OMP_NUM_THREADS"] = "1"  # read by the workers as they import torch
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        futures = [pool.submit(optimize, plan) for plan in plans]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def read_runs(path: str) -> list[Run]:
    """The runs of a file written with --json."""
    return [Run(**{**run, "plan": Plan(**run["plan"])}) for run in json.loads(Path(path).read_text())["runs"]]


def summarize(runs: Sequence[Run]) -> dict:
    """The figures of one rule's runs."""
    milestones = [n for n in MILESTONES if n <= min(run.plan.evaluations for run in runs)]
    at = {n: [run.gaps[n - INITIAL] for run in runs] for n in milestones}
    below = statistics.median(first_below(run.gaps, LIMIT, INITIAL) for run in runs)
    asks = [seconds for run in runs for seconds in run.ask_seconds]
    recommendations = [seconds for run in runs for seconds in run.recommend_seconds]
    return {
        "runs": len(runs),
        "median": {n: statistics.median(gaps) for n, gaps in at.items()},
        "median_error": {n: median_error(gaps) for n, gaps in at.items()},
        "mean": {n: statistics.mean(gaps) for n, gaps in at.items()},
        "first_below": below if math.isfinite(below) else None,
        "ask_seconds": statistics.mean(asks) if asks else 0.0,
        "recommend_seconds": statistics.mean(recommendations),
    }


def tabulate(by_rule: dict[str, dict], plan: Plan) -> Table:
    """Three lines per rule: the median gap, its bootstrap error, and the mean gap."""
    milestones = list(next(iter(by_rule.values()))["median"])
    lines = []
    for rule, figures in by_rule.items():
        median, error, mean = (
            [f"{figures[name][n]:.2g}" for n in milestones] for name in ("median", "median_error", "mean")
        )
        seconds = [f"{figures[name]:.3f}" for name in ("ask_seconds", "recommend_seconds")]
        lines.append(
            [
                f"{rule} ({figures['runs']} runs)",
                "median",
                *median,
                str(figures["first_below"] or "never"),
                *seconds,
            ]
        )
        lines.append(["", "± bootstrap", *error, "", "", ""])
        lines.append(["", "mean", *mean, "", "", ""])
    title = f"Utility gap on {plan.problem}{', decoupled' if plan.is_decoupled else ''} after n evaluations"
    caption = f"n below: the median n from which the gap stays below {LIMIT}."
    if plan.is_decoupled:
        caption += " n counts joint evaluations; only PESC asks for single outcomes."
    heads = ["rule", "gap", *(f"n = {n}" for n in milestones), "n below", "CPU s\nask", "CPU s\nrecommend"]
    return build_table(title, heads, lines, caption, labels=2)


def group(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each rule, by seed, the rules in the order of `RULES`."""
    return {
        rule: sorted(own, key=lambda run: run.plan.seed)
        for rule in RULES
        if (own := [run for run in runs if run.plan.rule == rule])
    }


def run_with_bar(plans: Sequence[Plan], workers: int, path: str | None) -> list[Run]:
    """All runs; what is finished is written at once, so that an interrupted benchmark is not lost."""
    runs = []
    with progress_bar() as bar:
        work = bar.add_task(plans[0].problem, total=len(plans))
        for run in run_all(plans, workers):
            runs.append(run)
            write_json(path, {"runs": [asdict(run) for run in runs]})
            bar.advance(work)
    return runs


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs and prints; see `--help`."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.optimize",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("problem", metavar="PROBLEM")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=40, help="joint evaluations, initial ones included")
    parser.add_argument("--rules", default="pesc,logei,random", help=f"of {', '.join(RULES)}")
    parser.add_argument("--decoupled", action="store_true", help="every outcome is a task of its own")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side, one thread each")
    parser.add_argument("--json", metavar="FILE", help="write every run and the table as data")
    given = parser.parse_args(arguments)
    if given.problem.endswith(".json"):
        runs = read_runs(given.problem)
    else:
        build_benchmark(given.problem, 0)  # an unknown name is told before any worker starts
        rules = given.rules.split(",")
        if unknown := set(rules) - set(RULES):
            parser.error(f"unknown rules {', '.join(sorted(unknown))}: choose from {', '.join(RULES)}")
        plans = [
            Plan(given.problem, rule, seed, given.evaluations, given.decoupled)
            for seed in range(given.seeds)
            for rule in rules
        ]
        runs = run_with_bar(plans, given.workers, given.json)
    by_rule = {rule: summarize(own) for rule, own in group(runs).items()}
    console.print(tabulate(by_rule, runs[0].plan))
    write_json(given.json, {"summary": by_rule, "runs": [asdict(run) for run in runs]})


if __name__ == "__main__":
    main()
