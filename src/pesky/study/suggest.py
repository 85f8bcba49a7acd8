"""The next question: the initial design first, then the task and point with the most gain per cost."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.decide import (
    Decision,
    Duplicates,
    Restrictions,
    TaskOptions,
    TaskValues,
    excluded_regions,
    select,
    select_optimum,
    values_at_optima,
)
from pesky.errors import DataError
from pesky.model.belief import Belief
from pesky.model.surrogate import GP
from pesky.numerics.rng import question_seed, source_of
from pesky.numerics.runtime import threads_for
from pesky.observations import Observations
from pesky.optimum.assessment import assess
from pesky.problem import Option
from pesky.run.budget import Exhausted
from pesky.run.spending import affordable
from pesky.space.region import Region
from pesky.store import Evaluation, Limit, Question
from pesky.store.evaluation import told_by
from pesky.study.confirm import IMPROVING, allowance, confirming_question, early_question
from pesky.study.design import InitialDesign
from pesky.study.explain import reasons
from pesky.study.grounds import Grounds
from pesky.study.limits import Request, check_worth, in_vain, tasks_left, too_improbable
from pesky.study.noise import as_reasons as noise_as_reasons
from pesky.study.noise import noiseless
from pesky.study.outliers import as_reasons
from pesky.study.pending import Answered, answered, pending, settled
from pesky.study.recommend import recommendation_from
from pesky.study.recommendation import Recommendation
from pesky.study.reconsider import is_among, is_mostly_left
from pesky.study.surrogates import DataKey, Surrogates, data_key
from pesky.study.task_options import task_options
from pesky.study.time_budget import Level, TimeBudget
from pesky.study.untried import untried_question

MAX_RETRIES = 5
"""How often who asks decides again because others asked meanwhile what leaves the question little to tell, before any
question will do that is not one of theirs; and for no longer than the longest of these decisions took."""
WITHOUT_SOLUTION = 0.8
"""The share of functions without a feasible point from which on every other question is where there may be one."""
ROUNDING = 1e-6
"""How far below its least the logarithm of a probability may be: an ascent ends a rounding error outside."""
SEEKING = "seeking"
"""What such a question says of itself."""


class Full(NamedTuple):
    """What the last full decision was made of, and what later ones save by starting from it."""

    data: DataKey
    observations: Observations
    context: Context
    acquisition: AcquisitionFunction
    at_optima: dict[tuple[str, ...], Tensor]
    """What each set of tasks is worth at the samples of x*, once it was needed."""


class Suggester:
    """What to ask next given all evaluations; remembers only to be faster.

    With a `deciding_share`, deciding takes no more than so many times the time of measuring. When a full analysis
    cannot be afforded, the last one is updated with the new data at unchanged hyperparameters, x* samples and EP sites
    (METHOD 20.2), and when that cannot be either, the question is one of its x* samples, as in Thompson sampling.
    """

    def __init__(
        self,
        surrogates: Surrogates,
        rule: Rule,
        initial: int,
        min_probability: float | None = None,
        deciding_share: float | None = None,
        confirming_share: float = 0.0,
    ) -> None:
        self.problem, self.space, self.seed = surrogates.problem, surrogates.space, surrogates.seed
        self.surrogates, self.rule, self.min_probability = surrogates, rule, min_probability
        self.region = Region.of(self.problem, self.space)
        self.design = InitialDesign(self.problem, self.space, self.region, initial, self.seed)
        self.time_budget, self.confirming_share = TimeBudget(deciding_share), confirming_share if rule.learns else 0.0
        self.decision: Decision | None = None
        """How the last question was chosen; None for the initial design."""
        self._full: Full | None = None
        self._early: tuple[Grounds, Recommendation] | None = None
        self._why: dict[str, object] | None = None
        """Why the last question was chosen."""
        self._known: Mapping[int, Evaluation] = {}
        """What the last question was decided on."""
        self._seconds: list[float] = []
        """How long the last question was decided, and every time that it was decided again."""

    def suggest(self, evaluations: Mapping[int, Evaluation], request: Request, *, is_retry: bool = False) -> Question:
        """The best question that is requested; `Exhausted` if there is none, or none worth its price.

        `is_retry` if it takes the place of the last one, which is not kept.
        """
        with self._timed(is_retry):
            self.decision, self._known = None, evaluations
            fitting = affordable(request.tasks, evaluations, self.problem, request.limit)
            learnt = self.surrogates.learnt(evaluations)
            known = answered(self.problem, self.space, learnt.values(), request.tasks)
            wanted = tasks_left(self.problem, self._size, request.tasks, evaluations, self._inside(known))
            tasks = tuple(task for task in wanted if task in fitting)
            if not tasks:
                raise in_vain(request.limit)
            self.surrogates.check_known()
            self._check_begun(learnt)
            is_allowed = partial(self._is_probable, evaluations)
            if (first := self.design.next(learnt, tasks, known, is_allowed)) is not None:
                return replace(first, why={"kind": "initial"})
            if self.confirming_share and not request.confirm:
                untried = untried_question(self.problem, self.space, self.region, learnt, tasks, is_allowed)
                if untried is not None:
                    return untried
            if (confirming := self._confirming(evaluations, tasks, request.confirm, is_retry)) is not None:
                # an early question rests on the belief of questions, which is at hand
                left_out = self.surrogates.outliers(evaluations) if request.confirm else self.surrogates.left_out
                return replace(confirming, why={**(confirming.why or {}), **as_reasons(left_out)})
            self.decision = best = self.decide(evaluations, tasks, known, is_retry)
            check_worth(best, request, is_all=len(tasks) == len(wanted))
            gain = None if best.gain is None else float(best.gain)
            why = {**(self._why or {}), **as_reasons(self.surrogates.left_out)}
            params = self._params_of(best)
            if not is_allowed(params):
                raise too_improbable(self.min_probability)
            return Question(tasks[int(best.task)], params, gain, float(best.price), why)

    def _check_begun(self, learnt: Mapping[int, Evaluation]) -> None:
        """Raise DataError if nothing is known that the first question could rest on."""
        if self.min_probability is not None:
            told = {name for e in learnt.values() for name in told_by(e, self.problem)} | self.problem.known.keys()
            if missing := [c.outcome for c in self.problem.conditions if c.outcome not in told]:
                raise DataError(
                    f"min_probability was {self.min_probability:g}, and no value of {missing[0]!r} is known: no point "
                    "can be called probably feasible. Add a measured point with `study.add(params, outcomes)` or "
                    "`pesky import`, or leave min_probability out."
                )
        if not self.design.count and self.rule.learns and not any(e.outcomes for e in learnt.values()):
            raise DataError(
                "initial was 0, and nothing is measured: add data of your own with `study.add(params, outcomes)` or "
                "`pesky import`, or let `initial` be 1 or more."
            )

    def _is_probable(self, evaluations: Mapping[int, Evaluation], params: Mapping[str, Option]) -> bool:
        """Whether all constraints hold at a point with the probability that every question must have."""
        if self.min_probability is None:
            return True
        belief, _ = self.surrogates.believe(evaluations)
        confidence = torch.tensor(self.problem.confidences, dtype=torch.float64)
        with torch.no_grad():
            u = self.space.encode(params)[None].to(belief.points)
            return float(assess(belief, u, confidence).log_feasible) >= math.log(self.min_probability) - ROUNDING

    def _confirming(
        self, evaluations: Mapping[int, Evaluation], tasks: Sequence[str], is_requested: bool, is_retry: bool
    ) -> Question | None:
        """What is left to measure at the point that would be recommended, if it is time for that."""
        learnt = self.surrogates.learnt(evaluations)
        if not any(e.outcomes.keys() & set(self.problem.grounds) for e in learnt.values()):
            return None
        if is_requested:
            return confirming_question(Grounds.of(self.surrogates, learnt), learnt, tasks, self.min_probability)
        level = self._level(data_key(evaluations), is_retry)
        if level != "full" or not (most := allowance(evaluations, self.problem, self.confirming_share)):
            return None
        with self.time_budget.time(level):
            improving = partial(self._improving, evaluations, tasks)
            answer = self._early_answer(evaluations)
            found = early_question(*answer, learnt, tasks, self.min_probability, improving)
        return found if found is not None and found.price <= most else None

    def _early_answer(self, evaluations: Mapping[int, Evaluation]) -> tuple[Grounds, Recommendation]:
        """What would be recommended by the belief that questions rest on: the same for as long as nothing is told."""
        belief, _ = self.surrogates.believe(evaluations)
        if self._early is None or self._early[0].belief is not belief:
            grounds = Grounds.of_questions(self.surrogates, evaluations)
            self._early = grounds, recommendation_from(grounds)
        return self._early

    def _improving(self, evaluations: Mapping[int, Evaluation], tasks: Sequence[str]) -> Question | None:
        """Where a better measured point is most to be expected: expected improvement with constraints."""
        known = answered(self.problem, self.space, self.surrogates.learnt(evaluations).values(), tasks)
        generator = source_of(question_seed(self.seed, len(evaluations) + 1))
        with threads_for(len(evaluations)):
            context = self._context(self.surrogates.believe(evaluations)[0], evaluations, generator)
            values = TaskValues.of(context, ExpectedImprovement(), self._options(evaluations, tasks))
            best = select(values, self._allowed(context, evaluations, tasks, known))
        params = self._params_of(best)
        if not self._is_probable(evaluations, params):
            return None
        return Question(tasks[int(best.task)], params, None, float(best.price), {"kind": IMPROVING})

    def _options(self, evaluations: Mapping[int, Evaluation], tasks: Sequence[str]) -> TaskOptions:
        return task_options(self.problem, self.surrogates.points, self.surrogates.learnt(evaluations), tasks)

    def _allowed(
        self, context: Context, evaluations: Mapping[int, Evaluation], tasks: Sequence[str], known: Answered
    ) -> Restrictions:
        """Where each task may be asked."""
        asked = self.surrogates.points.stack(self.surrogates.learnt(evaluations).values())
        excluded = excluded_regions(context.belief, context.confidence, asked)
        return Restrictions(self.min_probability, excluded, self._duplicates(tasks, known))

    @contextmanager
    def _timed(self, is_retry: bool) -> Iterator[None]:
        began, self._seconds = time.monotonic(), self._seconds if is_retry else []
        yield
        self._seconds.append(time.monotonic() - began)

    def reconsider(self, question: Question, evaluations: Mapping[int, Evaluation], request: Request) -> Question:
        """The last question, if it is still good beside what was asked and told since; else another."""
        if self.is_still_good(question, evaluations, request.limit):
            return question
        return self.suggest(evaluations, request, is_retry=True)

    def is_still_good(self, question: Question, evaluations: Mapping[int, Evaluation], limit: Limit) -> bool:
        """Whether the last question is none of those that others asked since, and these leave it most of its gain.

        After several retries the latter does not matter any more.
        """
        if self.decision is None or self._full is None:
            return False  # a question of the initial design
        try:
            affordable((question.task,), evaluations, self.problem, limit)
        except Exhausted:
            return False
        learnt = self.surrogates.learnt(evaluations)
        points = answered(self.problem, self.space, learnt.values(), (question.task,))[question.task]
        if self.problem.place_of(question.task, question.params) in points:
            return False
        others = [e for id_, e in learnt.items() if id_ not in self._known]
        if is_among(question, others, self.surrogates.points, self._columns(question.task)):
            return False
        is_patient = len(self._seconds) <= MAX_RETRIES and sum(self._seconds) <= 2 * max(self._seconds)
        belief = self._full.context.belief
        return not is_patient or is_mostly_left(question, others, belief, self.problem, self.surrogates.points)

    def decide(
        self, evaluations: Mapping[int, Evaluation], tasks: Sequence[str], known: Answered, is_retry: bool
    ) -> Decision:
        """The best of these tasks; `is_retry` if others asked or told something while the last was decided."""
        data, full = data_key(evaluations), self._full
        generator = source_of(question_seed(self.seed, len(evaluations) + 1))
        with threads_for(len(data)), self.time_budget.time(level := self._level(data, is_retry)):
            options = self._options(evaluations, tasks)
            if full is not None and level == "thompson":
                values = TaskValues(full.context, self.rule, full.acquisition, options)
                if tuple(tasks) not in full.at_optima:
                    full.at_optima[tuple(tasks)] = values_at_optima(values)
                asked = self.surrogates.points.stack(self.surrogates.learnt(evaluations).values())
                allowed = Restrictions(self.min_probability, None, self._duplicates(tasks, known))
                best = select_optimum(values, full.at_optima[tuple(tasks)], asked, generator, allowed)
                self._why = {"kind": level, "rule": self.rule.name}  # there is no time for more
                return best
            context, acquisition = self._acquisition(level, evaluations, generator)
            is_quick = full is not None and (
                (level == "update" and (is_retry or full.data != data)) or _is_same(acquisition, full.acquisition)
            )
            values, kind = TaskValues(context, self.rule, acquisition, options), str(level)
            if len(evaluations) % 2 and self._is_without_solution(acquisition):
                values, kind = TaskValues.of(context, ExpectedImprovement(), options), SEEKING
            best = select(values, self._allowed(context, evaluations, tasks, known), is_quick=is_quick)
            assert self._full is not None
            noise = noise_as_reasons(self.problem, self._full.context.belief, self._full.observations)
            self._why = {**reasons(values, best, tasks, kind), **noise}
            return best

    def _is_without_solution(self, acquisition: AcquisitionFunction) -> bool:
        """Whether hardly a function that fits the data has a feasible point, so that no rule can look for the best.

        Then every other question is where all constraints most probably hold.
        """
        optima = acquisition.optima if self.confirming_share and len(self.problem.tasks) == 1 else None
        return optima is not None and optima.infeasible_share > WITHOUT_SOLUTION

    def values(self, evaluations: Mapping[int, Evaluation]) -> TaskValues:
        """What each task of the problem is worth given these evaluations, as a full decision computes it."""
        generator = source_of(question_seed(self.seed, len(evaluations) + 1))
        with threads_for(len(evaluations)):
            context, acquisition = self._acquisition("full", evaluations, generator)
        return TaskValues(context, self.rule, acquisition, self._options(evaluations, tuple(self.problem.tasks)))

    def _level(self, data: DataKey, is_retry: bool) -> Level:
        """How thorough the next decision can be; a rule without samples of x* has none to draw from.

        Who decides again is in haste: what is decided meanwhile makes it decide once more. Eight processes that ask all
        the time took 0.38 s of the processor for each of 200 questions when they did it in full, and 0.25 s so.
        """
        is_gp = isinstance(self.surrogates.model, GP)
        if self._full is None or not (is_gp or (is_retry and self._full.data == data)):
            return "full"
        level = "update" if is_retry else self.time_budget.level()
        is_free = self._full.acquisition.optima is not None and self.min_probability is None
        return "update" if level == "thompson" and not is_free else level

    def _acquisition(
        self, level: Level, evaluations: Mapping[int, Evaluation], generator: torch.Generator
    ) -> tuple[Context, AcquisitionFunction]:
        """What measuring is worth, as of now: computed anew, or from where the last full decision left it."""
        data, full = data_key(evaluations), self._full
        if full is None or level == "full":
            belief, observations = self.surrogates.believe(evaluations)
            context = self._context(belief, evaluations, generator)
            if full is not None and full.context.belief is belief:
                return context, self.rule.once_more(full.acquisition, context)
            acquisition = self.rule.acquisition(context)
            self._full = Full(data, observations, context, acquisition, {})
            return context, acquisition
        belief = full.context.belief
        if full.data != data:
            belief = self.surrogates.condition(
                belief, self.surrogates.observations_like(full.observations, evaluations)
            )
        context = self._context(belief, evaluations, generator)
        return context, self.rule.update(full.acquisition, context)

    def _context(self, belief: Belief, evaluations: Mapping[int, Evaluation], generator: torch.Generator) -> Context:
        confidence = torch.tensor(self.problem.confidences, dtype=torch.float64)
        learnt = self.surrogates.learnt(evaluations)
        awaited = pending(self.problem, self.surrogates.points, learnt.values())
        held = settled(self.problem, self.surrogates.points, learnt.values(), noiseless(self.problem, belief))
        return Context(belief, self.space, confidence, generator, awaited, len(evaluations), self.seed, held)

    def _params_of(self, best: Decision) -> dict[str, Option]:
        """The point of a decision, in the problem's own units."""
        return self.space.decode(best.u if self.region is None else self.region.nearest(best.u))

    def _duplicates(self, tasks: Sequence[str], known: Answered) -> Duplicates | None:
        """Where each of the tasks need not, or must not, be asked; None where all may be asked anywhere."""
        points = tuple(self.surrogates.points.stack(known[task].values()) for task in tasks)
        is_needed = any(map(len, points)) or self.region is not None
        columns = tuple(self._columns(task) for task in tasks)
        return Duplicates(self.space, points, self.region, columns) if is_needed else None

    def _columns(self, task: str) -> Bool[Tensor, " d"]:
        """Those that a task depends on."""
        return self.space.columns_of(self.problem.tasks[task].parameters or self.problem.parameters)

    def _size(self, task: str) -> int | None:
        """How many different questions of a task there are; None where they cannot be counted."""
        own = self.problem.tasks[task].parameters
        if own is not None:
            return self.space.size_of(own)
        return self.space.size if self.region is None else self.region.size

    def _inside(self, known: Answered) -> Answered:
        """What is answered where the constraints on parameters hold; data of the user's own may break them."""
        if self.region is None or self.region.size is None:
            return known
        inside = {}
        for task, points in known.items():
            holds = self.region.contains(self.surrogates.points.stack(points.values())).tolist() if points else []
            inside[task] = {point: points[point] for point, each in zip(points, holds, strict=True) if each}
        return inside


def _is_same(acquisition: AcquisitionFunction, before: AcquisitionFunction) -> bool:
    """Whether both are of the same samples of x*, so that a search that starts from these need not be as thorough."""
    return acquisition.optima is not None and acquisition.optima is before.optima
