"""`python -m benchmarks.peers --problems pressure-vessel,spring --seeds 10`: pesky beside others, live.

Every optimizer starts from the same points and sees the same noise. Judged by the true utility gap of its own answer,
of the best point that it measured and that held every constraint as measured, and of what pesky would recommend given
the same points.
"""

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from benchmarks.peers import PEERS
from benchmarks.peers.contest import contest, initial_count
from benchmarks.peers.judge import judge
from benchmarks.peers.kept import keep, of_problems
from benchmarks.peers.ranks_figure import draw_ranks
from benchmarks.peers.results import Entry, Result, append_result, read_results
from benchmarks.peers.tables import table_of_problem, table_of_standings
from benchmarks.report import console, progress_bar
from benchmarks.workers import side_by_side
from pesky.errors import PeskyError, ProblemError
from pesky.problem import Problem
from pesky.test_functions import PROBLEMS, problem_by_name

DEFAULT_PROBLEMS = (*PROBLEMS, "gp2")
DEFAULT_PEERS = ("pesc", "jesc", "eic", "optuna-gp", "optuna-tpe", "botorch-logei", "botorch-qlognei", "scbo")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for, checked."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", default=",".join(DEFAULT_PROBLEMS), help="comma-separated, default: %(default)s")
    parser.add_argument("--peers", default=",".join(DEFAULT_PEERS), help=f"default: %(default)s; of {', '.join(PEERS)}")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each, default %(default)s")
    parser.add_argument("--evaluations", type=int, default=40, help="of each run, default %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side, one thread each")
    parser.add_argument("--file", type=Path, help="keep every run there as soon as it is finished, and go on from it")
    parser.add_argument("--judge-again", action="store_true", help="the common recommendation anew, by today's pesky")
    parser.add_argument("--figure", type=Path, help="draw the ranks, as FILE.svg or FILE.png")
    given = parser.parse_args(arguments)
    given.problems, given.peers = given.problems.split(","), given.peers.split(",")
    if unknown := [name for name in given.peers if name not in PEERS]:
        parser.error(f"unknown peers {', '.join(unknown)}: choose from {', '.join(PEERS)}")
    try:
        given.initial = {name: initial_count(problem_of(name)) for name in given.problems}
        given.refused = {(p, q): reason for p in given.problems for q in given.peers if (reason := refusal(p, q))}
    except PeskyError as error:
        parser.error(str(error))
    for name, least in (("seeds", 1), ("workers", 1), ("evaluations", max(given.initial.values()))):
        if getattr(given, name) < least:
            parser.error(f"--{name} was {getattr(given, name)}: expected {least} or more")
    return given


@cache
def problem_of(name: str) -> Problem:
    """The problem of that name: with drawn functions, that takes a second."""
    return problem_by_name(name).problem


def refusal(problem: str, peer: str) -> str:
    """Why an optimizer cannot take a problem; nothing if it can."""
    try:
        PEERS[peer](problem_of(problem), 0, 40)
    except ProblemError as error:
        return str(error)
    return ""


def list_entries(given: argparse.Namespace) -> list[Entry]:
    """What is run, seed by seed, so that what an interruption leaves compares all peers."""
    return [
        Entry(problem, peer, seed, given.evaluations, given.initial[problem])
        for seed in range(given.seeds)
        for problem in given.problems
        for peer in given.peers
        if (problem, peer) not in given.refused
    ]


def run_all(entries: Sequence[Entry], workers: int, path: Path | None) -> dict[Entry, Result]:
    """The results of all entries; those that the file has are not run again."""
    results = read_results(path)
    missing = [entry for entry in entries if entry not in results]
    with progress_bar() as bar:
        work = bar.add_task("runs", total=len(entries), completed=len(entries) - len(missing))
        for result in side_by_side(contest, missing, workers):
            results[result.entry] = result
            append_result(path, result)
            bar.advance(work)
    return {entry: results[entry] for entry in entries}


def judge_all(results: dict[Entry, Result], workers: int, path: Path | None) -> None:
    """Judges what has not been judged yet, and keeps that as well."""
    missing = [result for result in results.values() if not result.error and not result.common]
    with progress_bar() as bar:
        work = bar.add_task("judged", total=len(missing))
        for result in side_by_side(judge, missing, workers):
            results[result.entry] = result
            append_result(path, result)
            bar.advance(work)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs and prints; 1 if a run failed. See `--help`."""
    given = parse(arguments)
    for (problem, peer), reason in given.refused.items():
        console.print(f"{problem}: without {peer}: {reason}", highlight=False)
    results = run_all(list_entries(given), given.workers, given.file)
    if given.judge_again:
        for result in results.values():
            result.common = {}
    judge_all(results, given.workers, given.file)
    finished = [keep(result) for result in results.values() if not result.error]
    for problem, runs in of_problems(finished).items():
        console.print(table_of_problem(problem, runs))
    if len({run.peer for run in finished}) > 1:
        console.print(table_of_standings(finished))
    if given.figure is not None and finished:
        draw_ranks(finished, given.figure)
    failed = [result for result in results.values() if result.error]
    for result in failed:
        entry = result.entry
        console.print(f"failed: {entry.problem}, {entry.peer}, seed {entry.seed}: {result.error}", highlight=False)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
