"""What all runs come to, as lines of tables: of one problem, of all problems, and the standings."""

import statistics
from collections import Counter
from collections.abc import Sequence

import numpy as np
from rich.table import Table

from benchmarks.gaps import FLOOR, median_error
from benchmarks.peers.kept import KINDS, Kept, of_problems
from benchmarks.peers.standing import (
    STUCK_FACTOR,
    STUCK_SHARE,
    common_field,
    compare,
    gaps_of,
    places_of,
    standings,
    stuck,
    stuck_runs,
)
from benchmarks.report import build_table

NONE = "–"  # noqa: RUF001 (a dash is what a reader expects)
STUCK = (
    f"stuck: runs whose last gap is over {STUCK_FACTOR:.0f} times the best peer's median and over {STUCK_SHARE:.0%} of "
    "the objective's scale (its range, or its optimum if that is smaller)"
)


def milestones_of(kept: Sequence[Kept]) -> list[int]:
    """The numbers of evaluations at which there are gaps."""
    return sorted({n for run in kept for gaps in run.gaps.values() for n in gaps})


def seconds_of(kept: Sequence[Kept], peer: str) -> str:
    """CPU seconds that a peer takes for an ask."""
    return f"{statistics.fmean(run.seconds for run in kept if run.peer == peer):.2f}"


def table_of_problem(problem: str, kept: Sequence[Kept]) -> Table:
    """Of each peer and kind of judgement, the median gap at every milestone; means and stuck runs at the end."""
    milestones = milestones_of(kept)
    lines, last = [], milestones[-1]
    stuck = {kind: stuck_runs(kept, kind) for kind in KINDS}
    for peer in dict.fromkeys(run.peer for run in kept):
        for kind, words in KINDS.items():
            gaps = {n: each for n in milestones if (each := gaps_of(kept, kind, n).get(peer)) is not None}
            if not gaps:
                continue
            is_first_line = kind == next(iter(KINDS))
            count = len(gaps[last])
            line = [f"{peer} ({count})" if is_first_line else "", words]
            line += [figure(gaps[n].tolist()) if n in gaps else NONE for n in milestones]
            logs = np.log10(np.maximum(gaps[last], FLOOR))
            line += [f"{gaps[last].mean():.3g}", f"{logs.mean():.2f}", str(stuck[kind][peer])]
            lines.append([*line, seconds_of(kept, peer) if is_first_line else ""])
    caption = f"Median utility gap ± its bootstrap error after n evaluations; the means at n = {last}; {STUCK}."
    heads = ["peer (runs)", "gap of", *(f"n = {n}" for n in milestones), "mean", "mean\nlog10", "stuck", "CPU s\n/ ask"]
    return build_table(f"{problem} after n evaluations", heads, lines, caption, labels=2)


def figure(gaps: Sequence[float]) -> str:
    """The median, with its error where there are several."""
    error = f" ± {median_error(gaps):.1g}" if len(gaps) > 1 else ""
    return f"{statistics.median(gaps):.3g}{error}"


def lines_of_standings(kept: Sequence[Kept], kind: str) -> tuple[list[str], list[list[str]]]:
    """Heads and lines, one for each peer: its mean rank, where it is first and last, and its stuck runs and time."""
    milestones, kept = milestones_of(kept), common_field(kept, kind)
    at = {n: standings(kept, kind, n) for n in milestones}
    stuck = stuck_runs(kept, kind)
    lines = []
    for peer, final in at[milestones[-1]].items():
        own = [at[n].get(peer) for n in milestones]
        ranks = [NONE if each is None else f"{each.rank:.2f} ± {each.error:.2f}" for each in own]
        firsts = [NONE if each is None else str(each.firsts) for each in own]
        lasts = [NONE if each is None else str(each.lasts) for each in own]
        runs = sum(run.peer == peer and kind in run.gaps for run in kept)
        end = [f"{final.problems}", " / ".join(firsts), " / ".join(lasts), f"{stuck[peer]} of {runs}"]
        lines.append([peer, *ranks, *end, seconds_of(kept, peer)])
    numbers = " / ".join(map(str, milestones))
    heads = ["peer", *(f"rank at {n}" for n in milestones)]
    return [*heads, "problems", f"first at {numbers}", f"last at {numbers}", "stuck", "CPU s / ask"], lines


def lines_of_defeats(kept: Sequence[Kept], kind: str, peer: str) -> list[list[str]]:
    """Where a peer is not first, with those that are, and where runs of its are stuck: by number of evaluations."""
    lines, milestones = [], milestones_of(kept)
    for n in milestones:
        others = {
            problem: [f"`{each}`" for each in places.peers if places.is_first(each)]
            for problem, places in places_of(kept, kind, n).items()
            if peer in places.peers and not places.is_first(peer)
        }
        lines.append(
            [f"not first at {n}", str(len(others)), ", ".join(f"`{p}` ({', '.join(w)})" for p, w in others.items())]
        )
    runs = Counter(run.problem for run in kept if run.peer == peer and kind in run.gaps)
    found = Counter(run.problem for run in stuck(kept, kind) if run.peer == peer)
    each = ", ".join(f"`{problem}` ({count} of {runs[problem]} runs)" for problem, count in sorted(found.items()))
    return [*lines, [f"stuck at {milestones[-1]}", str(len(found)), each]]


def table_of_standings(kept: Sequence[Kept]) -> Table:
    """The standings by every kind of judgement."""
    heads, lines = [], []
    for kind, words in KINDS.items():
        heads, own = lines_of_standings(kept, kind)
        lines += [[words if i == 0 else "", *line] for i, line in enumerate(own)]
    caption = (
        "Of the peers that ran every problem. rank: by the mean log10 gap, the mean over problems ± the bootstrap's "
        f"error over runs. first: problems on which it is first or within one standard error of the first; last: all "
        f"others are better; {STUCK}."
    )
    return build_table("All problems", ["judged by", *heads], lines, caption, labels=2)


def lines_of_problems(kept: Sequence[Kept], kind: str, peers: Sequence[str], n: int) -> list[list[str]]:
    """A line for each problem: the median gap of each peer, in bold type where it is first or within an error of it."""
    lines = []
    for problem, runs in of_problems(kept).items():
        if not (gaps := gaps_of(runs, kind, n)):
            continue
        places = compare(gaps)
        cells = []
        for peer in peers:
            text = f"{np.median(gaps[peer]):.2g}" if peer in gaps else NONE
            cells.append(f"**{text}**" if peer in gaps and places.is_first(peer) else text)
        counts = sorted({len(each) for each in gaps.values()})
        lines.append([f"`{problem}`", NONE.join(map(str, dict.fromkeys((counts[0], counts[-1])))), *cells])
    return lines
