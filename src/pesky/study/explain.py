"""Why a question was asked: what each task was worth there, and how much is known of the solution."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.decide import BY_RULE, CHECK_ANSWER, Decision, TaskValues
from pesky.errors import DataError
from pesky.model.belief import over_hyper_samples
from pesky.optimum.sample import Optima
from pesky.problem.fields import FrozenDict
from pesky.space import Space
from pesky.store import Evaluation, State
from pesky.study.in_words import noise_in_words
from pesky.study.outliers import Outlier

BINS = 10
"""Into how many parts a parameter's range is cut, where it is real, to say how much of it is left."""
SAME_PLACE = 0.05
"""Samples of x* that differ by less than this share of the range in every parameter are in the same place."""

KINDS = {
    "initial": "a point of the initial design, which every task is measured at before anything is believed",
    "enqueued": "what was to be measured before anything else, by its user's wish",
    "confirming": "for the answer: the best point was expected here, and not all of it was measured",
    "improving": "for the answer: where a better measured point is most to be expected",
    "check": "a check of the model, since the rule expects to learn nothing: what is least known at the recommendation",
    "check-better": "a check of the model, since the rule expects to learn nothing: where a better point may be",
    "check-unknown": "a check of the model, since a coarse look finds nothing to learn: where least is known",
    "untried": "an option that the objective was never measured with, at the best point: before it is written off",
    "seeking": "where all constraints most probably hold: hardly a function that fits the data has a feasible point",
    "full": "what the rule finds worth most for its price",
    "update": "what the rule finds worth most for its price, from the last full analysis updated with new data",
    "thompson": "one of the samples of the solution, for lack of time",
    "coarse": "what the rule finds worth most for its price, by a coarse look first",
}
"""What kinds of questions there are."""


def known_before(evaluations: Iterable[Evaluation], asked: Evaluation) -> dict[int, Evaluation]:
    """The evaluations as they were when one was asked: what ended later was still awaited."""
    known = {}
    for e in evaluations:
        if e.id < asked.id:
            is_told = e.ended is not None and e.ended <= asked.asked
            awaited = replace(e, state=State.PENDING, outcomes=FrozenDict({}), error=None, cause=None)
            known[e.id] = e if is_told or e.is_open or e.state is State.QUEUED else awaited
    return known


@dataclass(frozen=True)
class Explanation:
    """Why an evaluation was asked, as it was decided then."""

    kind: str
    """One of KINDS."""
    task: str
    rule: str | None = None
    unit: str = ""
    """What values are counted in."""
    values: Mapping[str, float] = field(default_factory=dict)
    """What each task was worth at the point that was asked."""
    prices: Mapping[str, float] = field(default_factory=dict)
    """What each was expected to cost there."""
    elsewhere: Mapping[str, float] = field(default_factory=dict)
    """What each task was worth at its own best point."""
    left: Mapping[str, float] = field(default_factory=dict)
    """How much of each parameter of the solution is not known yet: 1 is nothing, 0 all but a tenth of its range."""
    agreement: float | None = None
    """The share of the samples of the solution that are in the same place."""
    infeasible: float | None = None
    """The share of draws of the functions that have no feasible point."""
    left_out: tuple[Outlier, ...] = ()
    """The values that were not believed then."""
    noise: Mapping[str, float | None] = field(default_factory=dict)
    """How much measurements scattered, as far as was known then, where nobody had said so; None: not to be told yet."""

    @classmethod
    def of(cls, evaluation: Evaluation) -> "Explanation":
        """That of an evaluation; a DataError where nothing was kept of it."""
        why = evaluation.why
        if why is None:
            reason = "is data of your own" if evaluation.is_yours else "was asked before reasons were kept"
            raise DataError(f"there is nothing to explain: evaluation {evaluation.id} {reason}.")
        if "kind" not in why:
            raise DataError(f"there is nothing to explain: what was kept with evaluation {evaluation.id} is damaged.")
        known = {name: why[name] for name in cls.__dataclass_fields__ if name in why}
        kept: Any = why.get("left_out", ())
        left_out = tuple(Outlier(**each) for each in kept)
        return cls(**{**known, "task": evaluation.task, "left_out": left_out})  # pyright: ignore[reportArgumentType]

    def __str__(self) -> str:
        lines = [f"{self.task}: {KINDS.get(self.kind, self.kind)}" + (f" ({self.rule})" if self.rule else "")]
        for task, value in sorted(self.values.items(), key=lambda each: -each[1]):
            best = f", {self.elsewhere[task]:.3g} at its own best point" if task in self.elsewhere else ""
            price = f" for a price of {self.prices[task]:.3g}" if task in self.prices else ""
            lines.append(f"  {task} is worth {value:.3g} {self.unit} here{price}{best}")
        if self.left:
            shares = ", ".join(f"{name} {share:.0%}" for name, share in self.left.items())
            lines.append(f"  not known yet of the solution: {shares}")
        if self.agreement is not None:
            near = f"within {SAME_PLACE:.0%} of each parameter's range"
            lines.append(f"  {self.agreement:.0%} of the samples of the solution agree {near}")
        if self.infeasible:
            lines.append(f"  {self.infeasible:.0%} of the functions that fit the data have no feasible point")
        if self.noise:
            lines.append(f"  noise, which was not declared, as the values said: {noise_in_words(self.noise)}")
        lines += [f"  {each}" for each in self.left_out]
        return "\n".join(lines)


def reasons(values: TaskValues, decision: Decision, tasks: Sequence[str], kind: str) -> dict[str, object]:
    """Why a decision was made, as a small JSON object."""
    with torch.no_grad():
        is_one = len(tasks) == 1
        here = [float(decision.value)] if is_one else values.value(decision.u[None])[0].tolist()
        prices = values.task_options.prices(decision.u[None])[0].tolist()
    is_log, optima = values.acquisition.is_log, decision.acquisition.optima
    is_coarse, chosen_by = decision.acquisition.is_coarse, int(decision.chosen_by)
    if chosen_by == BY_RULE:
        kind = "coarse" if kind == "full" and is_coarse else kind
    elif chosen_by == CHECK_ANSWER:
        kind = "check"
    else:
        kind = "check-unknown" if is_coarse else "check-better"
    why: dict[str, object] = {
        "kind": kind,
        "rule": values.rule.name,
        "unit": "nats" if values.rule.in_nats else "in logarithm" if is_log else "",
        "values": _numbers(tasks, here),
        "prices": _numbers(tasks, prices),
        "elsewhere": _numbers(tasks, decision.per_task.tolist()),
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
