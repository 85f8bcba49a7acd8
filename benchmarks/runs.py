"""One optimization run: a rule on a benchmark from a seed, with the utility gap after every evaluation."""

from dataclasses import dataclass, field
from time import process_time

import torch

import pesky
from benchmarks.contenders import CONTENDERS
from benchmarks.known_objective import with_known_objective
from pesky.answer.recommend import best_anywhere
from pesky.strategy import Acquire, CheckModel, Initial
from pesky.test_functions import Benchmark, decouple, problem_by_name

INITIAL = 3
MILESTONES = (10, 15, 20, 30, 40)
"""Evaluations after which tables show the gap."""


@dataclass(frozen=True)
class Plan:
    """What is run.

    evaluations:  joint ones: decoupled, as many single outcomes as there are outcomes are one evaluation
    every:        evaluations from one recommendation to the next; at milestones and at the end there is always one
    """

    problem: str
    rule: str
    seed: int
    evaluations: int
    is_decoupled: bool = False
    every: int = 1

    @property
    def milestones(self) -> list[int]:
        """The evaluations that tables show: those of `MILESTONES` that there are, and the last one."""
        return [*(n for n in MILESTONES if n < self.evaluations), self.evaluations]

    def recommends_at(self, n: int) -> bool:
        """Whether there is a recommendation after n evaluations."""
        return n in (INITIAL, *self.milestones) or n % self.every == 0


@dataclass
class Run:
    """What happened.

    counts:             the numbers of evaluations after which there was a recommendation
    gaps:               the utility gap of each of them
    is_feasible:        whether each of them satisfies the constraints in truth
    recommended:        their points in the unit cube
    asked:              every point in the unit cube in the order asked, with the outcomes measured there
    ask_seconds:        CPU seconds of each ask, without the fit
    recommend_seconds:  CPU seconds of each recommendation, without the fit
    fit_seconds:        CPU seconds of each fit of the models to new data
    """

    plan: Plan
    counts: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    is_feasible: list[bool] = field(default_factory=list)
    recommended: list[list[float]] = field(default_factory=list)
    asked: list[tuple[list[float], list[str]]] = field(default_factory=list)
    ask_seconds: list[float] = field(default_factory=list)
    recommend_seconds: list[float] = field(default_factory=list)
    fit_seconds: list[float] = field(default_factory=list)

    def gap_at(self, n: int) -> float:
        """The gap after n evaluations."""
        return self.gaps[self.counts.index(n)]


def build_study(benchmark: Benchmark, label: str, seed: int) -> pesky.Study:
    """A study without data; GP samples get the hyperparameters that they were drawn with."""
    if benchmark.hyperparameters is None:
        model = pesky.GP()
    else:
        known = {name: pesky.FixedHyperparameters(**given) for name, given in benchmark.hyperparameters.items()}
        model = pesky.GP(kernel="se", hyperparameters=known)
    contender = CONTENDERS[label]
    problem = with_known_objective(benchmark) if contender.knows_objective else benchmark.problem
    strategy = pesky.Strategy([Initial(INITIAL), CheckModel(), Acquire(contender.build())])
    return pesky.Study(problem, seed=seed, model=model, strategy=strategy)


def optimize(plan: Plan) -> Run:
    """The run of a plan. Initial points, noise and functions depend on the seed alone, not on the rule."""
    benchmark = problem_by_name(plan.problem, plan.seed)
    asked = decouple(benchmark) if plan.is_decoupled else benchmark
    study = build_study(asked, plan.rule, plan.seed)
    noise = torch.Generator().manual_seed(plan.seed)
    run = Run(plan)
    outcomes = study.problem.outcomes
    for u in study.space.latin(INITIAL, torch.Generator().manual_seed(plan.seed)):
        params = study.space.decode(u)
        values = benchmark.evaluate(params, noise)
        study.add(params, {name: values[name] for name in outcomes})
        run.asked.append((u.tolist(), list(outcomes)))
    singles = INITIAL * len(outcomes)
    fit(run, study)
    recommend(run, benchmark, study, INITIAL)
    while singles < plan.evaluations * len(outcomes):
        began = process_time()
        evaluation = study.ask()
        run.ask_seconds.append(process_time() - began)
        values = benchmark.evaluate(evaluation.params, noise)
        measured = study.problem.tasks[evaluation.task].outcomes
        study.tell(evaluation, {name: values[name] for name in measured})
        run.asked.append((study.space.encode(evaluation.params).tolist(), list(measured)))
        fit(run, study)
        before, singles = singles, singles + len(measured)
        n = singles // len(outcomes)
        if n > before // len(outcomes) and plan.recommends_at(n):
            recommend(run, benchmark, study, n)
    return run


def fit(run: Run, study: pesky.Study) -> None:
    """Fits the models to all data: the study remembers it, so that neither ask nor recommendation do it again."""
    began = process_time()
    study.belief()
    run.fit_seconds.append(process_time() - began)


def recommend(run: Run, benchmark: Benchmark, study: pesky.Study, n: int) -> None:
    """Records the best point of the moment by the model, measured or not, with its gap and its cost."""
    began = process_time()
    recommendation = best_anywhere(study.inferred())
    run.recommend_seconds.append(process_time() - began)
    u = study.space.encode(recommendation.params)
    run.counts.append(n)
    run.gaps.append(benchmark.utility_gap(u))
    run.is_feasible.append(benchmark.is_feasible(u))
    run.recommended.append(u.tolist())
