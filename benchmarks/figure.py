"""The curves of all rules in one picture: the median gap against evaluations, a panel for each problem."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchmarks.gaps import median_band
from benchmarks.runs import Run

SOLID, DASHED, DOTTED, DASH_DOT = "-", (0, (5, 2)), (0, (1, 1.3)), (0, (5, 1.5, 1, 1.5))
STYLES = {
    "pesc": ("#1f4eb4", SOLID),
    "pesc-paper": ("#1f4eb4", DASHED),
    "pes": ("#1f4eb4", DOTTED),
    "jesc": ("#17a3b8", SOLID),
    "cmes": ("#1a8f3c", SOLID),
    "cmes-plain": ("#1a8f3c", DASHED),
    "eic": ("#d62728", SOLID),
    "eic-plain": ("#d62728", DASHED),
    "eic-decoupled": ("#d62728", DASH_DOT),
    "botorch-logei": ("#e377c2", DOTTED),
    "al": ("#e08214", SOLID),
    "al-known": ("#e08214", DASHED),
    "ieci": ("#8c564b", SOLID),
    "evr": ("#7b3fa8", SOLID),
    "evr-paper": ("#7b3fa8", DASHED),
    "rs": ("#111111", SOLID),
    "rsdg": ("#111111", DASHED),
    "sobol": ("#8a8a8a", DASHED),
    "random": ("#8a8a8a", DOTTED),
}
"""A color for each family, a line for each of its members: the same in all pictures."""
OTHER = ("#b5a000", DASH_DOT)
FLOOR = 1e-9
"""Where gaps of zero are drawn, for which a logarithm has no room."""
WIDTH, HEIGHT = 5.6, 4.4
LABEL_SPACING = 0.052
"""Between two labels, as a share of the height."""

Curves = Mapping[str, Sequence[Run]]
"""The runs of each rule."""


def draw_figure(by_problem: Mapping[str, Curves], path: str) -> None:
    """Writes one panel per problem to `path`; its ending says in which format."""
    with mpl.rc_context(
        {"font.size": 8, "svg.hashsalt": "pesky", "axes.spines.top": False, "axes.spines.right": False}
    ):
        figure = Figure(figsize=(WIDTH * len(by_problem), HEIGHT), dpi=150, layout="constrained")
        panels = figure.subplots(1, len(by_problem), squeeze=False)[0]
        for axes, (problem, curves) in zip(panels, by_problem.items(), strict=True):
            draw_panel(axes, problem, curves)
        # The same runs give the same file: no date in it.
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def draw_panel(axes: Axes, problem: str, curves: Curves) -> None:
    """The median of each rule with the band of its bootstrap, and its name where the curve ends."""
    ends = {}
    for rule, runs in curves.items():
        color, line = STYLES.get(rule, OTHER)
        gaps = np.maximum([run.gaps for run in runs], FLOOR)
        low, high = median_band(gaps)
        median = np.median(gaps, axis=0)
        axes.fill_between(runs[0].counts, low, high, color=color, alpha=0.1, linewidth=0)
        axes.plot(runs[0].counts, median, color=color, linestyle=line, linewidth=1.5)
        ends[rule] = float(median[-1])
    plan = next(iter(curves.values()))[0].plan
    unit = "single evaluations / outcomes" if plan.is_decoupled else "evaluations"
    axes.set(yscale="log", xlabel=unit, ylabel="median utility gap", xlim=(None, plan.evaluations))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.25, linewidth=0.5)
    seeds = max(map(len, curves.values()))
    axes.set_title(
        f"{problem}{', decoupled' if plan.is_decoupled else ''}: {seeds} seed{'s' * (seeds != 1)}", loc="left"
    )
    name_curves(axes, ends)


def name_curves(axes: Axes, ends: Mapping[str, float]) -> None:
    """Writes each rule's name to the right of the axes, led to the end of its curve, none over another."""
    low, high = np.log10(axes.get_ylim())
    order = sorted(ends, key=lambda rule: ends[rule])
    wanted = np.array([(np.log10(ends[rule]) - low) / (high - low) for rule in order])
    for rule, start, place in zip(order, wanted, spread_out(wanted, LABEL_SPACING), strict=True):
        color, line = STYLES.get(rule, OTHER)
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
