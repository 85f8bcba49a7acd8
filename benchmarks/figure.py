"""The curves of all rules in one picture: the median gap against evaluations, a panel for each problem."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchmarks.gaps import FLOOR, median_band
from benchmarks.runs import Run
from benchmarks.styles import LOOK, name_curves, style_of

WIDTH, HEIGHT = 5.6, 4.4

Curves = Mapping[str, Sequence[Run]]
"""The runs of each rule."""


def draw_figure(by_problem: Mapping[str, Curves], path: str) -> None:
    """Writes one panel per problem to `path`; its ending says in which format."""
    with mpl.rc_context(LOOK):
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
        color, line = style_of(rule)
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
