"""Figures 1a and 1b: the belief after five evaluations, and what measuring is worth to PESC and to brute force."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.styles import style_of

NAMES = {"rs": "RS (brute force)", "pesc": "PESC", "pesc-paper": "PESC, the paper's setting"}
BELIEF = "#7a7f87"


def draw_posterior(content: Mapping[str, Any]) -> Figure:
    """1a: of each outcome the truth, the data, and the belief with two deviations either side; and where x* may be."""
    rows = content["posterior"]
    figure = Figure(figsize=(5.2, 1.5 * len(rows) + 1.1), dpi=150, layout="constrained")
    heights = [1.0] * len(rows) + [0.45]
    panels = figure.subplots(len(rows) + 1, 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    for j, (axes, (name, row)) in enumerate(zip(panels, rows.items(), strict=False)):
        draw_belief(axes, np.array(content["grid"]), row)
        axes.axvline(content["optimum"][0], color="#d62728", linewidth=0.8, linestyle=":", label="true x*")
        axes.set_ylabel(f"{name}(x)")
        if j > 0:  # a constraint: feasible above zero
            axes.axhline(0.0, color="#111111", linewidth=0.6)
    add_legend(figure, panels[0])
    edges = np.linspace(0.0, 1.0, len(content["solutions"]) + 1)
    panels[-1].stairs(content["solutions"], edges, fill=True, color=style_of("rs")[0], alpha=0.75)
    panels[-1].axvline(content["optimum"][0], color="#d62728", linewidth=0.8, linestyle=":")
    panels[-1].set(xlabel="x", ylabel="p(x*)", xlim=(0.0, 1.0), yticks=[])
    figure.align_ylabels(panels)
    return figure


def draw_belief(axes: Axes, grid: np.ndarray, row: Mapping[str, list[float]]) -> None:
    """One outcome."""
    mean, spread = np.array(row["mean"]), 2 * np.array(row["deviation"])
    axes.fill_between(grid, mean - spread, mean + spread, color=BELIEF, alpha=0.22, linewidth=0, label="± 2 sd")
    axes.plot(grid, mean, color=BELIEF, linewidth=1.4, label="posterior mean")
    axes.plot(grid, row["truth"], color="#111111", linewidth=0.9, linestyle=(0, (4, 2)), label="truth")
    axes.plot(row["x"], row["y"], "x", color="#111111", markersize=6, markeredgewidth=1.6, zorder=3, label="measured")


def draw_gains(content: Mapping[str, Any]) -> Figure:
    """1b: the gain of measuring everything, and of each outcome alone; a mark where each curve is highest."""
    outcomes = list(content["posterior"])
    figure = Figure(figsize=(5.2, 1.4 * (len(outcomes) + 1) + 0.5), dpi=150, layout="constrained")
    panels = figure.subplots(len(outcomes) + 1, 1, sharex=True, squeeze=False)[:, 0]
    grid = np.array(content["grid"])
    for label, by_outcome in content["gains"].items():
        color, line = style_of(label)
        curves = [np.sum([by_outcome[name] for name in outcomes], axis=0), *(by_outcome[name] for name in outcomes)]
        for axes, curve in zip(panels, curves, strict=True):
            axes.plot(grid, curve, color=color, linestyle=line, linewidth=1.3, label=NAMES.get(label, label))
            best = int(np.argmax(curve))
            axes.plot(grid[best], curve[best], "o", color=color, markersize=3.5)
    for axes, title in zip(panels, [" + ".join(outcomes), *outcomes], strict=True):
        axes.set(ylabel=f"{title}, nats", ylim=(0.0, None))
        axes.grid(alpha=0.25, linewidth=0.5)
    add_legend(figure, panels[0])
    panels[-1].set(xlabel="x", xlim=(0.0, 1.0))
    figure.align_ylabels(panels)
    return figure


def add_legend(figure: Figure, axes: Axes) -> None:
    """The legend of one panel, above all of them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, columnspacing=1.4)
