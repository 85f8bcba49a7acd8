"""`python -m experiments.draw [FILE ...]`: the pictures of results, beside their files, as SVG and as PNG."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchmarks.gaps import FLOOR
from benchmarks.styles import LOOK, name_curves, style_of
from experiments.curves import Results, load
from experiments.draw_accuracy import draw_accuracy
from experiments.draw_gains import draw_gains, draw_posterior
from experiments.draw_real import draw_real
from experiments.files import OUT
from experiments.real_results import load_runs

TITLES = {
    "1c": "functions from the prior, d = 1",
    "2a": "functions from the prior, d = 2",
    "2b": "functions from the prior, d = 8",
    "2b_smooth": "smoother functions, d = 8",
    "2c": "the toy problem",
    "settings_8d": "settings of PESC, d = 8",
    "settings_toy": "settings of PESC, the toy problem",
    "decoupled_2d": "one function at a time, d = 2",
    "decoupled_toy": "one function at a time, the toy problem",
}
SIZE = (5.6, 4.0)


def draw_curves(results: Results) -> Figure:
    """The figure of rules: the median (or mean) gap of each against evaluations, on a logarithmic axis."""
    figure = Figure(figsize=SIZE, dpi=150, layout="constrained")
    draw_panel(figure.subplots(), results)
    return figure


def draw_panel(axes: Axes, results: Results) -> None:
    """Each rule's curve with the band of its bootstrap, and its name where the curve ends."""
    ends = {}
    last = max(kept.counts[-1] for kept in results.curves.values())
    for label, kept in results.curves.items():
        color, line = style_of(label)
        shown = kept.estimate(results.statistic)
        value, low, high = (np.maximum(part, FLOOR) for part in (shown.value, shown.low, shown.high))
        axes.fill_between(kept.counts, low, high, color=color, alpha=0.13, linewidth=0)
        axes.plot(kept.counts, value, color=color, linestyle=line, linewidth=1.4, label=label)
        ends[label] = float(value[-1])
    axes.set(yscale="log", xlabel="evaluations", ylabel=f"{results.statistic} utility gap", xlim=(None, last))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.set_title(title_of(results), loc="left")
    name_curves(axes, ends)


def title_of(results: Results) -> str:
    """Which figure of the paper it is, if it is one, what it shows, and of how many realisations."""
    number = f"figure {results.figure}: " if results.figure[:1].isdigit() else ""
    what = TITLES.get(results.figure, f"{results.figure}: utility gaps")
    counts = sorted({kept.realisations for kept in results.curves.values()})
    shown = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    return f"{number}{what}, {shown} realisation{'s' * (counts[-1] != 1)}"


def draw_file(path: str | Path) -> list[Path]:
    """Writes the pictures of a file of results, and says which they are."""
    path = Path(path)
    content = json.loads(path.read_text())
    makers: dict[str, Callable[[], Figure]]
    if "curves" in content:
        makers = {path.stem: lambda: draw_curves(load(path))}
    elif "runs" in content:
        makers = {path.stem: lambda: draw_real(load_runs(path))}
    elif "gains" in content:
        makers = {"1a": lambda: draw_posterior(content), "1b": lambda: draw_gains(content)}
    else:
        makers = {path.stem: lambda: draw_accuracy(content)}
    with mpl.rc_context(LOOK):
        return [each for name, make in makers.items() for each in write(make(), path.with_name(name))]


def write(figure: Figure, stem: Path) -> list[Path]:
    """Writes the figure in both formats; the same curves give the same files, so there is no date in them."""
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in ("svg", "png")]
    figure.savefig(paths[0], metadata={"Date": None})
    figure.savefig(paths[1], dpi=150)
    return paths


def main(arguments: Sequence[str] | None = None) -> None:
    """Draws and says what was drawn."""
    parser = argparse.ArgumentParser(prog="python -m experiments.draw", description=__doc__)
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help=f"results; by default all of {OUT}")
    for path in parser.parse_args(arguments).files or sorted(OUT.glob("*.json")):
        for picture in draw_file(path):
            print(picture)


if __name__ == "__main__":
    main()
