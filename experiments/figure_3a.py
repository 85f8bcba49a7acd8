"""Figure 3a: a network with three hidden layers, twelve parameters, under a limit on its prediction time.

The problem is that of examples/mnist/study.toml. Apart, training and timing are tasks with their own prices: a training
is 1 and a timing 0.1, about what they take. Which parameters the time depends on is not told here, as in the paper.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from examples.mnist import training
from experiments.real import CONTENDERS, RealExperiment
from experiments.real_command import main, parser
from pesky import Problem, Task
from pesky.study_file import StudyFile

FILE = Path(training.__file__).parents[1] / "study.toml"


def problems() -> tuple[Problem, Problem]:
    """The study's problem with everything measured together, and apart."""
    stated = StudyFile.read(FILE, importing=False).problem
    apart = {name: replace(task, parameters=None) for name, task in stated.tasks.items()}
    price = sum(float(task.cost) for task in apart.values())
    return replace(stated, tasks={"both": Task(stated.outcomes, cost=price)}), replace(stated, tasks=apart)


TOGETHER, APART = problems()
EXPERIMENT = RealExperiment(
    figure="3a",
    together=TOGETHER,
    apart=APART,
    functions={"both": training.train_and_profile, "train": training.train, "profile": training.profile},
    contenders=CONTENDERS,
    worst=1.0,
    share=100.0,
    unit="validation error, %",
    paper={"pesc": "7.0 ± 0.6", "eic": "49 ± 4"},
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs it; see `--help`."""
    more = parser(EXPERIMENT, __doc__)
    more.add_argument(
        "--data", type=Path, metavar="PATH", help="the full MNIST: an .npz file, or a folder of idx files"
    )
    more.add_argument("--iterations", type=int, metavar="N", help=f"of a training ({training.ITERATIONS}; paper: 5000)")
    more.add_argument("--predictions", type=int, metavar="N", help=f"timed ({training.PREDICTIONS}; paper: 1000)")
    more.add_argument("--device", choices=("cpu", "cuda"), help="where the network is trained and timed (cpu)")
    given = more.parse_args(arguments)
    for variable in ("data", "iterations", "predictions", "device"):
        if (value := getattr(given, variable)) is not None:
            os.environ[training.VARIABLES[variable]] = str(value)
    return main(EXPERIMENT, given)


if __name__ == "__main__":
    sys.exit(run())
