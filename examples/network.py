"""`python -m examples.network`: a network tuned under a latency limit; training takes an hour, profiling a minute.

The network is a stand-in, a few lines of arithmetic; everything else is how one would do it.
"""

import math

from rich.console import Console
from rich.progress import Progress

import pesky

problem = pesky.Problem(
    parameters={
        "learning_rate": pesky.Real(1e-5, 1e-1, log=True),
        "units": pesky.Integer(10, 500),
        "activation": pesky.Choice(["relu", "sigmoid"]),
    },
    minimize="error",
    constraints=["latency_ms <= 2"],
    tasks={
        "train": pesky.Task(["error"], cost=60),
        "profile": pesky.Task(["latency_ms"], cost=1),
    },
)


def measure(task: str, params: dict) -> dict[str, float]:
    """Error and latency of a network that exists only here: larger is better and slower."""
    units, relu = params["units"], params["activation"] == "relu"
    if task == "profile":
        return {"latency_ms": 0.2 + 0.006 * units * (1.0 if relu else 1.3)}
    mistuned = (math.log10(params["learning_rate"]) + (2.5 if relu else 2.0)) ** 2
    return {"error": 0.05 + 0.02 * mistuned + 0.8 / math.sqrt(units) + (0.0 if relu else 0.02)}


def main(hours: float = 15) -> None:
    """A budget of hours, spent on what tells most per minute."""
    console = Console()
    study = pesky.Study(problem, seed=0)
    budget, times = 60 * hours, dict.fromkeys(problem.tasks, 0)
    with Progress(console=console) as progress:
        bar = progress.add_task("minutes spent", total=budget)
        while not progress.finished:
            evaluation = study.ask()
            study.tell(evaluation, measure(evaluation.task, dict(evaluation.params)))
            times[evaluation.task] += 1
            progress.advance(bar, problem.tasks[evaluation.task].cost)
    console.print(str(study.recommend()), markup=False)
    console.print("asked: " + ", ".join(f"{task} {count} times" for task, count in times.items()))


if __name__ == "__main__":
    main()
