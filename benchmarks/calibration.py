"""`python -m benchmarks.calibration`: whether answers are as good as they say.

Studies with the default settings on every problem. In the second half of its evaluations each study is asked now and
then where the model sees the best point, measured or not, and the truth is looked up there: whether the objective is in
its interval of 90 %, and whether the constraints hold that were promised. At the end, when the recommendation was
confirmed: whether it is worse than the best measured point.
"""

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from math import nan

import torch
from rich.table import Table

import pesky
from benchmarks.calibration_cases import CASES, Case, Values, case_by_name
from benchmarks.provenance import provenance
from benchmarks.report import build_table, console, progress_bar, write_json
from benchmarks.workers import begin_worker
from pesky.answer.recommend import best_anywhere
from pesky.problem import Problem

TOLERANCE = 1e-6
"""The part of the objective's range by which one point must be worse than another to be so."""


@dataclass
class Judged:
    """What was promised by one study, and what was true of it."""

    name: str
    seed: int
    covered: list[bool] = field(default_factory=list)
    """Of each answer that was not sure of its objective, whether the truth was in the interval."""
    promised: list[float] = field(default_factory=list)
    """The probability with which each constraint was promised to hold, where it was promised with its confidence."""
    kept: list[bool] = field(default_factory=list)
    """Whether it did."""
    is_feasible: bool = False
    """Whether every constraint holds at the final recommendation."""
    is_worse: bool = False
    """Whether the final recommendation is truly worse than the best measured point."""
    is_measured: bool = False
    expected: float = nan
    true: float = nan
    best: float = nan
    """The truth at the best measured point."""


def holds(problem: Problem, truth: Values) -> list[bool]:
    """Whether each constraint truly holds, up to rounding."""
    return [
        each.direction * (truth[each.outcome] - each.threshold) >= -1e-9 * max(1.0, abs(each.threshold))
        for each in problem.constraints
    ]


def judge(name: str, seed: int, evaluations: int) -> Judged:
    """One study, asked again and again for its answer."""
    case, chance = case_by_name(name, seed), torch.Generator().manual_seed(seed)
    study, judged = pesky.Study(case.problem, seed=seed), Judged(name, seed)

    def measure(params: Mapping[str, object]) -> Values:
        return case.measure(params, chance)  # pyright: ignore[reportArgumentType]

    before = evaluations - min(3, evaluations // 10)
    for count in range(1, before + 1):
        study.run(measure, pesky.Budget(evaluations=count, confirm=0), progress=False)
        if count >= evaluations // 2 and (count == before or count % 3 == 0):
            look(study, case, judged)
    study.run(measure, pesky.Budget(evaluations=evaluations), progress=False)
    finish(study, case, judged)
    return judged


def look(study: pesky.Study, case: Case, judged: Judged) -> None:
    """Take down what the model's best point promises, and what is true there."""
    found = best_anywhere(study.inferred())
    if not found.is_confident:
        return
    truth = case.truth(found.params)
    if found.deviation > 0:
        low, high = found.interval
        judged.covered.append(low <= truth[found.objective] <= high)
    for constraint, p, kept in zip(
        case.problem.constraints, found.probabilities.values(), holds(case.problem, truth), strict=True
    ):
        if p >= constraint.confidence and p < 1:
            judged.promised.append(p)
            judged.kept.append(kept)


def finish(study: pesky.Study, case: Case, judged: Judged) -> None:
    """Take down the final answer beside the best measured point."""
    recommended, best = study.recommend(), study.best()
    truth, at_best = case.truth(recommended.params), case.truth(best.params)
    name, sign = case.problem.objective, case.problem.sign
    values = [e.outcomes[name] for e in study.evaluations.values() if name in e.outcomes]
    judged.is_feasible = all(holds(case.problem, truth))
    judged.is_measured = recommended.is_measured
    judged.expected, judged.true, judged.best = recommended.expected, truth[name], at_best[name]
    if all(holds(case.problem, at_best)):
        by = sign * (truth[name] - at_best[name])
        judged.is_worse = not judged.is_feasible or by > TOLERANCE * (max(values) - min(values))


def tabulate(results: Sequence[Judged], evaluations: int) -> Table:
    """A line per problem, and one for all."""
    lines = [_line(name, [r for r in results if r.name == name]) for name in dict.fromkeys(r.name for r in results)]
    lines.append(_line("all", results))
    head = ["problem", "runs", "in 90 %", "promises kept", "promised", "feasible", "measured", "worse than best"]
    title = f"Answers of studies of {evaluations} evaluations with the default settings, and the truth"
    caption = "in 90 %: how often the objective was in its interval at the model's best point, from half of the run on."
    return build_table(title, head, lines, caption)


def _line(name: str, own: Sequence[Judged]) -> list[str]:
    covered = [each for r in own for each in r.covered]
    kept, promised = [each for r in own for each in r.kept], [p for r in own for p in r.promised]
    return [
        name,
        str(len(own)),
        _share(covered),
        _share(kept),
        f"{sum(promised) / len(promised):.3f}" if promised else "",
        f"{sum(r.is_feasible for r in own)}",
        f"{sum(r.is_measured for r in own)}",
        f"{sum(r.is_worse for r in own)}",
    ]


def _share(given: Sequence[bool]) -> str:
    return f"{sum(given)}/{len(given)} = {sum(given) / len(given):.0%}" if given else ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--problems", default=",".join(CASES), help="comma-separated, default: all")
    parser.add_argument("--seeds", type=int, default=2, help="studies of each, default %(default)s")
    parser.add_argument("--evaluations", type=int, default=25, help="default %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="studies at once, default %(default)s")
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    given = parser.parse_args(arguments)
    jobs = [(name, seed) for seed in range(given.seeds) for name in given.problems.split(",")]
    results = []
    with progress_bar() as bar, ProcessPoolExecutor(given.workers, initializer=begin_worker) as pool:
        task = bar.add_task("studies", total=len(jobs))
        for done in as_completed([pool.submit(judge, *job, given.evaluations) for job in jobs]):
            results.append(done.result())
            bar.advance(task)
    results.sort(key=lambda r: ([*CASES].index(r.name), r.seed))
    console.print(tabulate(results, given.evaluations))
    write_json(
        given.json,
        provenance("benchmarks.calibration") | {"evaluations": given.evaluations, "runs": [asdict(r) for r in results]},
    )


if __name__ == "__main__":
    main()
