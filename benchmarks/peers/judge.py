"""What a point is worth, and the one rule by which all optimizers' points are judged alike."""

import pesky
from benchmarks.peers.base import Params
from benchmarks.peers.results import Result
from pesky.test_functions import Benchmark, problem_by_name


def gap(benchmark: Benchmark, params: Params | None) -> float:
    """The utility gap of a point; where there is none, that of the worst."""
    if params is None:
        return abs(benchmark.worst_value - benchmark.optimum_value)
    return benchmark.utility_gap(params)


def scale_of(benchmark: Benchmark) -> float:
    """The range of the objective, or its absolute value at the optimum if that is smaller and not zero."""
    whole = abs(benchmark.worst_value - benchmark.optimum_value)
    return min(whole, abs(benchmark.optimum_value) or whole)


def judge(result: Result) -> Result:
    """The same with the gaps of what pesky's default recommends, at each milestone, given the points measured by then.

    Only the questions differ then, not what is made of the answers.
    """
    entry = result.entry
    benchmark = problem_by_name(entry.problem, entry.seed)
    result.scale = scale_of(benchmark)
    study = pesky.Study(benchmark.problem, seed=entry.seed)
    told, outcomes = 0, benchmark.problem.outcomes
    for n in entry.milestones:
        by_then = [point for point in result.points if point.spent <= n + 1e-9]
        for point in by_then[told:]:
            study.add(point.params, {name: point.values[name] for name in outcomes if name in point.values})
        told = len(by_then)
        result.common[n] = gap(benchmark, dict(study.recommend().params))
    return result
