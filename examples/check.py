"""`python -m examples.check STUDY.toml`: the answer of a study, measured again by the study's own functions.

What was measured on the way to an answer helped to choose it, and so flatters it. These measurements did not; they are
not stored either.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import pesky
from pesky.study_file import StudyFile


def measure(file: StudyFile, params: dict, repeats: int) -> dict[str, list[float]]:
    """The values of each outcome; NaN where its measurement failed."""
    found: dict[str, list[float]] = {outcome: [] for outcome in file.problem.outcomes}
    for task, call in file.calls.items():
        outcomes = file.problem.tasks[task].outcomes
        for _ in range(repeats):
            told: Any = None
            try:
                told = call(params)
            except Exception as error:  # whatever a user's function raises is a failure of its measurement
                print(f"{task}: {error}", file=sys.stderr)
                told = dict.fromkeys(outcomes, math.nan)
            values = told if isinstance(told, dict) else {outcomes[0]: told}
            for outcome in outcomes:
                found[outcome].append(float(values[outcome]))
    return found


def tabulate(file: StudyFile, answer: pesky.Recommendation, found: dict[str, list[float]]) -> tuple[Table, bool]:
    """A line for each outcome: what was promised, and what came out; and whether all constraints hold, on average."""
    table = Table(title=f"{file.name}: the answer, measured again", title_justify="left")
    for head in ("outcome", "promised", "measured, mean ± standard error"):
        table.add_column(head)
    holds = True
    for outcome, values in found.items():
        mean, error = float(np.mean(values)), float(np.std(values, ddof=1) / len(values) ** 0.5) if values[1:] else 0.0
        promised = [f"{answer.expected:.4g} ({answer.interval[0]:.4g} to {answer.interval[1]:.4g})"] * (
            outcome == file.problem.objective
        )
        for constraint in file.problem.constraints:
            if constraint.outcome == outcome:
                promised.append(f"{constraint}, P = {answer.probabilities[str(constraint)]:.3f}")
                holds = holds and constraint.holds(mean)
        table.add_row(outcome, "; ".join(promised), f"{mean:.4g} ± {error:.2g}")
    return table, holds


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; 0 if every constraint holds on average, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m examples.check", description=__doc__)
    parser.add_argument("study", type=Path, metavar="STUDY.toml")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="measurements of each task (5)")
    given = parser.parse_args(arguments)
    try:
        file = StudyFile.read(given.study)
        if not Path(file.storage.removeprefix("sqlite:///")).exists():  # to look must not create it
            parser.error(f"nothing is stored yet: `pesky run {relpath(given.study)}` first.")
        answer = pesky.Study.load(file.storage, file.name).recommend()
    except pesky.PeskyError as error:
        parser.error(str(error))
    table, holds = tabulate(file, answer, measure(file, dict(answer.params), given.repeats))
    console = Console(highlight=False)
    console.print(table)
    console.print("every constraint holds" if holds else "not every constraint holds")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
