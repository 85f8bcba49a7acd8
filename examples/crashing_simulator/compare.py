"""`python -m examples.crashing_simulator.compare --seeds 3`: crashes that are learnt against crashes that are recorded.

The same study twice for every seed. With failures = "record", a crash is written down and tells nothing else: the model
of the objective goes on downhill beyond the edge, and recommends what it has never seen succeed.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import pesky
from examples.crashing_simulator.simulator import simulate
from pesky.study_file import StudyFile

FILE = StudyFile.read(Path(__file__).parent / "study.toml", importing=False)
Failures = Literal["learn", "record"]


@dataclass(frozen=True)
class Run:
    """What became of one study."""

    failures: Failures
    seed: int
    crashes: int
    late: int
    """Crashes in the second half."""
    recommendation: pesky.Recommendation
    badness: float | None
    """What the simulator says of the recommendation; None if it crashes."""


def optimize(failures: Failures, seed: int, evaluations: int) -> Run:
    """A study of so many evaluations."""
    task = replace(FILE.problem.tasks["simulate"], failures=failures)
    study = pesky.Study(replace(FILE.problem, tasks={"simulate": task}), seed=seed)
    study.run(simulate, pesky.Budget(evaluations=evaluations), keep_going=True, progress=False)
    crashed = [evaluation.error is not None for evaluation in study.evaluations.values()]
    recommendation = study.recommend()
    try:
        badness = simulate({name: float(value) for name, value in recommendation.params.items()})["badness"]
    except OverflowError:
        badness = None
    return Run(failures, seed, sum(crashed), sum(crashed[evaluations // 2 :]), recommendation, badness)


def tabulate(runs: Sequence[Run], evaluations: int) -> Table:
    """A line per study."""
    title = f"{evaluations} evaluations each, and the simulation at what is recommended after them"
    table = Table(title=title, title_justify="left")
    for head in ("failures", "seed", "crashes", "in the 2nd half", "stiffness", "step", "expected", "simulated"):
        table.add_column(head, justify="left" if head == "failures" else "right")
    for run in runs:
        table.add_row(
            run.failures,
            str(run.seed),
            str(run.crashes),
            str(run.late),
            f"{run.recommendation.params['stiffness']:.0f}",
            f"{run.recommendation.params['step']:.4f}",
            f"{run.recommendation.expected:.3f}",
            "crashes" if run.badness is None else f"{run.badness:.3f}",
        )
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m examples.crashing_simulator.compare", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--evaluations", type=int, default=FILE.budget.evaluations)
    given = parser.parse_args(arguments)
    runs = []
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("studies", total=2 * given.seeds)
        for failures in ("learn", "record"):
            for seed in range(given.seeds):
                runs.append(optimize(failures, seed, given.evaluations))
                progress.advance(bar)
    console = Console(width=None if Console().is_terminal else 120)
    console.print(tabulate(runs, given.evaluations))
    for failures in ("learn", "record"):
        own = [run for run in runs if run.failures == failures]
        crashing = sum(run.badness is None for run in own)
        crashes = sum(run.crashes for run in own)
        console.print(f'"{failures}": {crashes} crashes, {crashing} of {len(own)} recommendations crash')


if __name__ == "__main__":
    main()
