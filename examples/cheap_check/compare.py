"""`python -m examples.cheap_check.compare --seeds 10`: what it saves to slice apart from printing.

Both ways are PESC on the problem of study.toml, from the same seeds, with the same budget: that of 25 evaluations of
both tasks together, 25 x 3605 s. Coupled, every evaluation is slicing, printing and loading. Decoupled, the study
chooses the task as well. Ten seeds take some minutes.

The gap of a recommendation is its true sag (without noise) minus that of the best bracket there is, found by looking
at all of them; a recommendation that needs more filament than there is counts as the worst bracket there is. It is
taken after every evaluation. The target is the median gap of the coupled runs at the end of their budget. A run has
reached it at the cost from which on its gap stays at or below the target until its budget is spent. A run that never
does counts with its whole budget, which flatters the coupled runs: some of them end above their own median.
The ratio is that of the median costs; its error comes from 2,000 draws of as many seeds, target and all.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from examples.cheap_check.runs import TOGETHER, Comparison, Run, run_all

Pairs = Sequence[tuple[Run, Run]]
HOUR = 3600
FLOOR = 1e-3
"""Where a gap of zero is drawn, for which a logarithm has no room; the second best bracket has 0.01."""


def run_with_bar(seeds: int, evaluations: int, workers: int) -> list[tuple[Run, Run]]:
    """A pair (coupled, decoupled) of runs for every seed."""
    runs: list[Run] = []
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(TextColumn("studies"), *columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("", total=2 * seeds)
        for run in run_all(seeds, evaluations * TOGETHER, workers):
            runs.append(run)
            progress.advance(bar)
    coupled, decoupled = (
        sorted((run for run in runs if run.way == way), key=lambda run: run.seed) for way in ("coupled", "decoupled")
    )
    return list(zip(coupled, decoupled, strict=True))


def tabulate(pairs: Pairs, found: Comparison) -> Table:
    """A line per seed: the gaps at the end and the costs to the target."""
    title = f"Hours until the gap stays at or below {found.target:.4f} mm, of {pairs[0][0].budget / HOUR:.0f}"
    table = Table(title=title, title_justify="left")
    for head in (
        "seed",
        "coupled:\ngap at the end",
        "hours",
        "decoupled:\ngap at the end",
        "hours",
        "slicings",
        "prints",
    ):
        table.add_column(head, justify="right")
    for coupled, decoupled in pairs:
        cells = [str(coupled.seed)]
        for run in (coupled, decoupled):
            hours = f"{run.cost_to(found.target) / HOUR:.1f}"
            cells += [f"{run.gaps[-1]:.4f}", hours if run.has_reached(found.target) else "never"]
        table.add_row(*cells, *(str(decoupled.asked[task]) for task in ("check", "load_test")))
    table.add_section()
    table.add_row("median", "", f"{found.coupled / HOUR:.1f}", "", f"{found.decoupled / HOUR:.1f}")
    return table


def draw(pairs: Pairs, found: Comparison, path: Path) -> None:
    """Writes the median gap against the cost to `path`, with quartiles, for both ways."""
    figure, axes = plt.subplots(figsize=(7.2, 4.2), dpi=130)
    hours = np.linspace(0, pairs[0][0].budget / HOUR, 600)
    ways = {"coupled: both, every time": "#b3541e", "decoupled: what tells most per second": "#1f4e79"}
    for i, (label, color) in enumerate(ways.items()):
        gaps = np.array([[pair[i].gap_at(hour * HOUR) for hour in hours] for pair in pairs])
        known = ~np.isnan(gaps).any(0)
        low, middle, high = np.maximum(np.quantile(gaps[:, known], [0.25, 0.5, 0.75], axis=0), FLOOR)
        axes.fill_between(hours[known], low, high, color=color, alpha=0.15, linewidth=0, step="post")
        axes.step(hours[known], middle, color=color, linewidth=1.8, where="post", label=label)
    target = max(found.target, FLOOR)
    axes.axhline(target, color="#777777", linewidth=0.8, linestyle=":")
    axes.annotate("target", (0.1, target), va="bottom", fontsize=7, color="#777777")
    axes.set(yscale="log", xlabel="hours spent", ylabel="gap to the best bracket, mm", xlim=(0, hours[-1]))
    axes.set_yticks([FLOOR, 0.01, 0.1, 1], ["0", "0.01", "0.1", "1"])
    axes.minorticks_off()
    axes.set_title(f"A cheap check before an expensive run: median and quartiles of {len(pairs)} seeds", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
    figure.savefig(path, bbox_inches="tight")
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs, prints and draws; see `--help`."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.cheap_check.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=25, help="the budget, in evaluations of both tasks")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side, one thread each")
    parser.add_argument("--figure", type=Path, default=Path("cheap_check.png"), metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run as data")
    given = parser.parse_args(arguments)
    pairs = run_with_bar(given.seeds, given.evaluations, given.workers)
    found, ratios = Comparison.of(pairs), [each.ratio for each in Comparison.bootstrap(pairs)]
    low, high = np.quantile(ratios, [0.05, 0.95])
    console = Console(width=None if Console().is_terminal else 120, highlight=False)
    console.print(tabulate(pairs, found))
    console.print(
        f"decoupled / coupled: {found.ratio:.2f} ± {np.std(ratios):.2f} "
        f"(bootstrap; 90% of the draws between {low:.2f} and {high:.2f})"
    )
    draw(pairs, found, given.figure)
    console.print(f"Median gap against cost: {given.figure}")
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(run) for pair in pairs for run in pair], indent=1) + "\n")


if __name__ == "__main__":
    main()
