"""The mean rank of every peer against evaluations, a panel for each kind of judgement."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.peers.kept import KINDS, Kept
from benchmarks.peers.standing import standings
from benchmarks.peers.tables import milestones_of
from benchmarks.styles import LABEL_SPACING, LOOK, spread_out, style_of

WIDTH, HEIGHT = 4.6, 3.8


def draw_ranks(kept: Sequence[Kept], path: Path) -> None:
    """Writes the picture; the ending of its name says in which format."""
    last = milestones_of(kept)[-1]
    kinds = [kind for kind in KINDS if standings(kept, kind, last)] or list(KINDS)[:1]
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(WIDTH * len(kinds), HEIGHT), dpi=150, layout="constrained")
        panels = figure.subplots(1, len(kinds), squeeze=False, sharey=True)[0]
        for axes, kind in zip(panels, kinds, strict=True):
            draw_panel(axes, kept, kind)
        panels[0].set_ylabel("mean rank over problems")
        panels[0].invert_yaxis()  # shared by all: the first is on top
        for axes in panels:
            name_ends(axes)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def draw_panel(axes: Axes, kept: Sequence[Kept], kind: str) -> None:
    """The rank of each peer, in a band of one standard error."""
    milestones = milestones_of(kept)
    at = [standings(kept, kind, n) for n in milestones]
    for peer in at[-1]:
        own = [(n, each[peer]) for n, each in zip(milestones, at, strict=True) if peer in each]
        counts, ranks, errors = np.array([(n, standing.rank, standing.error) for n, standing in own]).T
        color, line = style_of(peer)
        axes.fill_between(counts, ranks - errors, ranks + errors, color=color, alpha=0.1, linewidth=0)
        axes.plot(counts, ranks, color=color, linestyle=line, linewidth=1.5, marker="o", markersize=3, label=peer)
    axes.set(xlabel="evaluations", xticks=milestones, xlim=(None, milestones[-1]))
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.set_title(KINDS[kind], loc="left")


def name_ends(axes: Axes) -> None:
    """Writes each peer's name beside the end of its curve, none over another."""
    bottom, top = axes.get_ylim()
    ends = {
        str(line.get_label()): (float(np.asarray(line.get_ydata())[-1]) - bottom) / (top - bottom)
        for line in axes.lines
    }
    order = sorted(ends, key=lambda peer: ends[peer])
    places = spread_out(np.array([ends[peer] for peer in order]), LABEL_SPACING)
    for peer, place in zip(order, places, strict=True):
        color, line = style_of(peer)
        frame = axes.transAxes
        axes.plot([1.0, 1.03], [ends[peer], place], color=color, lw=0.5, alpha=0.6, transform=frame, clip_on=False)
        axes.plot([1.03, 1.09], [place] * 2, color=color, linestyle=line, lw=1.5, transform=frame, clip_on=False)
        axes.text(1.1, place, peer, color=color, va="center", transform=frame)
