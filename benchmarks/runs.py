"""One optimization run: a rule on a benchmark from a seed, with the utility gap after every evaluation."""

from dataclasses import dataclass, field
from time import process_time

import torch

import pesky
from benchmarks.rules import RULES
from pesky.problems import Benchmark, decouple, gp_sample, toy
from pesky.space import Space

INITIAL = 3


@dataclass(frozen=True)
class Plan:
    """What is run. `evaluations` counts joint ones: decoupled, J single outcomes are one evaluation."""

    problem: str
    rule: str
    seed: int
    evaluations: int
    is_decoupled: bool = False


@dataclass
class Run:
    """What happened.

    gaps:               the utility gap of the recommendation after `INITIAL`, `INITIAL` + 1, .. evaluations
    asked:              every point in the unit cube in the order asked, with the outcomes measured there
    recommended:        the recommended points, one per gap
    ask_seconds:        CPU seconds of each ask
    recommend_seconds:  CPU seconds of each recommendation, which include the fit of the new data
    """

    plan: Plan
    gaps: list[float] = field(default_factory=list)
    asked: list[tuple[list[float], list[str]]] = field(default_factory=list)
    recommended: list[list[float]] = field(default_factory=list)
    ask_seconds: list[float] = field(default_factory=list)
    recommend_seconds: list[float] = field(default_factory=list)


def build_benchmark(name: str, seed: int) -> Benchmark:
    """The toy problem, or for 'gp2' the functions in two dimensions that belong to the seed."""
    if name == "toy":
        return toy()
    if name.startswith("gp") and name[2:].isdigit() and int(name[2:]) > 0:
        return gp_sample(int(name[2:]), torch.Generator().manual_seed(seed))
    raise ValueError(f"unknown problem {name!r}: expected 'toy', or 'gp1', 'gp2', .. for GP samples")


def build_study(benchmark: Benchmark, rule: str, seed: int) -> pesky.Study:
    """A study without data; GP samples get the hyperparameters that they were drawn with."""
    if benchmark.hyperparameters is None:
        model = pesky.GP()
    else:
        known = {name: pesky.Known(**given) for name, given in benchmark.hyperparameters.items()}
        model = pesky.GP(kernel="se", hyperparameters=known)
    setting = "paper" if rule == "paper" else "default"
    return pesky.Study(benchmark.problem, seed=seed, model=model, setting=setting, initial=INITIAL)


def optimize(plan: Plan) -> Run:
    """The run of a plan. Initial points, noise and functions depend on the seed alone, not on the rule."""
    benchmark = build_benchmark(plan.problem, plan.seed)
    if plan.is_decoupled:
        benchmark = decouple(benchmark)
    return run_study(plan, benchmark, build_study(benchmark, plan.rule, plan.seed))


def run_study(plan: Plan, benchmark: Benchmark, study: pesky.Study) -> Run:
    """The run of a plan with a study that has no data yet."""
    space = Space.of(benchmark.problem)
    ask = RULES[plan.rule]
    outcomes = benchmark.problem.outcomes
    noise = torch.Generator().manual_seed(plan.seed)
    choice = torch.Generator().manual_seed(plan.seed)
    run = Run(plan)
    for u in space.latin(INITIAL, choice):
        params = space.decode(u)
        study.add(params, benchmark.evaluate(params, noise))
        run.asked.append((u.tolist(), list(outcomes)))
    singles = INITIAL * len(outcomes)
    recommendation = recommend(run, benchmark, study)
    while singles < plan.evaluations * len(outcomes):
        start = process_time()
        question = ask(study, recommendation, choice)
        run.ask_seconds.append(process_time() - start)
        values = benchmark.evaluate(question.params, noise)
        question.answer({name: values[name] for name in question.outcomes})
        run.asked.append((space.encode(question.params).tolist(), list(question.outcomes)))
        before, singles = singles, singles + len(question.outcomes)
        if singles // len(outcomes) > before // len(outcomes):
            recommendation = recommend(run, benchmark, study)
    return run


def recommend(run: Run, benchmark: Benchmark, study: pesky.Study) -> pesky.Recommendation:
    """The recommendation of the moment, which the run records with its gap and its cost."""
    start = process_time()
    recommendation = study.recommend()
    run.recommend_seconds.append(process_time() - start)
    u = Space.of(benchmark.problem).encode(recommendation.params)
    run.recommended.append(u.tolist())
    run.gaps.append(benchmark.utility_gap(u))
    return recommendation
