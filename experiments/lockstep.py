"""Many optimizations at once: every step is one batched computation for all of them.

A realisation is a study of its own, with its own functions, first points and random numbers. It asks what `pesky.Study`
would ask with the same seed: the belief, the samples of x*, EP, the search and the recommendation are the package's own
functions, with the realisations as their leading dimension.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from experiments.worlds import Worlds
from pesky.acquire.base import Context, Rule
from pesky.model.belief import Belief
from pesky.model.exact import with_exact_rows
from pesky.model.hyper import Hyperparameters
from pesky.model.limited import with_conditions
from pesky.numerics.rng import normal, question_seed, source_of
from pesky.numerics.runtime import now
from pesky.observations import Observations, conditions_of, observe, stack
from pesky.optimum import recommend
from pesky.space import Space
from pesky.space.exact import exact_outcomes
from pesky.strategy import CheckModel
from pesky.strategy.masks import Masks
from pesky.strategy.select import select
from pesky.strategy.task_values import TaskOptions, TaskValues, fixed_prices

INITIAL = 3
"""Points of the Latin hypercube that every function is measured at first."""
NOISE_STREAM = 0xA015E
"""What tells the stream of a realisation's noise from that of its questions."""


@dataclass(frozen=True)
class Told:
    """What was measured in B realisations: n evaluations each, of a task at a point."""

    u: Float[Tensor, "B n d"]
    task: Int[Tensor, "B n"]
    values: Float[Tensor, "B n J"]
    """NaN where the task does not measure a row."""

    def add(self, u: Tensor, task: Tensor, values: Tensor) -> "Told":
        """With one more evaluation of each."""
        pairs = ((self.u, u), (self.task, task), (self.values, values))
        return Told(*(torch.cat([old, new[:, None]], 1) for old, new in pairs))


@dataclass
class Progressed:
    """How far the realisations are: all that a run needs to go on."""

    told: Told
    noise: list[Tensor]
    """States of the generators of the noise."""
    previous: Hyperparameters | None = None
    """Where the next fit starts."""
    counts: list[int] = field(default_factory=list)
    """Evaluations at which there was a recommendation, with what it was worth."""
    gaps: list[Tensor] = field(default_factory=list)
    feasible: list[Tensor] = field(default_factory=list)
    steps: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """Of each stage, over all steps."""


class Lockstep:
    """B studies of the same kind of problem, step by step."""

    def __init__(self, worlds: Worlds, rule: Rule, seeds: tuple[int, ...]) -> None:
        self.worlds, self.rule, self.seeds = worlds, rule, seeds
        self.problem, self.space = worlds.problem, Space.of(worlds.problem)
        self.device = worlds.optimum_value.device
        self.rows = self.problem.rows
        tasks = list(self.problem.tasks.values())
        measured = [[name in task.outcomes for name in self.rows] for task in tasks]
        self.measured: Bool[Tensor, "t J"] = torch.tensor(measured)
        costs = torch.tensor([float(task.cost) for task in tasks], dtype=torch.float64)
        self.task_options = TaskOptions(self.measured.double(), (None,) * len(tasks), fixed_prices(costs))
        self.confidence = torch.tensor(self.problem.confidences, dtype=torch.float64, device=self.device)

    @property
    def functions(self) -> int:
        """How many functions there are to measure, and a joint evaluation measures."""
        return int(self.measured.any(0).sum())

    @cached_property
    def exact(self) -> dict:
        """The known outcomes."""
        return exact_outcomes(self.problem, self.space)

    def begin(self) -> Progressed:
        """The initial design, measured: every outcome at every one of its points."""
        design = self.space.latin(INITIAL, source_of(self.seeds))
        sources = source_of(tuple(seed ^ NOISE_STREAM for seed in self.seeds))
        count, rows = len(self.seeds), len(self.rows)
        empty = Told(design[:, :0], torch.zeros(count, 0, dtype=torch.long), torch.zeros(count, 0, rows).double())
        state = Progressed(empty, [source.get_state() for source in sources])
        for u in design.unbind(1):
            for task in range(len(self.measured)):
                self._measure(state, u, torch.full((count,), task))
        return state

    def context(self, state: Progressed) -> Context:
        """What the next question is decided from."""
        asked = state.told.u.shape[1]
        source = source_of(question_seed(self.seeds, asked + 1))
        return Context(self._believe(state), self.space, self.confidence, source, None, asked, self.seeds)

    def values(self, context: Context) -> TaskValues:
        """What each task is worth, at any point."""
        return TaskValues.of(context, self.rule, self.task_options)

    def step(self, state: Progressed) -> None:
        """One more evaluation of every realisation."""
        context = self.context(state)
        with self._timed(state, "other"):
            values, masks = self.values(context), Masks()
            best = select(values, masks)
            if self.rule.in_nats and bool((check := CheckModel()).is_sure(best).any()):
                best, _ = check.checked(best, values, masks)
        for stage, seconds in best.seconds.items():
            state.seconds[stage] = state.seconds.get(stage, 0.0) + seconds
        state.seconds["other"] -= sum(best.seconds.values())
        self._measure(state, best.u.cpu(), best.task.cpu())
        state.steps += 1

    def recommend(self, state: Progressed, count: int) -> None:
        """What would be recommended now, after so many evaluations, and what it is worth."""
        belief = self._believe(state)
        with self._timed(state, "recommend"):
            advice = recommend(belief, self.space, self.confidence, self.seeds)
            gap, feasible = self.worlds.judge(advice.u)
        state.counts.append(count)
        state.gaps.append(gap.cpu())
        state.feasible.append(feasible.cpu())

    @contextmanager
    def _timed(self, state: Progressed, stage: str) -> Iterator[None]:
        began = now(self.worlds.optimum_value)
        yield
        state.seconds[stage] = state.seconds.get(stage, 0.0) + now(self.worlds.optimum_value) - began

    def _measure(self, state: Progressed, u: Float[Tensor, "B d"], task: Int[Tensor, " B"]) -> None:
        truth = self.worlds.truth(u[:, None].to(self.device))[:, 0].cpu()
        sources = tuple(torch.Generator().set_state(each) for each in state.noise)
        noise = self.worlds.noise * normal(sources, *truth.shape, like=truth)
        state.noise = [source.get_state() for source in sources]
        state.told = state.told.add(u, task, torch.where(self.measured[task], truth + noise, torch.nan))
        self._belief = None

    _belief: Belief | None = None

    def _believe(self, state: Progressed) -> Belief:
        """What the measurements support; the same until there is one more."""
        if self._belief is None:
            with self._timed(state, "fit"):
                o = self._observations(state.told)
                known = torch.tensor([name in self.problem.known for name in self.rows], device=self.device)
                names = tuple(name for name in self.rows if name not in self.problem.known)
                # the random numbers that a study has for this number of evaluations
                source = source_of(tuple(seed + state.told.u.shape[1] for seed in self.seeds))
                model, measured = self.worlds.model, o.select(~known)
                # as in a study, only chains of samples go on from where they were
                previous = state.previous if model.hyperparameters == "slice" else None
                belief = model.fit(measured, names, None, previous, source)
                state.previous = belief.hyperparameters
                h = model.doubted(measured, belief.hyperparameters, source)
                belief = belief if h is belief.hyperparameters else model.condition(measured, h, None)
                whole = with_exact_rows(belief, o, self.rows, self.exact, None)
                self._belief = with_conditions(whole, conditions_of(self.problem, o))
        return self._belief

    def _observations(self, told: Told) -> Observations:
        each = []
        for u, values in zip(told.u, told.values, strict=True):
            there = ~values.isnan()
            points = [u[there[:, j]] for j in range(len(self.rows))]
            rows = [values[there[:, j], j] for j in range(len(self.rows))]
            each.append(observe(self.problem, points, rows, self.exact))
        return stack(each).to(self.device)
