"""Pairs of runs: of strategies, and of outcomes measured apart and together."""

import pytest

from benchmarks import policies, prices

RANDOM = {"rule": "random", "initial": 0}


def gaps(value: float, *, is_feasible: bool = True) -> dict[str, dict[str, object]]:
    each = {"answer": value, "best": value, "is_promised": True, "is_feasible": is_feasible}
    return {str(count): each for count in policies.MILESTONES}


def test_strategies_are_compared_problem_by_problem():
    """Two seeds of one problem count as much as one of the other."""
    found = [("a", 0, 1e-1, 1e-2), ("a", 1, 1e-1, 1e-1), ("b", 0, 1e-3, 1e-1)]
    runs = [
        {"label": label, "problem": problem, "kind": "exact", "seed": seed, "gaps": gaps(gap)}
        for problem, seed, *both in found
        for label, gap in zip(("old", "new"), both, strict=True)
    ]
    runs[-1]["gaps"] = gaps(1e-1, is_feasible=False)
    exact, every = policies.compared(runs, "old", "new", "answer")
    assert exact == ["exact", "3", *["+0.75 ± 1.25"] * 4, "0", "1"]
    assert every[1:] == exact[1:]


@pytest.mark.parametrize("kind", policies.KINDS)
def test_a_run_tells_what_it_measured(kind: str):
    found = policies.run(policies.Plan("mine", "ridges-2-1", kind, 0, RANDOM))
    assert found["gaps"].keys() == {"10", "20", "30", "40"}
    assert len(found["told"]) == 40
    again = policies.run(policies.Plan("again", "ridges-2-1", kind, 0, RANDOM, found["told"]))
    assert again["gaps"] == found["gaps"]
    measured = {tuple(params.values()): told["f"] for params, told in found["told"]}
    truth = policies.World(policies.Plan("", "ridges-2-1", "exact", 0, {}))
    off = [abs(truth.measure(dict(zip(("x0", "x1"), at, strict=True)))["f"] - f) for at, f in measured.items()]
    assert (max(off) > 0) == (kind == "noisy")


def test_apart_and_together_cost_the_same():
    together = prices.run(prices.Plan("toy", 0, settings=RANDOM))
    apart = prices.run(prices.Plan("toy", 0, "constraint", 10, RANDOM))
    assert len(together["gaps"]) == len(apart["gaps"]) == len(prices.MILESTONES)
    spent = sum({"f": 1, "c1": 10, "c2": 1}[task] * count for task, count in apart["asked"].items())
    assert 20 * 12 - 10 < spent <= 20 * 12 + 10
    assert together["asked"] == {"all": 21}


def test_prices_are_compared_with_the_runs_together():
    runs = [
        {"problem": problem, "seed": 0, "dear": dear, "price": price, "gaps": [gap] * 4}
        for problem, dear, price, gap in (
            ("a", "", 1, 1e-1), ("b", "", 1, 1e-1), ("a", "objective", 10, 1e-2), ("b", "objective", 10, 1e-1),
            ("b", "constraint", 10, 1e-3),
        )
    ]  # fmt: skip
    objective, constraint, both = prices.compared(runs)
    assert objective == ["objective", "1:10", "2", *["-0.50 ± 0.50"] * 4]
    assert constraint[:3] == ["constraint", "1:10", "1"]
    assert both[3] == "-1.00 ± 0.00"
