"""`python -m benchmarks.policies`: what a change of a strategy or an answer is worth, by runs in pairs.

The same problems and seeds are run under different labels, also by different versions of pesky, into one file; then
labels are compared: the difference of the log10 gaps of the answer, in the mean over all pairs, with its standard
error over problems. An infeasible answer counts as a gap of 100 %, the median gap of a random point.

    python -m benchmarks.policies run --label six --settings '{"initial": 6}' --out runs.jsonl
    python -m benchmarks.policies compare default six --out runs.jsonl

`answers` asks nothing: the answers of this version to the data of another label's runs, which is a matter of minutes.

    python -m benchmarks.policies answers default --label new --out runs.jsonl
"""

import argparse
import json
import math
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch

import pesky
from benchmarks.ridges import ridges
from benchmarks.workers import Failure, side_by_side
from pesky.space import Space
from pesky.test_functions import Benchmark, problem_by_name

P = TypeVar("P")
CLASSICS = (
    "toy", "gardner1", "branin-disk", "crescent", "hartmann6", "pressure-vessel", "welded-beam", "spring",
    "speed-reducer", "g04", "g08", "g09", "g24", "keane-bump", "mishra-bird", "townsend", "simionescu", "gomez-levy",
    "three-bar-truss", "cantilever", "pressure-vessel-plates", "spring-turns", "process-synthesis", "toy-yes-no",
)  # fmt: skip
RIDGES = (
    "ridges-2-1",
    "ridges-2-2",
    "ridges-3-1",
    "ridges-4-1",
    "ridges-4-3",
    "ridges-5-2",
    "ridges-6-2",
    "ridges-8-1",
)
PROBLEMS = (*CLASSICS, *RIDGES)
KINDS = ("exact", "silent", "noisy")
"""Without noise, declared; without noise, undeclared; with noise of 5 % of each outcome's spread, undeclared."""
NOISE = 0.05
MILESTONES = (10, 20, 30, 40)
FLOOR = 1e-6
"""What a gap is at least, of the median gap of a random point."""


class Plan(NamedTuple):
    """One run."""

    label: str
    problem: str
    kind: str
    seed: int
    settings: Mapping[str, Any]
    told: Sequence[tuple[dict[str, Any], dict[str, float]]] = ()
    """What was measured, where nothing is to be asked."""


class World:
    """A problem as it is measured: with or without noise, declared or not."""

    def __init__(self, plan: Plan) -> None:
        self.benchmark = _benchmark(plan.problem, plan.seed)
        space = Space.of(self.benchmark.problem)
        rows = self.benchmark.truth(space.spread(1024, 1).double())
        self.scale = float((rows[:, 0] - self.benchmark.optimum_value).clamp(min=0).median()) or 1.0
        names = dict.fromkeys(self.benchmark.problem.rows)
        spread = (rows.quantile(0.9, 0) - rows.quantile(0.1, 0)).tolist()
        is_noisy = plan.kind == "noisy"
        self._noise = {name: NOISE * each * is_noisy for name, each in zip(names, spread, strict=True)}
        self._generator = torch.Generator().manual_seed(1_000 + plan.seed)
        self.problem = replace(self.benchmark.problem, noise=0.0 if plan.kind == "exact" else None)

    def measure(self, params: Mapping[str, Any]) -> dict[str, float]:
        """What is told of a point."""
        yes_no = self.problem.yes_no
        return {
            name: value
            if name in yes_no
            else value + self._noise[name] * float(torch.randn((), generator=self._generator))
            for name, value in self.benchmark.evaluate(params).items()
        }

    def gap(self, params: Mapping[str, Any]) -> float:
        """How far a point is from the optimum, of the median gap of a random point; 1 if it is infeasible."""
        if not self.benchmark.is_feasible(params):
            return 1.0
        return min(max(self.benchmark.utility_gap(params) / self.scale, FLOOR), 1.0)


def _benchmark(name: str, seed: int) -> Benchmark:
    if name.startswith("ridges-"):
        dim, constraints = map(int, name.split("-")[1:])
        return ridges(dim, constraints, seed)
    return problem_by_name(name, seed)


def run(plan: Plan) -> dict[str, Any]:
    """The gaps of the answer and of the best measured point at each milestone."""
    warnings.simplefilter("ignore")
    world = World(plan)
    study = pesky.Study(world.problem, seed=plan.seed, **plan.settings)
    gaps: dict[str, dict[str, Any]] = {}
    told: list[tuple[dict[str, Any], dict[str, float]]] = []
    for count in range(1, MILESTONES[-1] + 1):
        if plan.told:
            study.add(*plan.told[count - 1])
        else:
            asked = study.ask()
            told.append((dict(asked.params), world.measure(asked.params)))
            study.tell(asked, told[-1][1])
        if count in MILESTONES:
            answer = study.recommend()
            gaps[str(count)] = {
                "answer": world.gap(answer.params),
                "best": world.gap(study.best().params),
                "is_promised": answer.is_confident,
                "is_feasible": world.benchmark.is_feasible(answer.params),
            }
    found = {"label": plan.label, "problem": plan.problem, "kind": plan.kind, "seed": plan.seed, "gaps": gaps}
    return {**found, "told": told}


def attempt(plan: Plan) -> dict[str, Any] | Failure:
    """The run of a plan, or how it failed."""
    try:
        return run(plan)
    except Exception as error:  # whatever one run does, the others go on
        return Failure.of(plan, error)  # pyright: ignore[reportArgumentType]


def read(path: Path) -> list[dict[str, Any]]:
    """The runs of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def carry_out(attempt: Callable[[P], dict[str, Any] | Failure], plans: Sequence[P], out: Path, workers: int) -> None:
    """Runs what is planned and appends what came of it, a line a run; a run that fails is named."""
    with out.open("a") as file:
        for i, result in enumerate(side_by_side(attempt, plans, workers), 1):
            if isinstance(result, Failure):
                print(f"failed: {result.plan} {result.message}", flush=True)
                continue
            file.write(json.dumps(result) + "\n")
            file.flush()
            print(
                f"{i}/{len(plans)}", *(value for value in result.values() if isinstance(value, str | int)), flush=True
            )


def mean_and_error(by_problem: Mapping[str, Sequence[float]]) -> str:
    """The mean over problems, each by its own mean, with its standard error."""
    means = [statistics.fmean(each) for each in by_problem.values()]
    error = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.nan
    return f"{statistics.fmean(means):+.2f} ± {error:.2f}"


def compared(runs: Sequence[Mapping[str, Any]], first: str, second: str, what: str) -> Iterator[list[str]]:
    """A row for each kind of data: pairs, and the mean difference of log10 gaps at each milestone with its error."""
    found = {(r["label"], r["problem"], r["kind"], r["seed"]): r["gaps"] for r in runs}
    for kind in (*KINDS, "all"):
        pairs = [
            (problem, gaps, found[second, problem, each, seed])
            for (label, problem, each, seed), gaps in found.items()
            if label == first and kind in (each, "all") and (second, problem, each, seed) in found
        ]
        if not pairs:
            continue
        row = [kind, str(len(pairs))]
        for count in map(str, MILESTONES):
            by_problem: dict[str, list[float]] = {}
            for problem, before, after in pairs:
                change = math.log10(after[count][what]) - math.log10(before[count][what])
                by_problem.setdefault(problem, []).append(change)
            row.append(mean_and_error(by_problem))
        for gaps in (1, 2):
            broken = [p[gaps]["40"]["is_promised"] and not p[gaps]["40"]["is_feasible"] for p in pairs]
            row.append(f"{sum(broken)}")
        yield row


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs or compares; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.policies", description=__doc__)
    parser.add_argument("do", choices=("run", "answers", "compare"))
    parser.add_argument("labels", nargs="*", help="compare: two labels, the new one last; answers: of whose data")
    parser.add_argument("--out", type=Path, default=Path("build/policies.jsonl"), help="default %(default)s")
    parser.add_argument("--label", help="run: what the runs are called")
    parser.add_argument("--settings", type=json.loads, default={}, help='run: those of `Study`, like {"initial": 6}')
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="default all")
    parser.add_argument("--kinds", default=",".join(KINDS), help="default %(default)s")
    parser.add_argument("--seeds", type=int, default=4, help="default %(default)s")
    parser.add_argument("--first-seed", type=int, default=0, help="default %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="default %(default)s")
    given = parser.parse_args(arguments)
    if given.do == "compare":
        first, second = given.labels
        for what in ("answer", "best"):
            print(
                f"{what}: {second} less {first}, mean log10 gap ± standard error over problems; broken promises at 40"
            )
            print("\t".join(["kind", "pairs", *map(str, MILESTONES), first, second]))
            for row in compared(read(given.out), first, second, what):
                print("\t".join(row))
        return
    given.out.parent.mkdir(parents=True, exist_ok=True)
    runs = read(given.out)
    done = {(r["label"], r["problem"], r["kind"], r["seed"]) for r in runs}
    data = {(r["problem"], r["kind"], r["seed"]): r["told"] for r in runs if r["label"] in given.labels}
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    plans = [
        Plan(given.label, problem, kind, seed, given.settings, data.get((problem, kind, seed), ()))
        for seed in seeds
        for kind in given.kinds.split(",")
        for problem in given.problems.split(",")
        if (given.label, problem, kind, seed) not in done and (given.do == "run" or (problem, kind, seed) in data)
    ]
    carry_out(attempt, plans, given.out, given.workers)


if __name__ == "__main__":
    main()
