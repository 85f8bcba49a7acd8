"""`python -m benchmarks.accuracy FILE`: our gains against brute force, on the data sets of an oracle file."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict

import torch
from rich.table import Table
from torch import Tensor

from benchmarks.agreement import Agreement, Summary, compare, summarize
from benchmarks.gain_curves import gain_curves
from benchmarks.oracle import Dataset, Oracle, read_oracle
from benchmarks.report import build_table, console, progress_bar, write_json

SETTINGS = {"paper": ["paper"], "default": ["default"], "both": ["paper", "default"]}
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
Curves = Callable[[Dataset, Tensor, str, int | None, int], Tensor]


def measure_agreement(
    oracle: Oracle,
    setting: str,
    samples: int | None,
    seeds: int,
    curves: Curves,
    report: Callable[[], None] = lambda: None,
) -> list[list[Agreement]]:
    """The figures of every data set, per seed; `report` is called after each."""
    by_seed = []
    for seed in range(seeds):
        sets = []
        for dataset in oracle.datasets:
            sets.append(compare(curves(dataset, oracle.grid, setting, samples, seed), dataset.gains))
            report()
        by_seed.append(sets)
    return by_seed


def tabulate(summaries: dict[str, Summary], title: str) -> Table:
    """One line per setting."""
    lines = [
        [setting, *(f"{getattr(summary, name):.3f}" for name in COLUMNS)] for setting, summary in summaries.items()
    ]
    caption = "Means over data sets and seeds. Efficiency: the true gain at our arg max / the best true gain."
    return build_table(title, ["setting", *COLUMNS.values()], lines, caption)


def tabulate_sets(oracle: Oracle, by_seed: Sequence[Sequence[Agreement]], setting: str) -> Table:
    """One line per data set: its means over seeds."""
    lines = []
    for dataset, agreements in zip(oracle.datasets, zip(*by_seed, strict=True), strict=True):
        summary = summarize([[agreement] for agreement in agreements])
        lines.append([dataset.name, *(f"{getattr(summary, name):.3f}" for name in COLUMNS)])
    return build_table(f"Setting {setting}, means over seeds", ["data set", *COLUMNS.values()], lines)


def main(arguments: Sequence[str] | None = None, curves: Curves = gain_curves) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="data sets with brute-force gains, such as rs_oracle.json")
    parser.add_argument("--setting", choices=list(SETTINGS), default="both")
    parser.add_argument("--samples", type=int, metavar="M", help="samples of x*, by default the setting's own")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", action="store_true", help="print a line per data set as well")
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    oracle = read_oracle(given.file)
    settings = SETTINGS[given.setting]
    measured = {}
    with progress_bar() as bar:
        work = bar.add_task("comparing", total=len(settings) * given.seeds * len(oracle.datasets))
        for setting in settings:
            measured[setting] = measure_agreement(
                oracle, setting, given.samples, given.seeds, curves, lambda: bar.advance(work)
            )
    summaries = {setting: summarize(by_seed) for setting, by_seed in measured.items()}
    if given.sets:
        for setting, by_seed in measured.items():
            console.print(tabulate_sets(oracle, by_seed, setting))
    title = f"Gains against brute force: {len(oracle.datasets)} data sets, {given.seeds} seeds"
    console.print(tabulate(summaries, title))
    data = {
        "samples": given.samples,
        "seeds": given.seeds,
        "sets": [dataset.name for dataset in oracle.datasets],
        "summary": {setting: asdict(summary) for setting, summary in summaries.items()},
        "figures": {
            setting: [[asdict(agreement) for agreement in sets] for sets in by_seed]
            for setting, by_seed in measured.items()
        },
    }
    write_json(given.json, data)


if __name__ == "__main__":
    main()
