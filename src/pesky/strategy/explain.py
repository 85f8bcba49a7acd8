"""Why a query was asked, as it was stored with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pesky.data.formatting import noise_in_words
from pesky.data.outliers import Outlier
from pesky.errors import DataError
from pesky.problem.fields import FrozenDict
from pesky.store import Evaluation, State
from pesky.strategy.facts import SAME_PLACE
from pesky.strategy.steps import KINDS


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
    unaffordable: tuple[str, ...] = ()
    """The tasks that what was left of the limit did not pay for."""
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
        too_dear = tuple(why.get("unaffordable", ()))  # pyright: ignore[reportArgumentType]
        return cls(**{**known, "task": evaluation.task, "left_out": left_out, "unaffordable": too_dear})  # pyright: ignore[reportArgumentType]

    def __str__(self) -> str:
        lines = [f"{self.task}: {KINDS.get(self.kind, self.kind)}" + (f" ({self.rule})" if self.rule else "")]
        for task, value in sorted(self.values.items(), key=lambda each: -each[1]):
            best = f", {self.elsewhere[task]:.3g} at its own best point" if task in self.elsewhere else ""
            price = f" for a price of {self.prices[task]:.3g}" if task in self.prices else ""
            lines.append(f"  {task} is worth {value:.3g} {self.unit} here{price}{best}")
        lines += [f"  {task} was too dear for what was left of the limit" for task in self.unaffordable]
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
