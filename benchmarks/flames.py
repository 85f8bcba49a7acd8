"""`python -m benchmarks.flames --figure flames.png`: where an ask spends its time, as one flame graph for each size.

CPU time on one thread, of asks that are not the first of their study. Every bar is a function of pesky, as wide as the
time that it and what it calls take; below it are the functions that it calls, without those that merely call another.
`--rule recommend` draws answers instead.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import matplotlib as mpl
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from benchmarks.case import CASES, LARGER, Case, measure
from benchmarks.report import build_table, console, progress_bar
from benchmarks.stacks import Stack, sample_stacks
from benchmarks.styles import LOOK
from benchmarks.timing import prepare

ENOUGH, MOST = 1.0, 12
"""CPU seconds that are sampled at each size, and the most asks for that."""
DEPTH, LEAST = 9, 0.004
"""Bars below each other, and the narrowest that is drawn, as a share."""
PASSED = 0.93
"""Functions are passed over that spend this share of their time in one that they call."""
COLUMNS, WIDTH, HEIGHT = 2, 9.0, 3.0
LETTER = 0.0072
"""The width of a letter, as a share of a panel's."""
ROOMS = {
    "study": "#8d99ae",
    "model": "#e9a03b",
    "optimum": "#5aa469",
    "acquire": "#4f86c6",
    "decide": "#b56fb0",
    "numerics": "#c9c2b4",
    "space": "#d7837f",
}
"""The color of each room of the package that takes time."""


class Bar(NamedTuple):
    """A function in the picture: where it begins and how wide it is, as shares, and how many call it."""

    name: str
    left: float
    width: float
    depth: int


def flame(rule: str, case: Case) -> tuple[Stack, int]:
    """The stacks of as many asks at one size as are needed, and how many these were."""
    measured = measure(case)
    prepare(rule, measured, 0)()  # pays for lazy imports
    whole, asks = Stack(str(case)), 0
    while whole.seconds < ENOUGH and asks < MOST:
        asks += 1
        sample_stacks(prepare(rule, measured, asks), whole, "pesky")
    return whole, asks


def bars_of(stack: Stack, whole: float, left: float = 0.0, depth: int = 0) -> Iterator[Bar]:
    """The bars of a stack and of all below it, those that take longest first, without the narrowest and deepest."""
    yield Bar(stack.name, left, stack.seconds / whole, depth)
    while stack.callees and (only := heaviest_callees(stack)[0]).seconds > PASSED * stack.seconds:
        stack = only
    for callee in heaviest_callees(stack):
        if depth < DEPTH and callee.seconds >= LEAST * whole:
            yield from bars_of(callee, whole, left, depth + 1)
            left += callee.seconds / whole


def heaviest_callees(stack: Stack) -> list[Stack]:
    """What a function calls, that which takes longest first."""
    return sorted(stack.callees.values(), key=lambda each: -each.seconds)


def draw_flames(stacks: Sequence[tuple[Stack, int]], what: str, path: str) -> None:
    """Writes one panel for each size, of asks or of what else it was; the ending of the path says in which format."""
    rows = -(-len(stacks) // COLUMNS)
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(COLUMNS * WIDTH, rows * HEIGHT), dpi=110, layout="constrained")
        panels = figure.subplots(rows, COLUMNS, squeeze=False).flatten()
        for axes in panels[len(stacks) :]:
            axes.set_axis_off()
        for axes, (stack, asks) in zip(panels, stacks, strict=False):
            draw_panel(axes, stack, asks, what)
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def draw_panel(axes: Axes, stack: Stack, asks: int, what: str) -> None:
    """The bars of one size, the whole on top."""
    axes.set(xlim=(0, 1), ylim=(DEPTH + 1, 0))
    axes.set_axis_off()
    axes.set_title(f"(N, K, d) = {stack.name}: {stack.seconds / asks:.2f} s of CPU time", loc="left", fontsize=10)
    for bar in bars_of(stack, stack.seconds):
        color = ROOMS.get(bar.name.split(".", 1)[0], "#e4e4e4")
        axes.add_patch(Rectangle((bar.left, bar.depth), bar.width, 0.94, facecolor=color, edgecolor="white", lw=0.6))
        fits = int(bar.width / LETTER)
        name = bar.name.rsplit(".", 1)[-1] if bar.depth else what
        if fits >= min(len(name), 6):
            shown = name if len(name) <= fits else f"{name[: fits - 1]}…"
            axes.text(bar.left + LETTER / 3, bar.depth + 0.5, shown, fontsize=7, va="center", clip_on=True)


def heaviest(stack: Stack, count: int = 4) -> list[tuple[str, float]]:
    """The functions that take most of the time themselves, without what they call, as shares."""
    own: dict[str, float] = {}

    def visit(each: Stack) -> None:
        rest = each.seconds - sum(callee.seconds for callee in each.callees.values())
        own[each.name] = own.get(each.name, 0.0) + rest / stack.seconds
        for callee in each.callees.values():
            visit(callee)

    visit(stack)
    return sorted(own.items(), key=lambda item: -item[1])[:count]


def main(arguments: Sequence[str] | None = None) -> None:
    """Samples, draws and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flames", description=__doc__)
    parser.add_argument("--rule", default="pesc", choices=("pesc", "ep", "recommend"), help="default %(default)s")
    parser.add_argument("--case", type=Case.parse, action="append", metavar="N,K,d", help="only this size")
    parser.add_argument("--figure", default="flames.png", help="default %(default)s")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    found = []
    with progress_bar() as bar:
        cases = given.case or (*CASES, *LARGER)
        work = bar.add_task("asking", total=len(cases))
        for case in cases:
            bar.update(work, description=str(case))
            found.append(flame(given.rule, case))
            bar.advance(work)
    draw_flames(found, "answer" if given.rule == "recommend" else "ask", given.figure)
    lines = [
        [stack.name, f"{stack.seconds / asks:.3f}", ", ".join(f"{name} {share:.0%}" for name, share in heaviest(stack))]
        for stack, asks in found
    ]
    console.print(
        build_table("CPU seconds, and the functions that take most of them", ["size", "s", "by itself"], lines)
    )


if __name__ == "__main__":
    main()
