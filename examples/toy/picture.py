"""`python -m examples.toy.picture [STUDY.toml] [--to toy.png]`: the toy study as it is stored, drawn on its square.

Run the study first: `pesky run examples/toy/study.toml`, or decoupled.toml. Of a study that is still running, the
picture shows what is there.
"""

import argparse
from collections.abc import Sequence
from math import dist
from os.path import relpath
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from rich.console import Console

import pesky
from examples.toy import toy
from pesky.study_file import StudyFile

COLORS = ("#1f4e79", "#b3541e", "#5b7f3a", "#7a4b94")
AXIS = np.linspace(0, 1, 400)


def draw(study: pesky.Study, recommendation: pesky.Recommendation, path: Path) -> None:
    """Writes the square to `path`: what is allowed, what was asked and in which order, what is recommended."""
    figure, axes = plt.subplots(figsize=(7.2, 6.4), dpi=130)
    _draw_truth(axes)
    _draw_questions(axes, list(study.evaluations.values()))
    axes.scatter(*toy.OPTIMUM, marker="+", s=420, color="black", linewidths=1, label="true optimum", zorder=5)
    here = recommendation.params["x1"], recommendation.params["x2"]
    axes.scatter(
        *here, marker="*", s=260, color="#f2b705", edgecolors="black", linewidths=0.8, label="recommendation", zorder=6
    )
    axes.set(xlabel="x1", ylabel="x2", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set_title("Green: every constraint holds. Gray lines: the objective.", fontsize=9)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=len(study.problem.tasks) + 2, fontsize=8, frameon=False
    )
    figure.savefig(path, bbox_inches="tight")
    plt.close(figure)


def _draw_truth(axes: Axes) -> None:
    """What the study cannot see."""
    rows = [[toy.measure({"x1": x1, "x2": x2}) for x1 in AXIS] for x2 in AXIS]
    f = [[each["f"] for each in row] for row in rows]
    margin = np.array([[min(each["c1"], each["c2"]) for each in row] for row in rows])
    axes.contourf(AXIS, AXIS, margin, levels=[0.0, margin.max() + 1], colors=["#e3efdb"])
    axes.contour(AXIS, AXIS, margin, levels=[0.0], colors=["#5b7f3a"], linewidths=1.5)
    lines = axes.contour(AXIS, AXIS, f, levels=10, colors=["#999999"], linewidths=0.5)
    axes.clabel(lines, fontsize=6, colors="#777777")


def _draw_questions(axes: Axes, evaluations: Sequence[pesky.Evaluation]) -> None:
    tasks = list(dict.fromkeys(e.task for e in evaluations))
    points = [(float(e.params["x1"]), float(e.params["x2"])) for e in evaluations]
    for task, color in zip(tasks, COLORS, strict=False):
        own = [point for point, e in zip(points, evaluations, strict=True) if e.task == task]
        label = "asked, in this order" if len(tasks) == 1 else f"asked of {task}"
        axes.scatter(*zip(*own, strict=True), s=95, color=color, alpha=0.85, linewidths=0, label=label, zorder=3)
    # Only the first of several coinciding points keeps its number: late points pile up on the solution.
    shown: list[tuple[float, float]] = []
    for number, point in enumerate(points, start=1):
        if all(abs(point[0] - x) + abs(point[1] - y) > 0.025 for x, y in shown):
            axes.annotate(str(number), point, ha="center", va="center", fontsize=6, color="white", zorder=4)
            shown.append(point)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draws, and says how far the recommendation is from the optimum."""
    parser = argparse.ArgumentParser(prog="python -m examples.toy.picture", description=__doc__)
    parser.add_argument("study", nargs="?", type=Path, default=Path(__file__).parent / "study.toml")
    parser.add_argument("--to", type=Path, default=Path("toy.png"), metavar="FILE")
    given = parser.parse_args(arguments)
    try:
        file = StudyFile.read(given.study, importing=False)
        if not Path(file.storage.removeprefix("sqlite:///")).exists():  # to look must not create it
            parser.error(f"nothing is stored yet: `pesky run {relpath(given.study)}` first.")
        study = pesky.Study.load(file.storage, file.name)
        recommendation = study.recommend()
    except pesky.PeskyError as error:
        parser.error(str(error))
    draw(study, recommendation, given.to)
    x1, x2 = float(recommendation.params["x1"]), float(recommendation.params["x2"])
    console = Console(markup=False, highlight=False)
    console.print(f"recommended   x1 = {x1:.5f}, x2 = {x2:.5f}, f = {x1 + x2:.6f}")
    console.print(f"true optimum  x1 = {toy.OPTIMUM[0]:.5f}, x2 = {toy.OPTIMUM[1]:.5f}, f = {toy.BEST:.6f}")
    console.print(f"distance      {dist((x1, x2), toy.OPTIMUM):.1e}")
    console.print(f"{len(study.evaluations)} measurements, in the order asked: {given.to}")


if __name__ == "__main__":
    main()
