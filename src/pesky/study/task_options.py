"""The tasks that may be asked, as the rows that they tell of and what they cost."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.decide import TaskOptions
from pesky.model.cost import learn_costs
from pesky.problem import Problem
from pesky.problem.problem import SUCCEEDS
from pesky.store import Evaluation, State
from pesky.study.points import Points


def task_options(
    problem: Problem, points: Points, evaluations: Mapping[int, Evaluation], names: Sequence[str]
) -> TaskOptions:
    """The tasks of these names, as rows and prices."""
    rows, tasks = problem.rows, [problem.tasks[name] for name in names]
    shares = [[float(row in task.outcomes) for row in rows] for task in tasks]
    success = [SUCCEEDS.format(name) for name in names]
    given = [None if task.cost == "measured" else task.cost for task in tasks]
    durations = [_durations(problem, points, evaluations, name) for name in names]
    snap = None if points.space.is_continuous else points.space.snap
    return TaskOptions(
        torch.tensor(shares, dtype=torch.float64),
        tuple(rows.index(name) if name in rows else None for name in success),
        learn_costs(given, durations, snap),
    )


def _durations(
    problem: Problem, points: Points, evaluations: Mapping[int, Evaluation], task: str
) -> tuple[Float[Tensor, "n d"], Float[Tensor, " n"]]:
    """Where a task of measured cost was run, and how long it took."""
    is_measured = problem.tasks[task].cost == "measured"
    timed = [
        e
        for e in evaluations.values()
        if is_measured and e.task == task and e.state is State.DONE and e.seconds is not None
    ]
    return points.stack(timed), torch.tensor([e.seconds for e in timed], dtype=torch.float64)
