"""A picture of a two-dimensional problem: what is allowed, what was asked, what is recommended."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch

import pesky
from pesky.problems import Benchmark

COLORS = ("#1f4e79", "#b3541e", "#5b7f3a", "#7a4b94")


def draw_square(
    benchmark: Benchmark, asked: Sequence[tuple[str, float, float]], recommendation: pesky.Recommendation, path: str
) -> None:
    """Writes the unit square to `path`: the feasible region, the points numbered as asked, and the recommendation."""
    axis = torch.linspace(0, 1, 400, dtype=torch.float64)
    grid = torch.cartesian_prod(axis, axis)
    rows = benchmark.truth(grid).view(400, 400, -1)
    margin = rows[..., 1:].amin(-1)

    figure, axes = plt.subplots(figsize=(7.2, 6.4), dpi=130)
    axes.contourf(axis, axis, margin.mT, levels=[0.0, float(margin.max()) + 1], colors=["#e3efdb"])
    axes.contour(axis, axis, margin.mT, levels=[0.0], colors=["#5b7f3a"], linewidths=1.5)
    lines = axes.contour(axis, axis, rows[..., 0].mT, levels=10, colors=["#999999"], linewidths=0.5)
    axes.clabel(lines, fontsize=6, colors="#777777")

    tasks = list(dict.fromkeys(task for task, _, _ in asked))
    for task, color in zip(tasks, COLORS, strict=False):
        own = [(x, y) for name, x, y in asked if name == task]
        label = "asked, in this order" if len(tasks) == 1 else f"asked of {task}"
        axes.scatter(*zip(*own, strict=True), s=95, color=color, alpha=0.85, linewidths=0, label=label, zorder=3)
    # Only the first of several coinciding points keeps its number: late points pile up on the solution.
    shown: list[tuple[float, float]] = []
    for number, (_, x, y) in enumerate(asked, start=1):
        if all(abs(x - a) + abs(y - b) > 0.025 for a, b in shown):
            axes.annotate(str(number), (x, y), ha="center", va="center", fontsize=6, color="white", zorder=4)
            shown.append((x, y))
    best = benchmark.optimum
    axes.scatter(
        float(best[0]), float(best[1]), marker="+", s=420, color="black", linewidths=1, label="true optimum", zorder=5
    )
    here = (float(recommendation.params["x1"]), float(recommendation.params["x2"]))
    axes.scatter(
        *here, marker="*", s=260, color="#f2b705", edgecolors="black", linewidths=0.8, label="recommendation", zorder=6
    )
    axes.set(xlabel="x1", ylabel="x2", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set_title("Green: every constraint holds. Gray lines: the objective.", fontsize=9)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=4, fontsize=8, frameon=False)
    figure.savefig(path, bbox_inches="tight")
    plt.close(figure)
