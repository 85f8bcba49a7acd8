"""`python -m benchmarks.accuracy FILE`: our gains against brute force, on the data sets of an oracle file.

With `--truth rs` instead of a file, on data sets drawn here, whose true gains the rule `rs` computes; with `--truth
grid`, in more than two dimensions, too, on a grid of cells where x* may be.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from time import process_time

import torch
from rich.table import Table

from benchmarks.agreement import Agreement, Summary, summarize
from benchmarks.gain_curves import COMPARABLE, gain_curves, named
from benchmarks.grid_truth import GRID_SIZES, check, draw_grid_truth
from benchmarks.measure import Curves, measure_agreement, true_errors
from benchmarks.oracle import Oracle, read_oracle
from benchmarks.report import build_table, console, progress_bar, write_json
from benchmarks.truth import SIZES, draw_truth

OPTIONS = {"paper": ["paper"], "ep": ["ep"], "default": ["default"], "all": ["paper", "ep", "default"]}
COLUMNS = {
    "correlation": "correlation",
    "error": "largest\nerror",
    "ratio": "max\nratio",
    "efficiency": "efficiency",
    "seed_sd": "seed\nsd",
    "worst": "worst",
    "share_below": "share\n< 0.9",
    "decoupled": "decoupled\nefficiency",
    "worst_decoupled": "worst",
}


def tabulate(summaries: dict[str, Summary], seconds: dict[str, float], title: str, error: str) -> Table:
    """One line per options of PESC, or other rule."""
    lines = [
        [
            name,
            *(f"{getattr(summary, column):.3f}" for column in COLUMNS),
            f"{seconds[name]:.2f}" if name in seconds else "",
        ]
        for name, summary in summaries.items()
    ]
    caption = (
        "Means over data sets and seeds. Efficiency: the true gain at our arg max / the best true gain. CPU s: of the "
        "gains at all points of a data set, with all that they need."
    )
    return build_table(title, ["rule", *COLUMNS.values(), "CPU s"], lines, f"{caption} {error}".strip())


def tabulate_sets(oracle: Oracle, by_seed: Sequence[Sequence[Agreement]], name: str) -> Table:
    """One line per data set: its means over seeds."""
    lines = []
    for dataset, agreements in zip(oracle.datasets, zip(*by_seed, strict=True), strict=True):
        summary = summarize([[agreement] for agreement in agreements])
        lines.append([dataset.name, *(f"{getattr(summary, column):.3f}" for column in COLUMNS)])
    return build_table(f"{name}, means over seeds", ["data set", *COLUMNS.values()], lines)


def main(arguments: Sequence[str] | None = None, curves: Curves = gain_curves) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("file", metavar="FILE", nargs="?", help="data sets with brute-force gains, as in oracles/")
    parser.add_argument("--truth", choices=["rs", "grid"], help="draw data sets and compute their true gains so")
    parser.add_argument("--dim", type=int, choices=list(GRID_SIZES), default=1, help="dimensions of these data sets")
    parser.add_argument("--datasets", type=int, default=9, metavar="N", help="how many of them")
    parser.add_argument("--truth-samples", type=int, metavar="N", help="joint samples for the true gains of rs")
    parser.add_argument("--check", action="store_true", help="compare the true gains of the grid with others' as well")
    parser.add_argument("--rule", choices=COMPARABLE, nargs="+", default=["pesc"], help="what is compared")
    parser.add_argument("--options", choices=list(OPTIONS), default="all", help="of pesc")
    parser.add_argument("--samples", type=int, metavar="M", help="samples of x*, by default the rule's own")
    parser.add_argument("--polish", type=int, nargs="+", metavar="N", help="pesc with draws minimized by so many steps")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", action="store_true", help="print a line per data set as well")
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    given = parser.parse_args(arguments)
    if (given.file is None) == (given.truth is None):
        parser.error("give either a FILE of true gains or --truth rs, or grid")
    if given.truth == "rs" and given.dim not in SIZES:
        parser.error(f"--truth rs has grids in {' and '.join(map(str, SIZES))} dimensions: use --truth grid")
    if given.check and given.truth != "grid":
        parser.error("--check is of the true gains of --truth grid")
    torch.set_num_threads(1)
    options = [
        name if steps is None else f"{name}, polish {steps}"
        for name in OPTIONS[given.options]
        for steps in given.polish or [None]
    ]
    names = [name for rule in given.rule for name in (options if rule == "pesc" else [rule])]
    measured, seconds = {}, {}
    with progress_bar() as bar:
        if given.file is None:
            work = bar.add_task("true gains", total=given.datasets)
            if given.truth == "grid":
                oracle = draw_grid_truth(given.dim, given.datasets, 0, lambda: bar.advance(work))
            else:
                oracle = draw_truth(given.dim, given.datasets, 0, given.truth_samples, lambda: bar.advance(work))
        else:
            oracle = read_oracle(given.file)
        compared = bar.add_task("comparing", total=len(names) * given.seeds * len(oracle.datasets))
        for name in names:
            rule, began = named(name, given.samples), process_time()
            measured[name] = measure_agreement(oracle, rule, given.seeds, curves, lambda: bar.advance(compared))
            seconds[name] = (process_time() - began) / (given.seeds * len(oracle.datasets))
        if given.check:
            work = bar.add_task("checking", total=len(oracle.datasets))
            measured["by nearness"] = [[]]
            for dataset in oracle.datasets:
                measured["by nearness"][0].append(check(dataset))
                bar.advance(work)
    summaries = {name: summarize(by_seed) for name, by_seed in measured.items()}
    if given.sets:
        for name, by_seed in measured.items():
            console.print(tabulate_sets(oracle, by_seed, name))
    errors = true_errors(oracle)
    error = "" if errors is None else f"Standard error of the true gains: {100 * max(errors):.1f} % of the largest."
    title = f"Gains against brute force: {len(oracle.datasets)} data sets, {given.seeds} seeds"
    console.print(tabulate(summaries, seconds, title, error))
    data = {
        "samples": given.samples,
        "seeds": given.seeds,
        "sets": [dataset.name for dataset in oracle.datasets],
        "truth_errors": errors,
        "cpu_seconds": seconds,
        "summary": {name: asdict(summary) for name, summary in summaries.items()},
        "figures": {
            name: [[asdict(agreement) for agreement in sets] for sets in by_seed] for name, by_seed in measured.items()
        },
    }
    write_json(given.json, data)


if __name__ == "__main__":
    main()
