"""From what was measured to what is believed, and to the next question: in full, or as far as time allows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from botorch.models.model import Model
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.pending import Pending
from pesky.acquire.settings import Setting
from pesky.data import Observations, collect
from pesky.decide import Analysis, Decision, Menu, analyze, choose, draw, gains_at_optima, update
from pesky.model.belief import Belief
from pesky.model.beliefs import GP
from pesky.model.botorch import BotorchBelief
from pesky.model.cost import learn_costs
from pesky.model.gp import GaussianProcess
from pesky.problem import Problem
from pesky.problem.problem import SUCCEEDS
from pesky.space import Space
from pesky.store import Evaluation, State
from pesky.study.pace import Pace
from pesky.threads import threads_for

FitBotorch = Callable[[list[tuple[Tensor, Tensor]]], Model]
"""A function that fits a BoTorch model; see `Study`."""

Known = tuple[tuple[int, int, bool], ...]
"""What identifies the data: the evaluations that told something, how much, and whether they failed."""


class Full(NamedTuple):
    """A full analysis, and what later ones save by starting from it."""

    known: Known
    analysis: Analysis
    observations: Observations
    gains: dict[tuple[str, ...], Tensor]
    """Of each set of tasks at the samples of x*, once they were needed."""


class Deliberation:
    """What is believed of the evaluations so far, and which question follows; remembers only to be faster.

    With a `share`, deciding takes no more than so many times the time of measuring. When a full analysis cannot be
    afforded, the last one is updated with the new data at unchanged hyperparameters, x* samples and EP sites (METHOD
    20.2), and when that cannot be either, the question is one of its x* samples.
    """

    def __init__(
        self, problem: Problem, space: Space, model: GP | FitBotorch, setting: Setting, seed: int, share: float | None
    ) -> None:
        self.problem, self.space, self.model, self.setting, self.seed = problem, space, model, setting, seed
        self.pace = Pace(share)
        self._belief: tuple[Known, Belief, Observations] | None = None
        self._previous = None
        self._full: Full | None = None
        self._encoded: dict[int, Tensor] = {}

    def believe(self, evaluations: Mapping[int, Evaluation]) -> tuple[Belief, Observations]:
        """The belief that all measurements support, hyperparameters refitted."""
        known = _known(evaluations)
        if self._belief is None or self._belief[0] != known:
            o = self.observations(evaluations)
            with threads_for(len(known)):
                self._belief = known, self._fit(o, len(known)), o
        return self._belief[1:]

    def _fit(self, o: Observations, count: int) -> Belief:
        snap = None if self.space.is_continuous else self.space.snap
        if isinstance(self.model, GP):
            generator = torch.Generator().manual_seed(self.seed + count)
            belief = self.model.believe(o, self.problem.rows, snap, self._previous, generator)
            self._previous = belief.hyperparameters
            return belief
        rows = [(x[m], y[m][:, None]) for x, y, m in zip(o.X, o.y, o.mask, strict=True)]
        feasible = dict.fromkeys(range(1, len(rows)), (0.0, None))
        return BotorchBelief.of(self.model(rows), 0, False, feasible, snap=snap)

    def observations(self, evaluations: Mapping[int, Evaluation]) -> Observations:
        """Everything measured, per row, in scaled units; a task's success is measured by running it."""
        told = []
        for e in evaluations.values():
            values: dict[str, float] = dict(e.outcomes)
            if self.problem.tasks[e.task].failures == "learn" and e.state in (State.DONE, State.FAILED):
                values[SUCCEEDS.format(e.task)] = float(e.state is State.DONE)
            if values:
                told.append((self._encode(e), values))
        return collect(self.problem, self.space, told)

    def decide(
        self,
        evaluations: Mapping[int, Evaluation],
        tasks: Sequence[str],
        generator: torch.Generator,
        min_probability: float | None,
        is_retry: bool,
    ) -> Decision:
        """The next question of these tasks; `is_retry` if only what others asked has changed since the last one."""
        known, full = _known(evaluations), self._full
        confidence = torch.tensor(self.problem.confidences, dtype=torch.float64)
        level = self.pace.level() if full is not None and isinstance(self.model, GP) else "full"
        with threads_for(len(known)), self.pace.time(level):
            menu = self._menu(evaluations, tasks)
            if full is not None and level == "draw":
                taken = torch.stack([self._encode(e) for e in evaluations.values()])
                if tuple(tasks) not in full.gains:
                    full.gains[tuple(tasks)] = gains_at_optima(full.analysis, menu)
                gains = full.gains[tuple(tasks)]
                return draw(full.analysis, self.space, menu, gains, confidence, taken, generator, min_probability)
            pending = self.pending(evaluations)
            if full is not None and is_retry and full.known == known:
                analysis = update(full.analysis, full.analysis.belief, generator, pending)
            elif full is not None and level == "update":
                analysis = update(full.analysis, self._condition(full, evaluations), generator, pending)
            else:
                belief, o = self.believe(evaluations)
                analysis = analyze(belief, self.space, self.setting, generator, pending)
                self._full = Full(known, analysis, o, {})
            return choose(analysis, self.space, menu, confidence, generator, pending, min_probability)

    def _condition(self, full: Full, evaluations: Mapping[int, Evaluation]) -> Belief:
        """The belief given all measurements, at the hyperparameters and in the units of the full analysis."""
        assert isinstance(self.model, GP)
        assert isinstance(full.analysis.belief, GaussianProcess)
        o = self.observations(evaluations).in_units_of(full.observations)
        snap = None if self.space.is_continuous else self.space.snap
        return self.model.condition(o, full.analysis.belief.hyperparameters, snap)

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
            is_mute = e.state is State.FAILED and self.problem.tasks[e.task].failures == "record"
            missing = set(self.problem.informs(e.task)) - e.outcomes.keys()
            if missing and (is_awaited or is_mute):
                points.append(self._encode(e))
                rows.append([name in missing for name in self.problem.rows])
        return Pending(torch.stack(points), torch.tensor(rows)) if points else None

    @property
    def last_belief(self) -> Belief | None:
        """The belief of the last full analysis."""
        return None if self._full is None else self._full.analysis.belief

    def points(self, asked: Iterable[Evaluation]) -> Pending:
        """Where these measure, and which rows."""
        each = list(asked)
        rows = [{*self.problem.informs(e.task), *e.outcomes} for e in each]
        return Pending(
            torch.stack([self._encode(e) for e in each]),
            torch.tensor([[name in told for name in self.problem.rows] for told in rows]),
        )

    def _menu(self, evaluations: Mapping[int, Evaluation], names: Sequence[str]) -> Menu:
        """The tasks of these names, as rows and prices; rows that share an outcome share its gain."""
        rows, tasks = self.problem.rows, [self.problem.tasks[name] for name in names]
        shares = [[float(row in task.outcomes) / rows.count(row) for row in rows] for task in tasks]
        success = [SUCCEEDS.format(name) for name in names]
        given = [None if task.cost == "measured" else task.cost for task in tasks]
        durations = [self._durations(evaluations, name) for name in names]
        snap = None if self.space.is_continuous else self.space.snap
        return Menu(
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


def _known(evaluations: Mapping[int, Evaluation]) -> Known:
    told = (e for e in evaluations.values() if e.outcomes or e.state is State.FAILED)
    return tuple((e.id, len(e.outcomes), e.state is State.FAILED) for e in told)
