"""`python -m benchmarks.peers.page [RUNS ..]`: puts runs into docs/peers/, and makes docs/peers.md's tables and figure.

RUNS are files that `python -m benchmarks.peers --file RUNS` wrote; of the same run the last is kept. Without them the
tables and the figure are made from what is there. A table stands between `<!-- table:standings-answer -->` and
`<!-- end -->`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.contest import initial_count
from benchmarks.peers.kept import KINDS, Kept, keep, of_problems, read_kept, write_kept
from benchmarks.peers.ranks_figure import draw_ranks
from benchmarks.peers.results import read_results
from benchmarks.peers.standing import standings
from benchmarks.peers.tables import lines_of_defeats, lines_of_problems, lines_of_standings
from experiments.tables import PLACE, markdown
from pesky.test_functions import PROBLEMS, problem_by_name

DOCS = Path(__file__).parents[2] / "docs"
EVALUATIONS = 40


def gather(kept: Sequence[Kept], paths: Sequence[Path]) -> list[Kept]:
    """What was kept, with what the files have, of whatever began with today's number of points and was not shorter."""
    found = {run.key: run for run in kept}
    for path in paths:
        for result in read_results(path).values():
            run = keep(result)
            if run.evaluations == EVALUATIONS:
                found[run.key] = run
    today = {name: initial_count(problem_by_name(name).problem) for name in of_problems(list(found.values()))}
    order = {name: i for i, name in enumerate(PROBLEMS)}
    own = [run for run in found.values() if run.initial == today[run.problem]]
    return sorted(own, key=lambda run: (order.get(run.problem, len(order)), run.key))


def table(kept: Sequence[Kept], name: str) -> str:
    """The table of that name: "standings-KIND", "defeats-KIND-PEER", or "problems-KIND-N" after N evaluations."""
    what, _, rest = name.partition("-")
    if what == "standings" and rest in KINDS:
        heads, lines = lines_of_standings(kept, rest)
        if not lines:
            return "(no two ran every problem, or they are not judged yet)\n"
        return markdown(heads, [[f"`{line[0]}`", *line[1:]] for line in lines])
    kind, _, n = rest.partition("-")
    if what == "defeats" and kind in KINDS:
        return markdown([f"`{n}`", "problems", ""], lines_of_defeats(kept, kind, n))
    if what != "problems" or kind not in KINDS or not n.isdecimal():
        expected = "standings-KIND, defeats-KIND-PEER or problems-KIND-N"
        raise ValueError(f"the table {name!r}: expected {expected}, KIND of {', '.join(KINDS)}")
    ranked = list(standings(kept, kind, EVALUATIONS))
    peers = list(dict.fromkeys([*ranked, *(run.peer for run in kept)]))
    heads = ["problem", "runs", *(f"`{peer}`" for peer in peers)]
    return markdown(heads, lines_of_problems(kept, kind, peers, int(n)))


def rewrite(text: str, kept: Sequence[Kept]) -> str:
    """The page with its tables made again."""
    return PLACE.sub(lambda match: f"{match[1]}\n{table(kept, match[2])}\n{match[4]}", text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrites docs/peers.md, docs/peers/runs.json and docs/peers/ranks.png. See `--help`."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers.page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="*", type=Path, help="files of `python -m benchmarks.peers --file`")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where peers.md and the folder peers are")
    given = parser.parse_args(arguments)
    if absent := [str(path) for path in given.runs if not path.exists()]:
        parser.error(f"no such file: {', '.join(absent)}")
    folder, page = given.docs / "peers", given.docs / "peers.md"
    kept = gather(read_kept(folder / "runs.json"), given.runs)
    if not kept:
        parser.error("there are no runs: give a file of `python -m benchmarks.peers --file`")
    folder.mkdir(exist_ok=True)
    write_kept(folder / "runs.json", kept)
    page.write_text(rewrite(page.read_text(), kept))
    draw_ranks(kept, folder / "ranks.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
