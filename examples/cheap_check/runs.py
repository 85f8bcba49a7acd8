"""Runs of the bracket's study, coupled and decoupled, and what they cost until they have reached a target."""

import itertools
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

import pesky
from examples.cheap_check import bracket
from pesky.study_file import StudyFile

Way = Literal["coupled", "decoupled"]
PROBLEM = StudyFile.read(Path(__file__).parent / "study.toml", importing=False).problem
TOGETHER = sum(float(task.cost) for task in PROBLEM.tasks.values())
"""Seconds that a slicing and a print take."""


@dataclass
class Run:
    """One study: what it had spent and what its recommendation was short of, after each evaluation."""

    way: Way
    seed: int
    budget: float
    costs: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)

    def has_reached(self, target: float) -> bool:
        """Whether the gap is at or below the target at the end."""
        return self.gaps[-1] <= target + 1e-12

    def cost_to(self, target: float) -> float:
        """The cost from which on the gap stays at or below the target; the budget if it does not."""
        above = [i for i, gap in enumerate(self.gaps) if gap > target + 1e-12]
        first = above[-1] + 1 if above else 0
        return self.costs[first] if first < len(self.costs) else self.budget

    def gap_at(self, cost: float) -> float:
        """The gap of what was recommended when so much was spent; NaN before anything was."""
        count = sum(each <= cost for each in self.costs)
        return self.gaps[count - 1] if count else float("nan")


def sags() -> tuple[float, float]:
    """The sag of the best bracket that there is filament for, and of the worst of all."""
    ranges = [range(p.low, p.high + 1) for p in PROBLEM.parameters.values() if isinstance(p, pesky.Integer)]
    each = [dict(zip(PROBLEM.parameters, values, strict=True)) for values in itertools.product(*ranges)]
    return min(bracket.true_sag(p) for p in each if is_feasible(p)), max(map(bracket.true_sag, each))


def is_feasible(params: dict[str, int]) -> bool:
    """Whether there is filament enough."""
    return bracket.check(params)["filament_m"] <= bracket.LIMIT_M


def optimize(way: Way, seed: int, budget: float) -> Run:
    """The run of a study from this seed, until what is left of the budget does not pay for another print."""
    best, worst = sags()
    run, spent = Run(way, seed, budget), 0.0
    bracket.noise.seed(seed)
    problem, functions = PROBLEM, {"check": bracket.check, "load_test": bracket.load_test}
    if way == "coupled":
        problem = replace(PROBLEM, tasks={"both": pesky.Task(PROBLEM.outcomes, cost=TOGETHER)})
        functions = {"both": lambda params: bracket.check(params) | bracket.load_test(params)}
    study = pesky.Study(problem, seed=seed)
    while spent + TOGETHER <= budget:
        evaluation = study.ask()
        params = {name: int(value) for name, value in evaluation.params.items()}
        study.tell(evaluation, functions[evaluation.task](params))
        spent += evaluation.price
        run.costs.append(spent)
        run.gaps.append(_gap(study, best, worst))
        run.asked[evaluation.task] = run.asked.get(evaluation.task, 0) + 1
    return run


def _gap(study: pesky.Study, best: float, worst: float) -> float:
    try:
        params = {name: int(value) for name, value in study.recommend().params.items()}
    except pesky.DataError:  # only sliced so far
        return worst - best
    return (bracket.true_sag(params) if is_feasible(params) else worst) - best


def run_all(seeds: int, budget: float, workers: int) -> Iterator[Run]:
    """Every run, in the order in which they finish; each worker has one thread."""
    os.environ["OMP_NUM_THREADS"] = "1"  # read by the workers as they import torch
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        plans = itertools.product(range(seeds), ("decoupled", "coupled"))
        futures = [pool.submit(optimize, way, seed, budget) for seed, way in plans]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@dataclass(frozen=True)
class Comparison:
    """What pairs of runs (coupled, decoupled) say; costs are medians over the seeds."""

    target: float
    coupled: float
    decoupled: float

    @property
    def ratio(self) -> float:
        """How much of the coupled cost the decoupled runs need."""
        return self.decoupled / self.coupled

    @classmethod
    def of(cls, pairs: Sequence[tuple[Run, Run]]) -> "Comparison":
        """The comparison; its target is the median gap of the coupled runs at their end."""
        target = float(np.median([coupled.gaps[-1] for coupled, _ in pairs]))
        costs = [[run.cost_to(target) for run in pair] for pair in pairs]
        return cls(target, *np.median(costs, axis=0).tolist())

    @classmethod
    def bootstrap(cls, pairs: Sequence[tuple[Run, Run]], draws: int = 2000) -> "list[Comparison]":
        """The comparisons of as many seeds, drawn with replacement, time and again."""
        picks = np.random.default_rng(0).integers(len(pairs), size=(draws, len(pairs)))
        return [cls.of([pairs[k] for k in pick]) for pick in picks]
