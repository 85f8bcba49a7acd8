"""How curves of rules look in every picture: colors, lines, and the names where they end."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

SOLID, DASHED, DOTTED, DASH_DOT = "-", (0, (5, 2)), (0, (1, 1.3)), (0, (5, 1.5, 1, 1.5))
STYLES = {
    "pesc": ("#1f4eb4", SOLID),
    "pesc-paper": ("#1f4eb4", DASHED),
    "pesc-fine": ("#1f4eb4", DASH_DOT),
    "pes": ("#1f4eb4", DOTTED),
    "jesc": ("#17a3b8", SOLID),
    "cmes": ("#1a8f3c", SOLID),
    "cmes-plain": ("#1a8f3c", DASHED),
    "eic": ("#d62728", SOLID),
    "eic-plain": ("#d62728", DASHED),
    "eic-decoupled": ("#d62728", DASH_DOT),
    "botorch-logei": ("#e377c2", DOTTED),
    "botorch-qlognei": ("#e377c2", DASH_DOT),
    "scbo": ("#7b3fa8", DASH_DOT),
    "ax": ("#e377c2", SOLID),
    "optuna-gp": ("#b5a000", SOLID),
    "optuna-tpe": ("#b5a000", DOTTED),
    "al": ("#e08214", SOLID),
    "al-known": ("#e08214", DASHED),
    "ieci": ("#8c564b", SOLID),
    "evr": ("#7b3fa8", SOLID),
    "evr-paper": ("#7b3fa8", DASHED),
    "rs": ("#111111", SOLID),
    "rsdg": ("#111111", DASHED),
    "sobol": ("#8a8a8a", DASHED),
    "random": ("#8a8a8a", DOTTED),
    "pesc coupled": ("#1f4eb4", SOLID),
    "pesc decoupled": ("#1f4eb4", DASH_DOT),
    "jesc decoupled": ("#17a3b8", DASH_DOT),
    "eic two-stage": ("#d62728", DASH_DOT),
    "random task": ("#8a8a8a", DASH_DOT),
    "fine from the start": ("#1f4eb4", DASH_DOT),
    "no neighbors": ("#8c564b", SOLID),
    "neighbors at 0.35": ("#8c564b", DASHED),
    "M = 100": ("#1a8f3c", DASHED),
    "M = 200": ("#1a8f3c", SOLID),
    "never coarse": ("#1f4eb4", DASH_DOT),
    "coarse every third": ("#1a8f3c", DASHED),
}
"""A color for each family, a line for each of its members: the same in all pictures."""
OTHER = ("#b5a000", DASH_DOT)
LABEL_SPACING = 0.052
"""Between two labels, as a share of the height."""
LOOK: dict[Any, Any] = {"font.size": 8, "svg.hashsalt": "pesky", "axes.spines.top": False, "axes.spines.right": False}
"""Settings of matplotlib; with the same salt, the same curves give the same file."""


def style_of(rule: str) -> tuple[str, str | tuple]:
    """The color and the line of a rule's curve."""
    return STYLES.get(rule, OTHER)


def name_curves(axes: Axes, ends: Mapping[str, float]) -> None:
    """Writes each rule's name to the right of the axes, led to the end of its curve, none over another."""
    low, high = np.log10(axes.get_ylim())
    order = sorted(ends, key=lambda rule: ends[rule])
    wanted = np.array([(np.log10(ends[rule]) - low) / (high - low) for rule in order])
    for rule, start, place in zip(order, wanted, spread_out(wanted, LABEL_SPACING), strict=True):
        color, line = style_of(rule)
        frame = axes.transAxes
        axes.plot([1.0, 1.03], [start, place], color=color, linewidth=0.5, alpha=0.6, transform=frame, clip_on=False)
        axes.plot([1.03, 1.09], [place] * 2, color=color, linestyle=line, linewidth=1.5, transform=frame, clip_on=False)
        axes.text(1.1, place, rule, color=color, va="center", transform=frame)


def spread_out(wanted: np.ndarray, apart: float) -> np.ndarray:
    """The places nearest to those wanted, in increasing order, that are so far apart.

    Least squares for increasing numbers once the distances are taken off: neighbors out of order share their mean.
    """
    steps = apart * np.arange(len(wanted))
    blocks: list[list[float]] = []
    for value in wanted - steps:
        blocks.append([float(value)])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    return np.concatenate([np.full(len(block), np.mean(block)) for block in blocks]) + steps
