"""The picture of accuracy: how much of the best true gain each setting of PESC gets, data set by data set."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchmarks.styles import style_of

KINDS = {"efficiency": "everything together", "decoupled": "outcomes apart"}
LABELS = {"paper": "pesc-paper", "ep": "pesc-ep", "default": "pesc"}
"""The settings that are drawn; a table has the others."""


def draw_accuracy(content: Mapping[str, Any]) -> Figure:
    """A panel for questions about everything, and one for questions about single outcomes."""
    figure = Figure(figsize=(8.0, 3.0), dpi=150, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (kind, title) in zip(panels, KINDS.items(), strict=True):
        draw_panel(axes, content["figures"], kind)
        axes.set_title(title, loc="left")
    panels[0].set_ylabel("true gain of the choice / the best")
    panels[0].set_ylim(max(0.0, panels[0].get_ylim()[0]), 1.02)
    return figure


def draw_panel(axes: Axes, figures: Mapping[str, Any], kind: str) -> None:
    """Of each setting a mark per data set, its mean over seeds, on a line from the lowest to the highest of them."""
    for k, (setting, label) in enumerate(LABELS.items()):
        values = np.array([[each[kind] for each in sets] for sets in figures[setting]])
        color, line = style_of(label)
        # Side by side: most marks of all settings are near 1.
        places = np.arange(values.shape[1]) + 0.3 * (k - (len(LABELS) - 1) / 2)
        filling = "white" if setting == "paper" else color
        axes.vlines(places, values.min(0), values.max(0), color=color, linewidth=0.8, alpha=0.6)
        axes.plot(
            places, values.mean(0), "o", markersize=3.4, color=filling, markeredgecolor=color, markeredgewidth=0.9
        )
        mean = float(values.mean())
        axes.axhline(
            mean, color=color, linestyle=line, linewidth=1.1, alpha=0.8, zorder=0, label=f"{label}: {mean:.3f}"
        )
    axes.set_xlabel("data set, from few measurements to many")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.grid(alpha=0.25, linewidth=0.5)
    # In line with the title, where no mark can be.
    place = {"loc": "lower right", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    axes.legend(frameon=False, fontsize=7, ncols=2, handlelength=1.5, columnspacing=1.0, handletextpad=0.4, **place)
