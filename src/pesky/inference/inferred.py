"""What is inferred from a snapshot: the belief of every row, and what of it is certain because it was measured."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.data.formatting import first_line
from pesky.data.measured import MeasuredPoint, holds_all
from pesky.data.outliers import Outlier, Place
from pesky.data.snapshot import Snapshot
from pesky.errors import DataError
from pesky.inference.noise import noise_free
from pesky.model.belief import Belief
from pesky.model.limited import with_conditions
from pesky.observations import Observations, conditions_of
from pesky.optimum.assessment import Facts
from pesky.problem import Problem
from pesky.space import Space
from pesky.store import Evaluation, State
from pesky.store.evaluation import listed, trials_of
from pesky.wording import counted

SAME_ANSWER = 1e-6
"""Points closer than this in every column are the same to a recommendation."""
TOLERANCE = 1e-5
"""The part of the range of the objective's measured values that does not matter, unless a study says otherwise."""


@dataclass(frozen=True, eq=False)
class Inferred:
    """A snapshot, and what is inferred from it: what answers and questions rest on."""

    snapshot: Snapshot
    observations: Observations
    """What the belief is of, in the units of the models, with the noise as it was found."""
    outliers: tuple[Outlier, ...]
    """The values that the belief leaves out."""
    seed: int
    make_belief: Callable[[], Belief]
    """Makes it once: see `belief`, and `spread` below it."""
    make_spread: Callable[[], Belief]
    tolerance: float = TOLERANCE
    """The part of the range of the objective's measured values that is no reason to leave a measured point."""

    @property
    def belief(self) -> Belief:
        """What is believed of the objective and of each constraint."""
        return self.make_belief()

    @property
    def spread(self) -> Belief:
        """The same with hyperparameters as uncertain as the data leave them: what intervals are of."""
        return self.make_spread()

    @property
    def problem(self) -> Problem:
        """What the study asks."""
        return self.snapshot.problem

    @property
    def space(self) -> Space:
        """Where its parameters are."""
        return self.snapshot.space

    @property
    def count(self) -> int:
        """How many evaluations there are."""
        return len(self.snapshot.learnt)

    @property
    def left_out(self) -> frozenset[Place]:
        """The values that are not believed, though they were told."""
        return frozenset((each.evaluation, each.outcome) for each in self.outliers)

    def checked(self) -> "Inferred":
        """The same; a DataError if nothing was told that an answer could rest on."""
        problem = self.problem
        if not self.snapshot.is_any_told(problem.grounds):
            what = "any outcome" if problem.objective in problem.known else f"the objective {problem.objective!r}"
            how = _how_failed(self.snapshot.learnt.values())
            raise DataError(f"no value of {what} was told yet: ask and tell until there is one.{how}")
        return self

    def seen_as(self, snapshot: Snapshot) -> "Inferred":
        """The same of a snapshot that was told no more: others may have been asked since."""
        return self if snapshot is self.snapshot else replace(self, snapshot=snapshot)

    def under(self, thresholds: Mapping[int, float]) -> "Inferred":
        """The same under other thresholds of some constraints, by their numbers."""
        constraints = list(self.problem.constraints)
        for k, threshold in thresholds.items():
            constraints[k] = replace(constraints[k], threshold=threshold)
        problem = replace(self.problem, constraints=constraints)
        conditions = conditions_of(problem, self.observations, always=True)
        snapshot, belief = replace(self.snapshot, problem=problem), with_conditions(self.belief, conditions)
        return replace(self, snapshot=snapshot, make_belief=lambda: belief)

    # -- what was measured -------------------------------------------------------------------------------------------

    @cached_property
    def points(self) -> tuple[MeasuredPoint, ...]:
        """Where something was told that is believed; what was measured without noise is a fact, believed or not."""
        exact = self.problem.declared_exact
        return self.snapshot.measured_without({place for place in self.left_out if place[1] not in exact})

    @cached_property
    def U(self) -> Float[Tensor, "n d"]:
        """These, in the unit cube."""
        return self.snapshot.points.stack(point.evaluations[0] for point in self.points).cpu()

    def encode(self, evaluation: Evaluation) -> Float[Tensor, " d"]:
        """The point of an evaluation in the unit cube."""
        return self.snapshot.points.of(evaluation)

    def at(self, u: Float[Tensor, " d"]) -> MeasuredPoint | None:
        """What was measured at a point, if anything was: where most was told."""
        here = ((self.U - u).abs().amax(-1) < SAME_ANSWER).nonzero().flatten().tolist()
        return max((self.points[i] for i in here), key=lambda point: len(point.told), default=None)

    def failures_at(self, u: Float[Tensor, " d"]) -> list[Evaluation]:
        """What failed at a point, in its order."""
        return [e for e in self.snapshot.failed if self.is_at(e, u)]

    def is_at(self, evaluation: Evaluation, u: Float[Tensor, " d"]) -> bool:
        """Whether an evaluation is of this point."""
        return bool((self.encode(evaluation) - u).abs().amax() < SAME_ANSWER)

    @cached_property
    def objective_range(self) -> float:
        """The range of the objective's measured values: where all constraints held, if there are two such points."""
        told = [point for point in self.points if self.problem.objective in point.told]
        held = [point for point in told if point.is_complete(self.problem) and holds_all(self.problem, point.told)]
        values = [point.told[self.problem.objective] for point in (held if len(held) > 1 else told)]
        return max(values) - min(values) if values else 0.0

    # -- what is certain ---------------------------------------------------------------------------------------------

    @cached_property
    def noiseless(self) -> frozenset[str]:
        """The outcomes that are known, that are declared to have no noise, or whose values speak for none."""
        return noise_free(self.problem, self.observations)

    @property
    def is_noiseless(self) -> bool:
        """Whether no outcome has any noise, by what was declared or by its values."""
        return {*self.problem.rows} & {*self.problem.outcomes} <= self.noiseless

    @cached_property
    def facts(self) -> Facts | None:
        """Where constraints surely hold or not, because it was told without noise; None if all have noise."""
        conditions = self.problem.conditions
        if not self.points or not any(condition.outcome in self.noiseless for condition in conditions):
            return None
        certain = [self.certain(point.told) for point in self.points]
        held = [[c.holds(own[c.outcome]) if c.outcome in own else None for own in certain] for c in conditions]
        columns = torch.stack([self.space.columns_of(self.problem.depends_on(c.outcome)) for c in conditions])
        holds, fails = (torch.tensor([[each is so for each in row] for row in held]) for so in (True, False))
        return Facts(*(part.to(self.snapshot.points.device) for part in (self.U, columns, holds, fails)))

    def told_at(self, u: Float[Tensor, " d"]) -> dict[str, float]:
        """What was told of a point: there, or wherever the parameters that an outcome depends on are the same."""
        is_same = (self.U - u).abs() < SAME_ANSWER
        found = {}
        for name in self.problem.rows:
            if name not in self.problem.known:
                here = (is_same | ~self.space.columns_of(self.problem.depends_on(name))).all(-1)
                told = (self.points[i].told for i in here.nonzero().flatten().tolist())
                found |= next(({name: values[name]} for values in told if name in values), {})
        return found

    def exact_at(self, U: Float[Tensor, "x d"]) -> Sequence[Mapping[str, float]]:
        """The outcomes that are certain at each point, because they were told without noise."""
        return [self.certain(self.told_at(u)) for u in U]

    def certain(self, told: Mapping[str, float]) -> dict[str, float]:
        """What was told without noise; a yes beside a no at the same point proves nothing."""
        exact, numbers = self.noiseless, self.problem.numbers
        return {name: value for name, value in told.items() if name in exact and (name in numbers or value in (0, 1))}


def _how_failed(evaluations: Collection[Evaluation]) -> str:
    """How many evaluations failed, and how the last one did; nothing where none did."""
    failed = [e for e in evaluations if e.state is State.FAILED]
    if not failed:
        return ""
    last = listed([failed[-1].id], trials_of(failed))
    return f" {counted(len(failed))} failed, the last one ({last}) with: {first_line(failed[-1].error)}."
