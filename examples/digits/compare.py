"""`python -m examples.digits.compare --runs 10`: what the answer says of itself, and what is true of it.

Every run is a study of its own. The truth is the mean of ten more trainings at the point that is recommended, and at
that whose measurement was the lowest of those that kept both limits: what one would use without a model.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import pesky
from examples.digits.digits import train, truth
from pesky.study_file import StudyFile

FILE = StudyFile.read(Path(__file__).parent / "study.toml", importing=False)


@dataclass(frozen=True)
class Run:
    """The answer of one study, and the truth."""

    recommendation: pesky.Recommendation
    true: dict[str, float]
    """What the answer truly is."""
    lucky: dict[str, float] | None
    """The truth at the point with the lowest measurement that kept the limits; None if none did."""

    @property
    def is_kept(self) -> bool:
        """Whether the answer truly keeps both limits."""
        return all(c.holds(self.true[c.outcome]) for c in FILE.problem.constraints)

    @property
    def is_covered(self) -> bool:
        """Whether the error is in the interval that was given for it."""
        low, high = self.recommendation.interval
        return low <= self.true["error"] <= high


def optimize(seed: int, evaluations: int) -> Run:
    """A study of so many evaluations."""
    study = pesky.Study(FILE.problem, seed=seed)
    study.run(train, pesky.Budget(evaluations=evaluations), progress=False)
    recommendation = study.recommend()
    kept = [
        e for e in study.evaluations.values() if all(c.holds(e.outcomes[c.outcome]) for c in FILE.problem.constraints)
    ]
    lucky = min(kept, key=lambda e: e.outcomes["error"], default=None)
    return Run(recommendation, truth(dict(recommendation.params)), None if lucky is None else truth(dict(lucky.params)))


def tabulate(runs: Sequence[Run]) -> Table:
    """A line per study, and the means."""
    table = Table(title="errors: what the answer says, and what is true", title_justify="left")
    for head in ("seed", "says", "90 %", "true", "in it", "limits kept", "lowest measured, true"):
        table.add_column(head, justify="right")
    for seed, run in enumerate(runs):
        low, high = run.recommendation.interval
        table.add_row(
            str(seed),
            f"{run.recommendation.expected:.4f}",
            f"{low:.4f} to {high:.4f}",
            f"{run.true['error']:.4f}",
            "yes" if run.is_covered else "no",
            "yes" if run.is_kept else "no",
            "" if run.lucky is None else f"{run.lucky['error']:.4f}",
        )
    table.add_section()
    lucky = [run.lucky["error"] for run in runs if run.lucky is not None]
    table.add_row(
        "mean",
        f"{mean(run.recommendation.expected for run in runs):.4f}",
        "",
        f"{mean(run.true['error'] for run in runs):.4f}",
        f"{sum(run.is_covered for run in runs)}",
        f"{sum(run.is_kept for run in runs)}",
        f"{mean(lucky):.4f}" if lucky else "",
    )
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m examples.digits.compare", description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="studies, default %(default)s")
    parser.add_argument("--evaluations", type=int, default=25, help="of each, default %(default)s")
    given = parser.parse_args(arguments)
    with Progress(console=Console(stderr=True)) as progress:
        seeds = progress.track(range(given.runs), description="studies")
        runs = [optimize(seed, given.evaluations) for seed in seeds]
    Console().print(tabulate(runs))


if __name__ == "__main__":
    main()
