"""`python -m benchmarks.rules --problem toy --seeds 20`: all rules side by side, by the utility gap over full runs.

All rules start from the same initial design, see the same models and are judged by the same recommendation after
every evaluation: only their questions differ. Problems are those of `pesky.test_functions`, where 'gp1', 'gp2', .. are
random functions in 1, 2, .. dimensions with known hyperparameters.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from benchmarks.contenders import CONTENDERS, sort_out
from benchmarks.figure import draw_figure
from benchmarks.report import console, progress_bar
from benchmarks.runs import INITIAL, Plan, Run
from benchmarks.runs_file import RunsFile
from benchmarks.summary import summarize, tabulate
from benchmarks.workers import Failure, run_all
from pesky.errors import ProblemError
from pesky.test_functions import PROBLEMS, problem_by_name


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for, checked; `benchmarks` are the problems by name."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rules",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--problem", default="toy", help=f"one or several, as in toy,gp2: {', '.join(PROBLEMS)}, gp1, .."
    )
    parser.add_argument("--rules", help=f"all that suit the problem if not given; of {', '.join(CONTENDERS)}")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=40, help="joint evaluations, initial ones included")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="recommend after every K-th evaluation only")
    parser.add_argument("--decoupled", action="store_true", help="every outcome is a task of its own")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side, one thread each")
    parser.add_argument(
        "--json", metavar="FILE", help="keep every run there as soon as it is finished, and go on from it"
    )
    parser.add_argument("--figure", metavar="FILE", help="draw the curves, as FILE.svg or FILE.png")
    given = parser.parse_args(arguments)
    given.rules = list(CONTENDERS) if given.rules is None else given.rules.split(",")
    if unknown := [label for label in given.rules if label not in CONTENDERS]:
        parser.error(f"unknown rules {', '.join(unknown)}: choose from {', '.join(CONTENDERS)}")
    for name, least in (("seeds", 1), ("workers", 1), ("every", 1), ("evaluations", INITIAL)):
        if getattr(given, name) < least:
            parser.error(f"--{name} was {getattr(given, name)}: expected {least} or more")
    try:
        given.benchmarks = {name: problem_by_name(name) for name in given.problem.split(",")}
    except ProblemError as error:
        parser.error(str(error))
    return given


def make_plans(given: argparse.Namespace) -> list[Plan]:
    """A plan for each seed and rule that suits; says which do not, and why."""
    plans = []
    for problem, benchmark in given.benchmarks.items():
        suited, skipped = sort_out(given.rules, benchmark, given.decoupled)
        for reason, labels in skipped.items():
            console.print(f"{problem}: without {', '.join(labels)}: {reason}", highlight=False)
        plans += [
            Plan(problem, label, seed, given.evaluations, given.decoupled, given.every)
            for seed in range(given.seeds)  # seed by seed, so that what an interruption leaves compares all rules
            for label in suited
        ]
    return plans


def run_with_bar(plans: Sequence[Plan], workers: int, file: RunsFile) -> list[Failure]:
    """Runs what the file does not have yet, and returns what failed."""
    failures = []
    missing = [plan for plan in plans if plan not in file.runs]
    with progress_bar() as bar:
        work = bar.add_task("runs", total=len(plans), completed=len(plans) - len(missing))
        for result in run_all(missing, workers):
            if isinstance(result, Run):
                file.add(result)
            else:
                failures.append(result)
            bar.advance(work)
    return failures


def group(plans: Sequence[Plan], runs: Mapping[Plan, Run]) -> dict[str, dict[str, list[Run]]]:
    """The finished runs of each problem and rule, by seed."""
    grouped: dict[str, dict[str, list[Run]]] = {}
    for plan in plans:
        if plan in runs:
            grouped.setdefault(plan.problem, {}).setdefault(plan.rule, []).append(runs[plan])
    return grouped


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs, prints and draws; 1 if a run failed. See `--help`."""
    given = parse(arguments)
    file, plans = RunsFile(given.json), make_plans(given)
    failures = run_with_bar(plans, given.workers, file)
    grouped = group(plans, file.runs)
    summaries = []
    for by_rule in grouped.values():
        own = [summarize(runs) for runs in by_rule.values()]
        console.print(tabulate(own, next(iter(by_rule.values()))[0].plan))
        summaries += own
    for failure in failures:
        plan = failure.plan
        console.print(f"failed: {plan.problem}, {plan.rule}, seed {plan.seed}: {failure.message}", highlight=False)
    file.write([asdict(each) for each in summaries], failures)
    if given.figure is not None and grouped:
        draw_figure(grouped, given.figure)
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
