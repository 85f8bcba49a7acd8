"""`python -m benchmarks.outliers`: how often a value is taken for an outlier that is none, and how often one is found.

Rows of data by themselves, with noise that is inferred; half of them are objectives, half constraints. What an outlier
spoils is the error of the predicted mean elsewhere, beside the error if it had been measured right.
"""

import argparse
import logging
import statistics
from collections.abc import Sequence

import matplotlib as mpl
import torch
from matplotlib.figure import Figure

from benchmarks.outlier_rows import CLEAN, PLANTED, Row
from benchmarks.report import build_table, console, progress_bar, write_json
from benchmarks.styles import LOOK
from pesky import GP, Problem, Real, Study
from pesky.model.outliers import is_at_edge

WHERE = 200
"""Points at which predictions are compared with the truth."""


def study_of(row: Row, seed: int, model: GP) -> Study:
    """A study that was told these values: of its objective, or of a constraint at their median."""
    names = [f"x{i}" for i in range(row.X.shape[-1])]
    outcome = "f" if seed % 2 == 0 else "c"
    constraints = [] if outcome == "f" else [f"c <= {float(row.values.median())!r}"]
    study = Study(Problem({name: Real(0, 1) for name in names}, minimize="f", constraints=constraints), model=model)
    told = zip(row.X.tolist(), row.values.tolist(), strict=True)
    study.add([{**dict(zip(names, x, strict=True)), outcome: value} for x, value in told])
    return study


def judge(row: Row, seed: int, model: GP) -> tuple[list[int], float]:
    """Which values are taken for outliers, and the error of the predicted mean in the units of the outcome."""
    study = study_of(row, seed, model)
    found = [each.evaluation for each in study.outliers()]
    g = torch.Generator().manual_seed(seed + 1000)
    X = torch.rand(WHERE, row.X.shape[-1], generator=g, dtype=torch.float64)
    inferred = study.inferred()
    belief, o = inferred.belief, inferred.observations
    j = seed % 2
    with torch.no_grad():
        mean = o.mean_to_user(j, belief.mean(X)[j], belief.variance(X)[j])
    return found, float((mean - row.truth(X)).square().mean().sqrt())


def false_alarms(kind: str, count: int) -> dict:
    """How many rows of a kind without outliers had a value that was taken for one."""
    alarms = [seed for seed in range(count) if study_of(CLEAN[kind](seed), seed, GP()).outliers()]
    return {"kind": kind, "rows": count, "alarms": alarms}


def hits(kind: str, count: int) -> dict:
    """How many outliers of a kind were found, and the errors if it is measured right, trusted, and looked for."""
    found, inside, wrong, errors = 0, 0, 0, []
    for seed in range(count):
        row, datum = PLANTED[kind](seed)
        others = torch.arange(len(row.values)) != datum
        inside += not is_at_edge(row.X[others], row.X[datum])
        right = row.values.clone()
        right[datum] = row.truth(row.X[datum : datum + 1])[0]
        _, clean = judge(Row(row.X, right, row.truth, row.noise), seed, GP(outliers=False))
        taken, looked = judge(row, seed, GP())
        # the belief is the same where nothing is left out
        trusted = judge(row, seed, GP(outliers=False))[1] if taken else looked
        found += datum in taken
        wrong += any(each != datum for each in taken)
        errors.append([clean, trusted, looked])
    return {"kind": kind, "rows": count, "found": found, "inside": inside, "wrong": wrong, "errors": errors}


def draw_figure(path: str) -> None:
    """Writes a picture of twenty values of a curve, one of them 0.9, and of what is believed of it with and without."""
    g = torch.Generator().manual_seed(3)
    X = torch.rand(20, 1, generator=g, dtype=torch.float64)
    line = torch.linspace(0, 1, 201, dtype=torch.float64)[:, None]

    def truth(Z: torch.Tensor) -> torch.Tensor:
        return 0.02 + 0.008 * torch.sin(6 * Z[:, 0])

    values = truth(X) + 7e-4 * torch.randn(20, generator=g, dtype=torch.float64)
    datum = int((X[:, 0] - 0.55).abs().argmin())
    values[datum] = 0.9
    row = Row(X, values, truth, 7e-4)
    models = {
        "every value trusted, no warp": (GP(outliers=False, warp=False), "#c44e52"),
        "every value trusted": (GP(outliers=False), "#dd8452"),
        "the outlier left out": (GP(), "#4c72b0"),
    }
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(11, 3.6), dpi=120, layout="constrained")
        for axes, (name, (model, color)) in zip(figure.subplots(1, 3, sharey=True), models.items(), strict=True):
            study = study_of(row, 0, model)
            belief, o = (inferred := study.inferred()).belief, inferred.observations
            with torch.no_grad():
                mean, deviation = belief.mean(line)[0], belief.variance(line)[0].sqrt()
            low, high = (o.to_user(0, mean + sign * 1.645 * deviation) for sign in (-1, 1))
            axes.fill_between(line[:, 0], low, high, color=color, alpha=0.2, linewidth=0)
            axes.plot(line[:, 0], o.to_user(0, mean), color=color, linewidth=1.8)
            axes.plot(line[:, 0], truth(line), color="0.3", linewidth=1, linestyle="--")
            axes.plot(X[:, 0], values, "o", color="0.2", markersize=3.5)
            at = float(X[datum])
            axes.annotate("0.9", (at, 0.0495), (at, 0.044), arrowprops={"arrowstyle": "->"}, ha="center")
            axes.set_title(name, loc="left")
            axes.set(ylim=(0, 0.05), xlim=(0, 1), xlabel="x")
        figure.axes[0].set_ylabel("error")
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outliers", description=__doc__)
    parser.add_argument("--rows", type=int, default=60, help="of each kind, default %(default)s")
    parser.add_argument("--only", help="kinds that have this in their name")
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    parser.add_argument("--figure", metavar="FILE", help="draw what one outlier does, and nothing else")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if given.figure:
        draw_figure(given.figure)
        return
    chosen = [[kind for kind in kinds if not given.only or given.only in kind] for kinds in (CLEAN, PLANTED)]
    with progress_bar() as bar:
        clean = [false_alarms(kind, given.rows) for kind in bar.track(chosen[0], description="without outliers")]
        planted = [hits(kind, given.rows) for kind in bar.track(chosen[1], description="with one")]
    lines = [[each["kind"], str(each["rows"]), str(len(each["alarms"]))] for each in clean]
    total = sum(each["rows"] for each in clean), sum(len(each["alarms"]) for each in clean)
    console.print(
        build_table("Rows without outliers", ["rows of", "rows", "with an alarm"], [*lines, ["all", *map(str, total)]])
    )
    lines = []
    for each in planted:
        right, trusting, looking = (statistics.median(column) for column in zip(*each["errors"], strict=True))
        counts = [str(each[name]) for name in ("rows", "inside", "found", "wrong")]
        lines.append([each["kind"], *counts, *(f"{error:.2g}" for error in (right, trusting, looking))])
    columns = [
        "one value",
        "rows",
        "not at the edge",
        "found",
        "another taken",
        "measured right",
        "trusted",
        "looked for",
    ]
    caption = "The last three: error of the predicted mean elsewhere, median over rows."
    console.print(build_table("Rows with one outlier", columns, lines, caption))
    write_json(given.json, {"clean": clean, "planted": planted})


if __name__ == "__main__":
    logging.getLogger("pesky").setLevel(logging.ERROR)  # what is found is counted, and need not be said
    main()
