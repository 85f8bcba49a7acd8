"""`python -m benchmarks.prices`: outcomes measured apart or together, for the same money.

Apart, every outcome is a task of its own; one of them, the objective or the first constraint, costs more than the
others. Together, one task measures all for the sum. The gaps of the answer are compared after 5, 10, 15 and 20 such
sums. Hyperparameters are inferred, as always; nothing is noisy, which is declared.

    python -m benchmarks.prices run --out prices.jsonl
    python -m benchmarks.prices compare --out prices.jsonl
"""

import argparse
import json
import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pesky
from benchmarks.policies import Plan as Policy
from benchmarks.policies import World, carry_out, mean_and_error, read
from benchmarks.workers import Failure

PROBLEMS = "toy", "gardner1", "branin-disk", "townsend", "g24", "ridges-2-1", "ridges-3-1", "ridges-4-1"
PRICES = 1, 10, 60, 3600
DEAR = "objective", "constraint"
MILESTONES = 5, 10, 15, 20
"""Costs, in those of measuring everything once."""
MOST = 250
"""Queries after which a run ends, whatever they cost: the answer stays what it is then."""


class Plan(NamedTuple):
    """One run; together if nothing is dear."""

    problem: str
    seed: int
    dear: str = ""
    price: int = 1
    settings: Mapping[str, Any] = {}

    @property
    def key(self) -> tuple[str, int, str, int]:
        """What tells it from others."""
        return self[:4]


def run(plan: Plan) -> dict[str, Any]:
    """The gaps of the answer at each milestone, and how often each task was asked."""
    warnings.simplefilter("ignore")
    world = World(Policy("", plan.problem, "exact", plan.seed, {}))
    problem = world.problem
    names = list(dict.fromkeys(problem.rows))
    costs = dict.fromkeys(names, 1.0)
    costs[names[plan.dear == "constraint"]] = float(plan.price)
    if plan.dear:
        problem = replace(problem, tasks={name: pesky.Task([name], cost=cost) for name, cost in costs.items()})
    study = pesky.Study(problem, seed=plan.seed, **plan.settings)
    whole, spent, asked = sum(costs.values()) if plan.dear else 1.0, 0.0, Counter[str]()
    gaps: list[float] = []
    while len(gaps) < len(MILESTONES):
        e = study.ask()
        while len(gaps) < len(MILESTONES) and (
            spent + e.price > MILESTONES[len(gaps)] * whole * (1 + 1e-9) or asked.total() == MOST
        ):
            gaps.append(world.gap(study.recommend().params))
        outcomes = world.measure(e.params)
        study.tell(e, {name: outcomes[name] for name in problem.tasks[e.task].outcomes})
        spent += e.price
        asked[e.task] += 1
    found = {"problem": plan.problem, "seed": plan.seed, "dear": plan.dear, "price": plan.price}
    return {**found, "gaps": gaps, "asked": dict(asked)}


def attempt(plan: Plan) -> dict[str, Any] | Failure:
    """The run of a plan, or how it failed."""
    try:
        return run(plan)
    except Exception as error:  # whatever one run does, the others go on
        return Failure.of(plan, error)  # pyright: ignore[reportArgumentType]


def compared(runs: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    """A row for each price: pairs, and apart less together at each milestone, with the error over problems."""
    together = {(r["problem"], r["seed"]): r["gaps"] for r in runs if not r["dear"]}
    for dear in (*DEAR, ""):
        for price in PRICES:
            changes: dict[str, list[list[float]]] = {}
            for r in runs:
                other = together.get((r["problem"], r["seed"]))
                if r["dear"] and dear in ("", r["dear"]) and r["price"] == price and other:
                    pairs = zip(r["gaps"], other, strict=True)
                    changes.setdefault(r["problem"], []).append([math.log10(a / b) for a, b in pairs])
            if changes:
                found = [
                    {name: [each[i] for each in of] for name, of in changes.items()} for i in range(len(MILESTONES))
                ]
                count = sum(map(len, changes.values()))
                yield [dear or "both", f"1:{price}", str(count), *map(mean_and_error, found)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs or compares; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prices", description=__doc__)
    parser.add_argument("do", choices=("run", "compare"))
    parser.add_argument("--out", type=Path, default=Path("build/prices.jsonl"), help="default %(default)s")
    parser.add_argument("--settings", type=json.loads, default={}, help="those of `Study`")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="default %(default)s")
    parser.add_argument("--prices", default=",".join(map(str, PRICES)), help="default %(default)s")
    parser.add_argument("--seeds", type=int, default=6, help="default %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="default %(default)s")
    given = parser.parse_args(arguments)
    if given.do == "compare":
        print("apart less together, mean log10 gap ± standard error over problems")
        print("\t".join(["dear", "price", "pairs", *map(str, MILESTONES)]))
        for row in compared(read(given.out)):
            print("\t".join(row))
        return
    given.out.parent.mkdir(parents=True, exist_ok=True)
    done = {(r["problem"], r["seed"], r["dear"], r["price"]) for r in read(given.out)}
    plans = [
        Plan(problem, seed, dear, price, given.settings)
        for seed in range(given.seeds)
        for dear, price in [("", 1), *((dear, int(price)) for price in given.prices.split(",") for dear in DEAR)]
        if price > 1 or dear != "constraint"  # at equal prices nothing is dear
        for problem in given.problems.split(",")
    ]
    plans = [plan for plan in plans if plan.key not in done]
    carry_out(attempt, plans, given.out, given.workers)


if __name__ == "__main__":
    main()
