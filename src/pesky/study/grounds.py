"""What an answer rests on: what was told, what is believed given that, and what of it is certain."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.errors import DataError
from pesky.model.belief import Belief
from pesky.model.limited import with_conditions
from pesky.model.surrogate import GP
from pesky.numerics.runtime import threads_for
from pesky.observations import Observations, conditions_of
from pesky.optimum.assessment import Told
from pesky.problem import Problem
from pesky.space import Space
from pesky.store import Evaluation, State
from pesky.store.evaluation import listed, trials_of
from pesky.study.in_words import first_line
from pesky.study.measured import MeasuredPoint, measured_points
from pesky.study.outliers import Outlier, Place, trusted
from pesky.study.prediction import Expectation, Prediction, expectations_at, predictions_at
from pesky.study.slips import Unusual, absurd
from pesky.study.surrogates import Surrogates
from pesky.wording import counted

SAME_ANSWER = 1e-6
"""Points closer than this in every column are the same to a recommendation."""


@dataclass(frozen=True)
class Grounds:
    """What an answer rests on: the data, and what is believed given them."""

    problem: Problem
    space: Space
    belief: Belief
    spread: Belief
    """The same with hyperparameters as uncertain as the data leave them: what intervals are of."""
    observations: Observations
    points: tuple[MeasuredPoint, ...]
    """Where something was told."""
    U: Float[Tensor, "n d"]
    """These, in the unit cube."""
    encode: Callable[[Evaluation], Tensor]
    """The point of an evaluation in the unit cube."""
    seed: int
    count: int
    left_out: frozenset[Place] = frozenset()
    """The values that are not believed, though they were told."""
    failed: tuple[Evaluation, ...] = ()
    """Those that failed, of tasks whose failures are not learnt: the model does not know of them."""
    far_beyond: tuple[Unusual, ...] = ()
    """The values that are decades beyond all others, whether or not the model leaves them out."""
    is_hypothetical: bool = False
    """Whether thresholds are others than those that questions were asked under."""

    @classmethod
    def of(cls, surrogates: Surrogates, evaluations: Mapping[int, Evaluation]) -> "Grounds":
        """The grounds that all evaluations give; a DataError if none has told anything that an answer could rest on."""
        problem, evaluations = surrogates.problem, surrogates.learnt(evaluations)
        if not any(e.outcomes.keys() & set(problem.grounds) for e in evaluations.values()):
            what = "any outcome" if problem.objective in problem.known else f"the objective {problem.objective!r}"
            raise DataError(
                f"no value of {what} was told yet: ask and tell until there is one.{_how_failed(evaluations)}"
            )
        belief, observations = surrogates.believe_afresh(evaluations)
        spread, outliers = surrogates.believe_spread(evaluations), surrogates.outliers(evaluations)
        return cls._given(surrogates, evaluations, belief, spread, observations, _places(outliers))

    @classmethod
    def of_questions(cls, surrogates: Surrogates, evaluations: Mapping[int, Evaluation]) -> "Grounds":
        """The same by the belief that questions rest on: at hand when one is decided, and as sure as it is."""
        belief, observations = surrogates.believe(evaluations)
        learnt = surrogates.learnt(evaluations)
        return cls._given(surrogates, learnt, belief, belief, observations, _places(surrogates.left_out))

    def after(self, surrogates: Surrogates, evaluations: Mapping[int, Evaluation]) -> "Grounds":
        """The same once these evaluations are known, at hyperparameters as they were: they take most of the time.

        A model of BoTorch's, which has none that are known here, stays as it was.
        """
        if not isinstance(surrogates.model, GP):
            return self
        learnt = surrogates.learnt(evaluations)
        o = surrogates.observations(evaluations, self.left_out).in_units_of(self.observations)
        with threads_for(len(learnt)):
            belief, spread = (surrogates.condition(each, o) for each in (self.belief, self.spread))
        return self._given(surrogates, learnt, belief, spread, replace(o, noise=self.observations.noise), self.left_out)

    @classmethod
    def _given(
        cls,
        surrogates: Surrogates,
        evaluations: Mapping[int, Evaluation],
        belief: Belief,
        spread: Belief,
        observations: Observations,
        left_out: frozenset[Place],
    ) -> "Grounds":
        problem = surrogates.problem
        # what was measured without noise is a fact, whether or not the model can use it
        doubted = {place for place in left_out if place[1] not in problem.declared_exact}
        points = measured_points(problem, trusted(evaluations, doubted).values())
        U = surrogates.points.stack(point.evaluations[0] for point in points).cpu()
        encode, seed, count = surrogates.points.of, surrogates.seed, len(evaluations)
        given = (problem, surrogates.space, belief, spread, observations, points, U, encode, seed, count)
        failed = tuple(e for e in evaluations.values() if _is_unlearnt_failure(problem, e))
        return cls(*given, left_out, failed, tuple(absurd(problem, evaluations.values())))

    def under(self, thresholds: Mapping[int, float]) -> "Grounds":
        """The same under other thresholds of some constraints, by their numbers."""
        constraints = list(self.problem.constraints)
        for k, threshold in thresholds.items():
            constraints[k] = replace(constraints[k], threshold=threshold)
        problem = replace(self.problem, constraints=constraints)
        conditions = conditions_of(problem, self.observations, always=True)
        return replace(self, problem=problem, belief=with_conditions(self.belief, conditions), is_hypothetical=True)

    def at(self, u: Float[Tensor, " d"]) -> MeasuredPoint | None:
        """What was measured at a point, if anything was: where most was told."""
        here = ((self.U - u).abs().amax(-1) < SAME_ANSWER).nonzero().flatten().tolist()
        return max((self.points[i] for i in here), key=lambda point: len(point.told), default=None)

    def failures_at(self, u: Float[Tensor, " d"]) -> list[Evaluation]:
        """What failed at a point, in its order."""
        return [e for e in self.failed if self.is_at(e, u)]

    def is_at(self, evaluation: Evaluation, u: Float[Tensor, " d"]) -> bool:
        """Whether an evaluation is of this point."""
        return bool((self.encode(evaluation) - u).abs().amax() < SAME_ANSWER)

    @cached_property
    def told(self) -> Told | None:
        """Where constraints surely hold or not, because it was told without noise; None if all have noise."""
        conditions = self.problem.conditions
        if not self.points or not any(condition.outcome in self.noiseless for condition in conditions):
            return None
        certain = [self.certain(point.told) for point in self.points]
        held = [[c.holds(own[c.outcome]) if c.outcome in own else None for own in certain] for c in conditions]
        columns = torch.stack([self.space.columns_of(self.problem.depends_on(c.outcome)) for c in conditions])
        holds, fails = (torch.tensor([[each is so for each in row] for row in held]) for so in (True, False))
        return Told(*(part.to(self.belief.points.device) for part in (self.U, columns, holds, fails)))

    @property
    def is_exact(self) -> bool:
        """Whether every outcome is declared to have no noise."""
        return all(self.problem.noise.get(name) == 0 for name in self.problem.outcomes)

    @cached_property
    def noiseless(self) -> frozenset[str]:
        """The outcomes that are known, that are declared to have no noise, or whose values speak for none."""
        noise = self.observations.noise.reshape(-1, len(self.problem.rows))
        is_none = (noise == 0).all(0).tolist()
        found = {name for name, none in zip(self.problem.rows, is_none, strict=True) if none}
        return frozenset(found | self.problem.known.keys() | self.problem.declared_exact) & {*self.problem.rows}

    @property
    def is_noiseless(self) -> bool:
        """Whether no outcome has any noise, by what was declared or by its values."""
        return {*self.problem.rows} & {*self.problem.outcomes} <= self.noiseless

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

    def exact_at(self, u: Float[Tensor, " d"]) -> dict[str, float]:
        """The outcomes that are certain at a point, because they were told without noise."""
        return self.certain(self.told_at(u))

    def certain(self, told: Mapping[str, float]) -> dict[str, float]:
        """What was told without noise; a yes beside a no at the same point proves nothing."""
        exact, numbers = self.noiseless, self.problem.numbers
        return {name: value for name, value in told.items() if name in exact and (name in numbers or value in (0, 1))}

    def predict(self, u: Float[Tensor, " d"]) -> Prediction:
        """What is believed there; what was measured there without noise is certain."""
        return self.predict_each(u[None])[0]

    def predict_each(self, U: Float[Tensor, "x d"]) -> list[Prediction]:
        """The same of several points, in the time of one."""
        exact = [self.exact_at(u) for u in U]
        with threads_for(self.count):
            return predictions_at(self.problem, self.space, self.belief, self.spread, self.observations, U, exact)

    def expect(self, U: Float[Tensor, "x d"], exact: Sequence[Mapping[str, float]]) -> list[Expectation]:
        """What is expected at each point; `exact` is what was measured there without noise."""
        with threads_for(self.count):
            return expectations_at(self.problem, self.belief, self.observations, U, exact)


def _places(outliers: Sequence[Outlier]) -> frozenset[Place]:
    return frozenset((each.evaluation, each.outcome) for each in outliers)


def _how_failed(evaluations: Mapping[int, Evaluation]) -> str:
    """How many evaluations failed, and how the last one did; nothing where none did."""
    failed = [e for e in evaluations.values() if e.state is State.FAILED]
    if not failed:
        return ""
    last = listed([failed[-1].id], trials_of(failed))
    return f" {counted(len(failed))} failed, the last one ({last}) with: {first_line(failed[-1].error)}."


def _is_unlearnt_failure(problem: Problem, e: Evaluation) -> bool:
    return e.state is State.FAILED and not e.is_given_up and not problem.tasks[e.task].learns_success
