"""The tasks that may be asked, as the rows that they tell of and what they cost."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.data.snapshot import Snapshot
from pesky.model.cost import learn_costs
from pesky.problem.problem import SUCCEEDS
from pesky.store import State
from pesky.strategy.task_values import TaskOptions


def task_options(snapshot: Snapshot, names: Sequence[str]) -> TaskOptions:
    """The tasks of these names, as rows and prices."""
    problem = snapshot.problem
    rows, tasks = problem.rows, [problem.tasks[name] for name in names]
    shares = [[float(row in task.outcomes) for row in rows] for task in tasks]
    success = [SUCCEEDS.format(name) for name in names]
    given = [None if task.cost == "measured" else task.cost for task in tasks]
    durations = [_durations(snapshot, name) for name in names]
    snap = None if snapshot.space.is_continuous else snapshot.space.snap
    return TaskOptions(
        torch.tensor(shares, dtype=torch.float64),
        tuple(rows.index(name) if name in rows else None for name in success),
        learn_costs(given, durations, snap),
    )


def _durations(snapshot: Snapshot, task: str) -> tuple[Float[Tensor, "n d"], Float[Tensor, " n"]]:
    """Where a task of measured cost was run, and how long it took."""
    is_measured = snapshot.problem.tasks[task].cost == "measured"
    timed = [
        e
        for e in snapshot.learnt.values()
        if is_measured and e.task == task and e.state is State.DONE and e.seconds is not None
    ]
    return snapshot.points.stack(timed), torch.tensor([e.seconds for e in timed], dtype=torch.float64)
