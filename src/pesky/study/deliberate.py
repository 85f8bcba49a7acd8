"""From what was measured to what is believed, and to the next question: in full, or as far as time allows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from botorch.models.model import Model
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import Context, Rule
from pesky.acquire.fantasy import Pending
from pesky.decide import (
    Analysis,
    Decision,
    Duplicates,
    TaskOptions,
    analyze,
    choose,
    draw,
    excluded_regions,
    update,
    worth_at_optima,
)
from pesky.model.belief import Belief
from pesky.model.botorch import BotorchBelief
from pesky.model.cost import learn_costs
from pesky.model.exact import with_known, without_known
from pesky.model.gp import GaussianProcess
from pesky.model.surrogate import GP
from pesky.numerics.runtime import threads_for
from pesky.observations import Observations, collect
from pesky.problem import Option, Problem
from pesky.problem.problem import SUCCEEDS
from pesky.space import Space
from pesky.space.exact import Exact, exact_outcomes
from pesky.store import Evaluation, State
from pesky.study.time_budget import Level, TimeBudget

FitBotorch = Callable[[list[tuple[Tensor, Tensor]]], Model]
"""A function that fits a BoTorch model; see `Study`."""

DataKey = tuple[tuple[int, int, bool], ...]
"""What identifies the data: the evaluations that told something, how much, and whether they failed."""


class Full(NamedTuple):
    """A full analysis, and what later ones save by starting from it."""

    known: DataKey
    analysis: Analysis
    observations: Observations
    per_cost: dict[tuple[str, ...], Tensor]
    """What each set of tasks is worth at the samples of x*, once it was needed."""


class Deliberation:
    """What is believed of the evaluations so far, and which question follows; remembers only to be faster.

    With a `share`, deciding takes no more than so many times the time of measuring. When a full analysis cannot be
    afforded, the last one is updated with the new data at unchanged hyperparameters, x* samples and EP sites (METHOD
    20.2), and when that cannot be either, the question is one of its x* samples.
    """

    def __init__(
        self, problem: Problem, space: Space, model: GP | FitBotorch, rule: Rule, seed: int, share: float | None
    ) -> None:
        self.problem, self.space, self.model, self.rule, self.seed = problem, space, model, rule, seed
        self.pace = TimeBudget(share)
        self._belief: tuple[DataKey, Belief, Observations] | None = None
        self._previous = None
        self._full: Full | None = None
        self._encoded: dict[int, Tensor] = {}

    def check_known(self) -> None:
        """Nothing, or a ProblemError if a known outcome's function does not work: before anything is measured."""
        for outcome in self._exact.values():
            _ = outcome.spread

    def believe(self, evaluations: Mapping[int, Evaluation]) -> tuple[Belief, Observations]:
        """The belief that all measurements support, hyperparameters refitted."""
        known = _data_key(evaluations)
        if self._belief is None or self._belief[0] != known:
            o = self.observations(evaluations)
            with threads_for(len(known)):
                self._belief = known, self._fit(o, len(known)), o
        return self._belief[1:]

    def _fit(self, o: Observations, count: int) -> Belief:
        snap = None if self.space.is_continuous else self.space.snap
        measured = self._measured(o)
        if isinstance(self.model, GP):
            generator = torch.Generator().manual_seed(self.seed + count)
            names = tuple(name for name in self.problem.rows if name not in self.problem.known)
            belief = self.model.believe(measured, names, snap, self._previous, generator)
            self._previous = belief.hyperparameters
        else:
            rows = [(x[m], y[m][:, None]) for x, y, m in zip(measured.X, measured.y, measured.mask, strict=True)]
            feasible = dict.fromkeys(range(1, len(rows)), (0.0, None))
            belief = BotorchBelief.of(self.model(rows), 0, False, feasible, snap=snap)
        return with_known(belief, o, self.problem.rows, self._exact, snap)

    def _measured(self, o: Observations) -> Observations:
        """The observations of the rows that are not known."""
        return o.select(torch.tensor([name not in self.problem.known for name in self.problem.rows]))

    @cached_property
    def _exact(self) -> dict[str, Exact]:
        """The known outcomes, with what was found out about their functions."""
        return exact_outcomes(self.problem, self.space)

    def observations(self, evaluations: Mapping[int, Evaluation]) -> Observations:
        """Everything measured, per row, in scaled units; a task's success is measured by running it."""
        told = []
        for e in evaluations.values():
            values: dict[str, float] = dict(e.outcomes)
            is_learnt = self.problem.tasks[e.task].failures == "learn" and not e.is_given_up
            if is_learnt and e.state in (State.DONE, State.FAILED):
                values[SUCCEEDS.format(e.task)] = float(e.state is State.DONE)
            if values:
                told.append((self._encode(e), values))
        return collect(self.problem, self.space, told, self._exact)

    def decide(
        self,
        evaluations: Mapping[int, Evaluation],
        tasks: Sequence[str],
        generator: torch.Generator,
        min_probability: float | None,
        is_retry: bool,
    ) -> Decision:
        """The next question of these tasks; `is_retry` if others asked or told something while the last was decided."""
        known, full = _data_key(evaluations), self._full
        with threads_for(len(known)), self.pace.time(level := self._level(known, is_retry)):
            task_options = self._menu(evaluations, tasks)
            asked = torch.stack([self._encode(e) for e in evaluations.values()])
            duplicates = self._settled(evaluations, tasks)
            if full is not None and level == "draw":
                if tuple(tasks) not in full.per_cost:
                    full.per_cost[tuple(tasks)] = worth_at_optima(full.analysis, task_options)
                at_optima = full.per_cost[tuple(tasks)]
                return draw(full.analysis, task_options, at_optima, asked, generator, min_probability, duplicates)
            if full is not None and level == "update":
                is_same = full.known == known
                belief = full.analysis.context.belief if is_same else self._condition(full, evaluations)
                analysis = update(full.analysis, self._scene(belief, evaluations, generator))
                analysis = analysis._replace(is_full=is_same and not is_retry)
            else:
                belief, o = self.believe(evaluations)
                analysis = analyze(self.rule, self._scene(belief, evaluations, generator))
                self._full = Full(known, analysis, o, {})
            context = analysis.context
            excluded = excluded_regions(context.belief, context.confidence, asked)
            return choose(analysis, task_options, min_probability, excluded, duplicates)

    def _level(self, known: DataKey, is_retry: bool) -> Level:
        """How thorough the next decision can be; a rule without samples of x* has none to draw from.

        Who decides again is in haste: what is decided meanwhile makes it decide once more. Eight processes that ask all
        the time took 0.38 s of the processor for each of 200 questions when they did it in full, and 0.25 s so.
        """
        if self._full is None or not (isinstance(self.model, GP) or (is_retry and self._full.known == known)):
            return "full"
        level = "update" if is_retry else self.pace.level()
        return "update" if level == "draw" and self._full.analysis.acquisition.optima is None else level

    def _scene(self, belief: Belief, evaluations: Mapping[int, Evaluation], generator: torch.Generator) -> Context:
        confidence = torch.tensor(self.problem.confidences, dtype=torch.float64)
        pending = self.pending(evaluations)
        return Context(belief, self.space, confidence, generator, pending, len(evaluations), self.seed)

    def _condition(self, full: Full, evaluations: Mapping[int, Evaluation]) -> Belief:
        """The belief given all measurements, at the hyperparameters and in the units of the full analysis."""
        assert isinstance(self.model, GP)
        before = without_known(full.analysis.context.belief)
        assert isinstance(before, GaussianProcess)
        o = self.observations(evaluations).in_units_of(full.observations)
        snap = None if self.space.is_continuous else self.space.snap
        belief = self.model.condition(self._measured(o), before.hyperparameters, snap)
        return with_known(belief, o, self.problem.rows, self._exact, snap)

    def _encode(self, e: Evaluation) -> Float[Tensor, " d"]:
        if e.id not in self._encoded:
            self._encoded[e.id] = self.space.encode(e.params)
        return self._encoded[e.id]

    def pending(self, evaluations: Mapping[int, Evaluation]) -> Pending | None:
        """Points where a result is awaited, with the rows still to come.

        A failure whose reason is not learnt counts too: it told nothing, and would be asked again and again.
        """
        points, rows = [], []
        for e in evaluations.values():
            is_awaited = e.is_open or e.state is State.LOST
            is_mute = e.state is State.FAILED and (self.problem.tasks[e.task].failures == "record" or e.is_given_up)
            missing = set(self.problem.informs(e.task)) - e.outcomes.keys()
            if missing and (is_awaited or is_mute):
                points.append(self._encode(e))
                rows.append([name in missing for name in self.problem.rows])
        return Pending(torch.stack(points), torch.tensor(rows)) if points else None

    def _settled(self, evaluations: Mapping[int, Evaluation], tasks: Sequence[str]) -> Duplicates | None:
        """Where each of the tasks need not be asked again; None where none of them measures without noise."""
        each = [duplicates(self.problem, evaluations, task).values() for task in tasks]
        none = torch.zeros(0, self.space.dim, dtype=torch.float64)
        points = [torch.stack([self._encode(e) for e in found]) if found else none for found in each]
        return Duplicates(self.space, tuple(points)) if any(each) else None

    @property
    def last_belief(self) -> Belief | None:
        """The belief of the last full analysis."""
        return None if self._full is None else self._full.analysis.context.belief

    def points(self, asked: Iterable[Evaluation]) -> Pending:
        """Where these measure, and which rows."""
        each = list(asked)
        rows = [{*self.problem.informs(e.task), *e.outcomes} for e in each]
        return Pending(
            torch.stack([self._encode(e) for e in each]),
            torch.tensor([[name in told for name in self.problem.rows] for told in rows]),
        )

    def _menu(self, evaluations: Mapping[int, Evaluation], names: Sequence[str]) -> TaskOptions:
        """The tasks of these names, as rows and prices; rows that share an outcome share its gain."""
        rows, tasks = self.problem.rows, [self.problem.tasks[name] for name in names]
        shares = [[float(row in task.outcomes) / rows.count(row) for row in rows] for task in tasks]
        success = [SUCCEEDS.format(name) for name in names]
        given = [None if task.cost == "measured" else task.cost for task in tasks]
        durations = [self._durations(evaluations, name) for name in names]
        snap = None if self.space.is_continuous else self.space.snap
        return TaskOptions(
            torch.tensor(shares, dtype=torch.float64),
            tuple(rows.index(name) if name in rows else None for name in success),
            learn_costs(given, durations, snap),
        )

    def _durations(
        self, evaluations: Mapping[int, Evaluation], task: str
    ) -> tuple[Float[Tensor, "n d"], Float[Tensor, " n"]]:
        """Where a task of measured cost was run, and how long it took."""
        timed = [e for e in evaluations.values() if e.task == task and e.state is State.DONE and e.seconds is not None]
        if self.problem.tasks[task].cost != "measured" or not timed:
            return torch.zeros(0, self.space.dim, dtype=torch.float64), torch.zeros(0, dtype=torch.float64)
        seconds = torch.tensor([e.seconds for e in timed], dtype=torch.float64)
        return torch.stack([self._encode(e) for e in timed]), seconds


def duplicates(
    problem: Problem, evaluations: Mapping[int, Evaluation], task: str
) -> dict[tuple[Option, ...], Evaluation]:
    """The points, by the values of their parameters, where to ask a task would tell nothing, and why: one evaluation.

    There are some where its measurements have no noise: where all its outcomes were told, in whichever evaluations, and
    where it was asked before and has not answered, be it still or ever. An evaluation that was abandoned leaves its
    point as it was.
    """
    found: dict[tuple[Option, ...], Evaluation] = {}
    if not problem.is_exact(task):
        return found
    told: dict[tuple[Option, ...], set[str]] = {}
    for e in evaluations.values():
        point = tuple(e.params[name] for name in problem.parameters)
        known = told.setdefault(point, set())
        known.update(e.outcomes)
        is_asked = e.task == task and (e.is_open or e.state in (State.LOST, State.FAILED))
        if is_asked or known.issuperset(problem.tasks[task].outcomes):
            found.setdefault(point, e)
    return found


def _data_key(evaluations: Mapping[int, Evaluation]) -> DataKey:
    told = (e for e in evaluations.values() if e.outcomes or e.state is State.FAILED)
    return tuple((e.id, len(e.outcomes), e.state is State.FAILED) for e in told)
