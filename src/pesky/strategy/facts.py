"""What a decision went by: what each task was worth there, and how much is known of the solution."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.model.belief import over_hyper_samples
from pesky.optimum.sample import Optima
from pesky.space import Space
from pesky.strategy.select import Decision
from pesky.strategy.task_values import TaskValues

BINS = 10
"""Into how many parts a parameter's range is cut, where it is real, to say how much of it is left."""
SAME_PLACE = 0.05
"""Samples of x* that differ by less than this share of the range in every parameter are in the same place."""


def reasons(values: TaskValues, decision: Decision, tasks: Sequence[str]) -> dict[str, object]:
    """What a decision was made by, as a small JSON object."""
    values = values._replace(acquisition=decision.acquisition)
    with torch.no_grad():
        is_one = len(tasks) == 1
        here = [float(decision.value)] if is_one else values.value(decision.u[None])[0].tolist()
        prices = values.task_options.prices(decision.u[None])[0].tolist()
    # its own best point is at least as good to a task as any other that is known
    best = [max(each) for each in zip(here, decision.per_task.tolist(), strict=True)]
    is_log, optima = values.acquisition.is_log, values.acquisition.optima
    why: dict[str, object] = {
        "rule": values.rule.name,
        "unit": "nats" if values.rule.in_nats else "in logarithm" if is_log else "",
        "values": _numbers(tasks, here),
        "prices": _numbers(tasks, prices),
        "elsewhere": _numbers(tasks, best),
    }
    return why if optima is None else {**why, **_solution(values.context.space, values, optima)}


def _numbers(tasks: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """Those that are numbers, with as many digits as anybody looks at."""
    each = zip(tasks, values, strict=True)
    return {task: float(f"{value:.6g}") for task, value in each if math.isfinite(value)}


def _solution(space: Space, values: TaskValues, optima: Optima) -> dict[str, object]:
    """How much is known of x*, by its samples."""
    belief = values.context.belief
    X = over_hyper_samples(belief, optima.chosen.x, 2).flatten(0, 1)
    weight = over_hyper_samples(belief, optima.chosen.weight, 1).flatten()
    weight = weight / weight.sum()
    near = (torch.cdist(X, X, p=torch.inf) < SAME_PLACE).to(weight)
    left = {name: float(f"{share:.3g}") for name, share in left_to_learn(space, X, weight).items()}
    agreement = float(f"{float((near @ weight).max()):.3g}")
    return {"left": left, "agreement": agreement, "infeasible": float(f"{optima.infeasible_share:.3g}")}


def left_to_learn(space: Space, X: Float[Tensor, "m d"], weight: Float[Tensor, " m"]) -> dict[str, float]:
    """Entropy of each parameter of x*, by its weighted samples, as a share of the largest that it can have."""
    shares = {}
    for name, (levels, index) in space.bins(X, BINS).items():
        mass = weight.new_zeros(levels).index_add_(0, index, weight)
        entropy = -(mass * mass.clamp(min=1e-300).log()).sum()
        shares[name] = max(float(entropy), 0.0) / math.log(levels) if levels > 1 else 0.0
    return shares
