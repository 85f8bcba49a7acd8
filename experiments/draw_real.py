"""The pictures of the real experiments: values at the recommendations, and those of the last one measured again."""

import numpy as np
from matplotlib.figure import Figure

from benchmarks.gaps import band_of, bootstrap
from benchmarks.styles import style_of
from experiments.real_results import RealResults, mean_and_error

TITLES = {"3a": "a network under a time limit", "3b": "tuning Hamiltonian Monte Carlo"}
SIZE = (6.4, 4.0)


def draw_real(results: RealResults) -> Figure:
    """Mean values with the band of their bootstrap against cost; beside them the last ones, measured again."""
    figure = Figure(figsize=SIZE, dpi=150, layout="constrained")
    curves, ends = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1))
    counts = sorted({len(records) for records in results.runs.values()})
    shown = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    for place, label in enumerate(results.runs):
        color, line = style_of(label)
        n, values = results.values(label)
        low, high = band_of(bootstrap(values, np.mean))
        curves.fill_between(n, low, high, color=color, alpha=0.13, linewidth=0)
        curves.plot(n, values.mean(0), color=color, linestyle=line, linewidth=1.4, label=label)
        final = results.final(label)
        mean, error = mean_and_error(final)
        ends.errorbar(place, mean, yerr=np.nan_to_num(error), color=color, marker="o", markersize=4, capsize=3)
        ends.plot(place + np.linspace(0.12, 0.3, len(final)), np.sort(final), ".", color=color, alpha=0.4, markersize=3)
    curves.set(xlabel="evaluations, by their cost", ylabel=results.unit)
    curves.set_title(
        f"figure {results.figure}: {TITLES[results.figure]}, {shown} repetition{'s' * (counts[-1] != 1)}",
        loc="left",
    )
    curves.grid(alpha=0.25, linewidth=0.5)
    curves.legend(frameon=False)
    ends.set_xticks(range(len(results.runs)), list(results.runs), rotation=45, ha="right")
    ends.set_title("measured again", loc="left")
    ends.grid(alpha=0.25, linewidth=0.5, axis="y")
    return figure
