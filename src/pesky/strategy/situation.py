"""What a step may look at: what is known, what is requested, and, once a step needs it, what the rule makes of that."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.answer.recommend import recommendation_from
from pesky.answer.recommendation import Recommendation
from pesky.data.outliers import Outlier
from pesky.data.snapshot import Answered, DataKey, Snapshot
from pesky.inference.inference import Inference
from pesky.inference.inferred import Inferred
from pesky.inference.noise import as_reasons
from pesky.model.surrogate import GP
from pesky.numerics.rng import question_seed, source_of
from pesky.optimum.assessment import assess
from pesky.problem import Option, Problem
from pesky.space import Space
from pesky.space.region import Region
from pesky.store import Evaluation
from pesky.strategy.facts import reasons
from pesky.strategy.limits import Request, check_worth, too_improbable
from pesky.strategy.masks import Duplicates, Masks
from pesky.strategy.query import Query, Reason
from pesky.strategy.schedule import Level, TimeBudget
from pesky.strategy.select import Decision, select
from pesky.strategy.task_options import task_options
from pesky.strategy.task_values import TaskOptions, TaskValues

ROUNDING = 1e-6
"""How far below its least the logarithm of a probability may be: an ascent ends a rounding error outside."""


class Full(NamedTuple):
    """What the last full decision was made of, and what later ones save by starting from it."""

    inferred: Inferred
    context: Context
    acquisition: AcquisitionFunction
    at_optima: dict[tuple[str, ...], Tensor]
    """What each set of tasks is worth at the samples of x*, once it was needed."""


@dataclass
class Last:
    """The last query, and what the next one may start from: it is remembered only to be faster."""

    full: Full | None = None
    answer: tuple[DataKey, Recommendation] | None = None
    decision: Decision | None = None
    """How it was chosen; None where no rule was asked."""
    known: Mapping[int, Evaluation] = field(default_factory=dict)
    """What it was decided on."""
    seconds: list[float] = field(default_factory=list)
    """How long it was decided, and every time that it was decided again."""


@dataclass(frozen=True, eq=False)
class Situation:
    """All that a step may look at."""

    snapshot: Snapshot
    request: Request
    tasks: tuple[str, ...]
    """Those that may be asked: they have a point left, and can be afforded."""
    inference: Inference
    rule: Rule
    region: Region | None
    """Where constraints on parameters hold; everywhere if None."""
    min_probability: float | None
    schedule: TimeBudget
    last: Last
    unaffordable: tuple[str, ...] = ()
    """Other tasks that are left, which what is left of the limit does not pay for."""
    is_retry: bool = False
    """Whether the query takes the place of the last one, which is not kept."""

    @property
    def problem(self) -> Problem:
        """What the study asks."""
        return self.snapshot.problem

    @property
    def space(self) -> Space:
        """Where its parameters are."""
        return self.snapshot.space

    @property
    def evaluations(self) -> Mapping[int, Evaluation]:
        """All that the study keeps."""
        return self.snapshot.evaluations

    @property
    def learnt(self) -> Mapping[int, Evaluation]:
        """Those that something is learnt from."""
        return self.snapshot.learnt

    @cached_property
    def answered(self) -> Answered:
        """For each task the points where to ask it would tell nothing."""
        return self.snapshot.answered(self.request.tasks)

    # -- what may be asked -------------------------------------------------------------------------------------------

    def is_allowed(self, params: Mapping[str, Option]) -> bool:
        """Whether all constraints hold at a point with the probability that every query must have."""
        if self.min_probability is None:
            return True
        belief = self.inferred.belief
        with torch.no_grad():
            u = self.space.encode(params)[None].to(belief.points)
            return float(assess(belief, u, self._confidence).log_feasible) >= math.log(self.min_probability) - ROUNDING

    def is_inside(self, params: Mapping[str, Option]) -> bool:
        """Whether a point is within all bounds, and constraints on parameters hold there."""
        if not self.space.contains(params):
            return False
        return self.region is None or bool(self.region.contains(self.space.encode(params)[None]))

    @cached_property
    def duplicates(self) -> Duplicates | None:
        """Where each of the tasks need not, or must not, be asked; None where all may be asked anywhere."""
        points = tuple(self.snapshot.points.stack(self.answered[task].values()) for task in self.tasks)
        is_needed = any(map(len, points)) or self.region is not None
        columns = tuple(self.columns(task) for task in self.tasks)
        return Duplicates(self.space, points, self.region, columns) if is_needed else None

    @property
    def masks(self) -> Masks:
        """Where each task may be asked."""
        return Masks(self.min_probability, self.duplicates)

    def columns(self, task: str) -> Bool[Tensor, " d"]:
        """Those that a task depends on."""
        return self.space.columns_of(self.problem.tasks[task].parameters or self.problem.parameters)

    # -- what is inferred, and answered ------------------------------------------------------------------------------

    @cached_property
    def inferred(self) -> Inferred:
        """What all measurements support."""
        return self.inference.of(self.snapshot)

    @property
    def is_decided(self) -> bool:
        """Whether any step looked at more than the data."""
        return bool({"inferred", "level"} & vars(self).keys())

    @property
    def left_out(self) -> tuple[Outlier, ...]:
        """The values that were not believed, if any step looked at what is."""
        return self.inference.left_out if self.is_decided or self.request.confirm else ()

    @cached_property
    def answer(self) -> Recommendation:
        """What would be recommended now, with hyperparameters as sure as queries take them to be."""
        if self.last.answer is None or self.last.answer[0] != self.snapshot.key:
            self.last.answer = self.snapshot.key, recommendation_from(self.quick)
        return self.last.answer[1]

    @cached_property
    def quick(self) -> Inferred:
        """The same as `inferred`, without the time that uncertain hyperparameters take."""
        return replace(self.inferred, make_spread=self.inferred.make_belief)

    # -- what the rule makes of it -----------------------------------------------------------------------------------

    @cached_property
    def level(self) -> Level:
        """How thorough the decision can be; a rule without samples of x* has none to draw from.

        Retries use the cheaper level: what is decided meanwhile makes them decide once more. Eight processes that ask
        all the time took 0.38 s of the processor for each of 200 questions when they did it in full, and 0.25 s so.
        """
        full = self.last.full
        is_gp = isinstance(self.inference.model, GP)
        if full is None or not (is_gp or (self.is_retry and full.inferred.snapshot.key == self.snapshot.key)):
            return "full"
        level = "update" if self.is_retry else self.schedule.level()
        is_free = full.acquisition.optima is not None and self.min_probability is None
        return "update" if level == "thompson" and not is_free else level

    @cached_property
    def options(self) -> TaskOptions:
        """The tasks, as the rows that they tell of and what they cost."""
        return task_options(self.snapshot, self.tasks)

    @cached_property
    def values(self) -> TaskValues:
        """What each task is worth to the rule, at the level that can be afforded."""
        context, acquisition = self._analysis
        return TaskValues(context, self.rule, acquisition, self.options)

    @cached_property
    def best(self) -> Decision:
        """The query that the rule finds worth most for its price."""
        before = self._before
        is_same_data = before is not None and before.inferred.snapshot.key == self.snapshot.key
        is_quick = before is not None and (
            (self.level == "update" and (self.is_retry or not is_same_data))
            or _is_same(self.values.acquisition, before.acquisition)
        )
        return select(self.values, self.masks, is_quick=is_quick)

    @cached_property
    def _before(self) -> Full | None:
        """What the last full decision was made of, before this one is."""
        return self.last.full

    @cached_property
    def _analysis(self) -> tuple[Context, AcquisitionFunction]:
        """What measuring is worth, as of now: computed anew, or from where the last full decision left it."""
        full = self._before
        if full is None or self.level == "full":
            context = self.context()
            if full is not None and full.context.belief is context.belief:
                return context, self.rule.once_more(full.acquisition, context)
            acquisition = self.rule.acquisition(context)
            self.last.full = Full(self.inferred, context, acquisition, {})
            return context, acquisition
        inferred = full.inferred
        if inferred.snapshot.key != self.snapshot.key:
            o = self.inference.observations_like(inferred.observations, self.snapshot)
            belief = self.inference.condition(full.context.belief, o)
            inferred = replace(inferred, snapshot=self.snapshot, make_belief=lambda: belief)
        context = self.context(inferred)
        return context, self.rule.update(full.acquisition, context)

    def context(self, inferred: Inferred | None = None) -> Context:
        """What a rule looks at, with random numbers of this query alone."""
        found = self.inferred if inferred is None else inferred
        count, seed, awaited = len(self.evaluations), self.inference.seed, self.snapshot.pending
        given = (found.belief, self.space, self._confidence, self.generator(), awaited, count, seed, found.facts)
        return Context(*given)

    def by_improvement(self, context: Context) -> tuple[TaskValues, Decision]:
        """Where a better point is most to be expected: expected improvement with constraints."""
        values = TaskValues.of(context, ExpectedImprovement(), self.options)
        return values, select(values, self.masks)

    def generator(self) -> torch.Generator:
        """The random numbers of this query alone."""
        return source_of(question_seed(self.inference.seed, len(self.evaluations) + 1))

    @property
    def _confidence(self) -> Tensor:
        return torch.tensor(self.problem.confidences, dtype=torch.float64)

    # -- queries -----------------------------------------------------------------------------------------------------

    def query(self, values: TaskValues, decision: Decision, kind: str) -> Query:
        """The query of a decision, with what its values were; `Exhausted` if it is not worth its price."""
        check_worth(decision, self.request, is_all=not self.unaffordable)
        assert self.last.full is not None
        inferred = self.last.full.inferred
        noise = as_reasons(self.problem, inferred.belief, inferred.observations)
        facts = {**reasons(values, decision, self.tasks), **noise}
        if self.unaffordable:
            facts["unaffordable"] = list(self.unaffordable)
        self.last.decision = decision
        return self.query_at(decision, Reason(kind, facts))

    def query_at(self, decision: Decision, reason: Reason) -> Query:
        """The query of a decision; `Exhausted` if it is not probable enough that constraints hold there."""
        params = self.params_of(decision)
        if not self.is_allowed(params):
            raise too_improbable(self.min_probability)
        gain = None if decision.gain is None else float(decision.gain)
        return Query(self.tasks[int(decision.task)], params, float(decision.price), reason, gain)

    def params_of(self, best: Decision) -> dict[str, Option]:
        """The point of a decision, in the problem's own units."""
        return self.space.decode(best.u if self.region is None else self.region.nearest(best.u))


def _is_same(acquisition: AcquisitionFunction, before: AcquisitionFunction) -> bool:
    """Whether both are of the same samples of x*, so that a search that starts from these need not be as thorough."""
    return acquisition.optima is not None and acquisition.optima is before.optima
