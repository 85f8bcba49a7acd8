"""`python -m benchmarks.peers --problems pressure-vessel,spring --seeds 10`: pesky beside others, live.

Every optimizer starts from the same points and sees the same noise. Judged by its own answer, and by the best point
that it measured and that held every constraint as measured: the true utility gap of each.
"""

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from benchmarks.gaps import median_error
from benchmarks.peers import PEERS
from benchmarks.peers.contest import INITIAL, Entry, Result, append_result, contest, read_results
from benchmarks.report import build_table, console, progress_bar
from benchmarks.workers import side_by_side
from pesky.errors import ProblemError
from pesky.test_functions import PROBLEMS, problem_by_name

DEFAULT_PEERS = ("pesc", "eic", "optuna-gp", "optuna-tpe")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for, checked."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="comma-separated, default: all; gp2, .. too")
    parser.add_argument("--peers", default=",".join(DEFAULT_PEERS), help=f"default: %(default)s; of {', '.join(PEERS)}")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each, default %(default)s")
    parser.add_argument("--evaluations", type=int, default=40, help="of each run, default %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side, one thread each")
    parser.add_argument("--file", type=Path, help="keep every run there as soon as it is finished, and go on from it")
    given = parser.parse_args(arguments)
    given.problems, given.peers = given.problems.split(","), given.peers.split(",")
    if unknown := [name for name in given.peers if name not in PEERS]:
        parser.error(f"unknown peers {', '.join(unknown)}: choose from {', '.join(PEERS)}")
    for name, least in (("seeds", 1), ("workers", 1), ("evaluations", INITIAL)):
        if getattr(given, name) < least:
            parser.error(f"--{name} was {getattr(given, name)}: expected {least} or more")
    try:
        for name in given.problems:
            problem_by_name(name)
    except ProblemError as error:
        parser.error(str(error))
    return given


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


def tabulate(problem: str, results: Sequence[Result]) -> Table:
    """Of each peer, the median gap of its answer and of the best that it measured, at every milestone."""
    milestones = results[0].entry.milestones
    lines = []
    for peer in dict.fromkeys(result.entry.peer for result in results):
        own = [result for result in results if result.entry.peer == peer and not result.error]
        if not own:
            continue
        seconds = statistics.mean([s for r in own for s in r.seconds])
        for what, gaps in (("answer", [r.answers for r in own]), ("measured", [r.measured for r in own])):
            figures = [_figure([each[n] for each in gaps]) for n in milestones]
            end = [f"{seconds:.2f}"] if what == "answer" else [""]
            lines.append([f"{peer} ({len(own)})" if what == "answer" else "", what, *figures, *end])
    caption = "Median utility gap ± its bootstrap error. answer: its own; measured: the best that held as measured."
    heads = ["peer (runs)", "gap of", *(f"n = {n}" for n in milestones), "CPU s / ask"]
    return build_table(f"{problem} after n evaluations", heads, lines, caption, labels=2)


def _figure(gaps: Sequence[float]) -> str:
    error = f" ± {median_error(gaps):.2g}" if len(gaps) > 1 else ""
    return f"{statistics.median(gaps):.3g}{error}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs and prints; 1 if a run failed. See `--help`."""
    given = parse(arguments)
    entries = [
        Entry(problem, peer, seed, given.evaluations)
        for seed in range(given.seeds)  # seed by seed, so that what an interruption leaves compares all peers
        for problem in given.problems
        for peer in given.peers
    ]
    results = run_all(entries, given.workers, given.file)
    for problem in given.problems:
        console.print(tabulate(problem, [result for entry, result in results.items() if entry.problem == problem]))
    failed = [result for result in results.values() if result.error]
    for result in failed:
        entry = result.entry
        console.print(f"failed: {entry.problem}, {entry.peer}, seed {entry.seed}: {result.error}", highlight=False)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
