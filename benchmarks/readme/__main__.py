"""`python -m benchmarks.readme --workers 16`: runs all that the README's table claims, and makes the table.

Results go to docs/results/readme.json, and from there into README.md and docs/benchmarks.md. The file is of one run:
with `--only` it has these parts alone, and so have the tables. With `--pages` nothing is run: the tables are made again
from the files in docs/results.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from benchmarks.provenance import provenance
from benchmarks.readme.jobs import RUNS, compared_problems, gathered, list_jobs, run
from benchmarks.readme.tables import PAGES, RESULTS, rewrite
from benchmarks.report import progress_bar
from benchmarks.workers import side_by_side
from experiments.files import write_json


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for, checked."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.readme", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10, help="runs of each, default %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side, one thread each")
    parser.add_argument("--only", nargs="+", choices=RUNS, default=list(RUNS), help="parts, default: all")
    parser.add_argument("--problems", help="comma-separated; default: those of up to four parameters that both take")
    parser.add_argument(
        "--json", type=Path, default=RESULTS / "readme.json", metavar="FILE", help="default %(default)s"
    )
    parser.add_argument("--pages", action="store_true", help="run nothing, and make the tables of the pages again")
    given = parser.parse_args(arguments)
    for name in ("seeds", "workers"):
        if getattr(given, name) < 1:
            parser.error(f"--{name} was {getattr(given, name)}: expected 1 or more")
    given.problems = compared_problems() if given.problems is None else given.problems.split(",")
    return given


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs, writes the file, and the pages where it is theirs. See `--help`."""
    given = parse(arguments)
    if not given.pages:
        origin, began = provenance("benchmarks.readme"), monotonic()
        jobs, done = list_jobs(given.only, given.problems, given.seeds), []
        with progress_bar() as bar:
            work = bar.add_task("runs", total=len(jobs))
            for each in side_by_side(run, jobs, given.workers):
                done.append(each)
                bar.advance(work)
        write_json(given.json, origin | {"seconds": round(monotonic() - began)} | gathered(done))
    if given.json == RESULTS / "readme.json":
        for page in PAGES:
            page.write_text(rewrite(page.read_text()))


if __name__ == "__main__":
    main()
