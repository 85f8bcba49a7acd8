"""Test problems of which a constraint is measured as a yes or no: whether it holds, and not by how much."""

from dataclasses import replace

from pesky.problem import Constraint
from pesky.test_functions.base import Benchmark
from pesky.test_functions.branin_disk import branin_disk
from pesky.test_functions.toy import toy


def toy_yes_no(confidence: float = 0.975) -> Benchmark:
    """The toy problem; of c1, which is active at the optimum, one learns whether it holds."""
    return answered(toy(confidence), "c1")


def branin_yes_no(noise: float = 0.0, confidence: float = 0.95) -> Benchmark:
    """Branin's function, which one learns to be outside of the disk or in it; `noise` is that of the objective."""
    return answered(branin_disk(noise, confidence), "c1")


def answered(benchmark: Benchmark, outcome: str) -> Benchmark:
    """The same benchmark with a yes or no for this outcome."""
    problem = benchmark.problem
    constraints = [
        Constraint(outcome, "is", True, each.confidence) if each.outcome == outcome else each
        for each in problem.constraints
    ]
    return replace(benchmark, problem=replace(problem, constraints=constraints, noise={**problem.noise, outcome: 0}))
