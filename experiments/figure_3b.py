"""Figure 3b: Hamiltonian Monte Carlo, four parameters: effective samples for the same computing, if it converges.

The problem is that of examples/hmc/study.toml. The paper measures all outcomes together. Apart, a single trace tells
the effective samples and the Geweke score at half the price; R-hat needs two, which tell everything.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from examples.hmc import tuning
from experiments.real import CONTENDERS, RealExperiment
from experiments.real_command import main, parser
from pesky import Problem, Task
from pesky.study_file import StudyFile

FILE = Path(tuning.__file__).parents[1] / "study.toml"


def problems() -> tuple[Problem, Problem]:
    """The study's problem with two traces at a time, and with one or two."""
    stated = StudyFile.read(FILE, importing=False).problem
    # where one trace fails two do as well: it is enough to learn that once
    one = Task(["effective", "geweke"], cost=1, failures="learn")
    apart = {"one trace": one, "two traces": Task(stated.outcomes, cost=2)}
    return replace(stated, tasks={"sample": Task(stated.outcomes, cost=2, failures="learn")}), replace(
        stated, tasks=apart
    )


TOGETHER, APART = problems()
EXPERIMENT = RealExperiment(
    figure="3b",
    together=TOGETHER,
    apart=APART,
    functions={"sample": tuning.measure, "one trace": tuning.measure_one, "two traces": tuning.measure},
    contenders=CONTENDERS,
    worst=0.0,
    unit="effective samples",
    paper={"pesc": "3300 ± 1200", "eic": "2300 ± 900"},
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs it; see `--help`."""
    return main(EXPERIMENT, parser(EXPERIMENT, __doc__).parse_args(arguments))


if __name__ == "__main__":
    sys.exit(run())
