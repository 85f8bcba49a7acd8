"""What the runs of each rule come to: medians with bootstrap errors, means, and times, as figures and as a table."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from benchmarks.gaps import first_below, median_error
from benchmarks.report import build_table
from benchmarks.runs import Plan, Run

LIMIT = 0.01


@dataclass(frozen=True)
class Summary:
    """The figures of one rule on one problem.

    median, error, mean:  of the utility gap at each milestone; the error is the bootstrap's of the median,
                          None of a single run
    infeasible:           share of the last recommendations that violate a constraint
    first_below:          the median number of evaluations from which the gap stays below `LIMIT`; None: never
    ask, recommend, fit:  CPU seconds, means over all runs
    """

    problem: str
    rule: str
    runs: int
    median: dict[int, float]
    error: dict[int, float | None]
    mean: dict[int, float]
    infeasible: float
    first_below: float | None
    ask: float
    recommend: float
    fit: float


def summarize(runs: Sequence[Run]) -> Summary:
    """The figures of the runs of one rule on one problem."""
    plan = runs[0].plan
    gaps = {n: [run.gap_at(n) for run in runs] for n in plan.milestones}
    below = statistics.median(first_below(run.gaps, LIMIT, run.counts) for run in runs)
    return Summary(
        problem=plan.problem,
        rule=plan.rule,
        runs=len(runs),
        median={n: statistics.median(each) for n, each in gaps.items()},
        error={n: median_error(each) if len(runs) > 1 else None for n, each in gaps.items()},
        mean={n: statistics.mean(each) for n, each in gaps.items()},
        infeasible=statistics.mean(not run.is_feasible[-1] for run in runs),
        first_below=below if math.isfinite(below) else None,
        ask=mean([seconds for run in runs for seconds in run.ask_seconds]),
        recommend=mean([seconds for run in runs for seconds in run.recommend_seconds]),
        fit=mean([seconds for run in runs for seconds in run.fit_seconds]),
    )


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing, as of the asks of a run that ended with its initial design."""
    return statistics.mean(values) if values else 0.0


def tabulate(summaries: Sequence[Summary], plan: Plan) -> Table:
    """Three lines per rule: the median gap, its bootstrap error, and the mean gap."""
    lines = []
    for each in summaries:
        median, error, average = (
            ["-" if (gap := figures[n]) is None else f"{gap:.2g}" for n in plan.milestones]
            for figures in (each.median, each.error, each.mean)
        )
        end = [f"{each.infeasible:.0%}", "never" if each.first_below is None else f"{each.first_below:g}"]
        seconds = [f"{value:.3f}" for value in (each.ask, each.recommend, each.fit)]
        lines.append([f"{each.rule} ({each.runs} run{'s' * (each.runs != 1)})", "median", *median, *end, *seconds])
        lines.append(["", "± bootstrap", *error, *[""] * 5])
        lines.append(["", "mean", *average, *[""] * 5])
    title = f"Utility gap on {plan.problem}{', decoupled' if plan.is_decoupled else ''} after n evaluations"
    caption = (
        f"infeasible: the share of last recommendations. n below: the median n from which the gap stays below {LIMIT}. "
        "CPU seconds of one ask, of one recommendation and of the fit of the models before them."
    )
    if plan.is_decoupled:
        caption += " n counts single outcomes, divided by the number of outcomes."
    heads = ["rule", "gap", *(f"n = {n}" for n in plan.milestones), "infea-\nsible", "n\nbelow"]
    heads += ["CPU s\nask", "recom-\nmend", "fit"]
    return build_table(title, heads, lines, caption, labels=2)
