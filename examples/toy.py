"""`python -m examples.toy`: the toy problem of the PESC paper, from nothing known to the answer, and a picture of it.

Minimize x1 + x2 on the unit square subject to two constraints; neither the objective nor the constraints are known to
the study, which measures all three together, or one at a time with --decoupled.
"""

import argparse
from collections.abc import Sequence

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import pesky
from examples.square import draw_square
from pesky.problems import Benchmark, decouple, toy


def optimize(
    benchmark: Benchmark, study: pesky.Study, evaluations: int, console: Console
) -> list[tuple[str, float, float]]:
    """Ask and tell `evaluations` times under a progress bar; returns what was measured where, in order."""
    noise = torch.Generator().manual_seed(0)
    asked = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[state]}"), console=console) as progress:
        bar = progress.add_task("PESC", total=evaluations, state="")
        for _ in range(evaluations):
            evaluation = study.ask()
            outcomes = study.problem.tasks[evaluation.task].outcomes
            measured = benchmark.evaluate(evaluation.params, noise)
            study.tell(evaluation, {name: measured[name] for name in outcomes})
            asked.append((evaluation.task, float(evaluation.params["x1"]), float(evaluation.params["x2"])))
            gain = "initial design" if evaluation.gain is None else f"gain {evaluation.gain:.3g} nats"
            progress.update(bar, advance=1, state=f"{evaluation.task}: {gain}")
    return asked


def report(benchmark: Benchmark, recommendation: pesky.Recommendation, console: Console) -> None:
    """The recommendation, its probabilities, and how far it is from the known optimum."""
    x = torch.tensor([float(recommendation.params["x1"]), float(recommendation.params["x2"])], dtype=torch.float64)
    table = Table(title="Recommendation" if recommendation.is_confident else "None yet; the likeliest point")
    table.add_column("what")
    table.add_column("value", justify="right")
    for name, value in recommendation.params.items():
        table.add_row(name, f"{value:.6f}")
    table.add_row(f"expected {recommendation.objective}", f"{recommendation.expected:.6f}")
    for text, probability in recommendation.probabilities.items():
        table.add_row(f"P({text})", f"{probability:.4f}")
    table.add_row("distance to the known optimum", f"{float((x - benchmark.optimum).norm()):.2e}")
    table.add_row("utility gap", f"{benchmark.utility_gap(x):.2e}")
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the study and writes the picture; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m examples.toy", description=__doc__)
    parser.add_argument("--evaluations", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--decoupled", action="store_true", help="measure one function at a time")
    parser.add_argument("--picture", default="toy.png", metavar="FILE")
    given = parser.parse_args(arguments)
    console = Console()
    benchmark = decouple(toy()) if given.decoupled else toy()
    study = pesky.Study(benchmark.problem, seed=given.seed)
    asked = optimize(benchmark, study, given.evaluations, console)
    recommendation = study.recommend()
    report(benchmark, recommendation, console)
    draw_square(benchmark, asked, recommendation, given.picture)
    console.print(f"The square, with the points in the order asked: {given.picture}")


if __name__ == "__main__":
    main()
