"""Gain curves against the truth of an oracle: what every comparison with brute force measures."""

from collections.abc import Callable

from torch import Tensor

from benchmarks.agreement import Agreement, compare
from benchmarks.oracle import Dataset, Oracle
from pesky.acquire import Rule

Curves = Callable[[Dataset, Tensor, Rule, int], Tensor]


def measure_agreement(
    oracle: Oracle, rule: Rule, seeds: int, curves: Curves, report: Callable[[], None] = lambda: None
) -> list[list[Agreement]]:
    """The figures of every data set, per seed; `report` is called after each."""
    by_seed = []
    for seed in range(seeds):
        sets = []
        for dataset in oracle.datasets:
            points = oracle.grid if dataset.points is None else dataset.points
            sets.append(compare(curves(dataset, points, rule, seed), dataset.gains))
            report()
        by_seed.append(sets)
    return by_seed


def true_errors(oracle: Oracle) -> list[float] | None:
    """For each data set the root mean square standard error of its gains / the largest of them, where it is known."""
    shares = [
        (dataset.errors.square().mean().sqrt() / dataset.gains.max()).item()
        for dataset in oracle.datasets
        if dataset.errors is not None
    ]
    return shares if len(shares) == len(oracle.datasets) else None
