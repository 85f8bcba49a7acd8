"""`python -m experiments.tables FILE.md`: rewrites the tables of results in a Markdown file.

A table stands between `<!-- table:2a -->` and `<!-- end -->`; its results are those of docs/experiments/2a.json. The
table `2a-stuck` counts runs far from the solution, and `time` says of all files how long a step of PESC took.
"""

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from experiments.compare import Difference, compare
from experiments.curves import Results, load
from experiments.files import OUT
from experiments.real_results import RealResults, load_runs, mean_and_error, paired, reached

# A mark whose end was forgotten must not swallow the text up to the next table's.
PLACE = re.compile(r"(<!-- table:([\w.-]+) -->\n)((?:(?!<!-- table:).)*?)(<!-- end -->)", re.DOTALL)
REFERENCES = ("pesc", "pesc-ep", "pesc decoupled", "pesc coupled")
"""What the other rules are compared with: the first of these that there is."""
FAR = 0.01
"""Gaps above this, at the last milestone, are counted: of a noise-free problem, runs at a local solution."""
STUCK = "-stuck"
"""What the name of a table of such runs ends with."""
TENTHS = (2, 5, 7, 10)
"""Of the evaluations of a real experiment: where its contenders are compared."""
TIMED = ("pesc", "pesc-ep", "pesc-fine", "pesc-paper", "pesc decoupled")
STAGES = {
    "x*": "x\\*",
    "ep": "EP",
    "samples": "joint samples",
    "maximize": "search",
    "recommend": "recommendation",
    "fit": "fit",
}
"""What a step consists of, and what a reader calls it."""
MISSING = "–"  # noqa: RUF001 (a dash is what a reader expects)
ACCURACY = {
    "efficiency": "efficiency",
    "worst": "worst",
    "decoupled": "decoupled efficiency",
    "worst_decoupled": "worst",
    "correlation": "correlation",
    "error": "largest error / max",
    "ratio": "max ratio",
    "share_below": "share < 0.9",
}


def markdown(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, ["---"] * len(heads), *lines))


def table_of_gaps(results: Results) -> str:
    """A line per rule: its median (or mean) gap ± standard error at each milestone, and how many end infeasible."""
    milestones = sorted({n for kept in results.curves.values() for n in kept.gaps})
    lines = []
    for label, kept in results.curves.items():
        shown = kept.estimate(results.statistic)
        at = {n: kept.counts.index(n) for n in milestones if n in kept.counts}
        cells = [f"{shown.value[at[n]]:.2g} ± {shown.error[at[n]]:.1g}" if n in at else MISSING for n in milestones]
        end = [f"{kept.infeasible[-1]:.1%}", str(int((kept.gaps[max(kept.gaps)] > FAR).sum())), str(kept.realisations)]
        lines.append([f"`{label}`", *cells, *end, f"{kept.seconds:.0f} s, {kept.device}", kept.version])
    heads = [f"{results.statistic} gap", *(f"n = {n}" for n in milestones), "infeasible at the end"]
    return markdown([*heads, f"gaps > {FAR}, at the last n", "realisations", "time", "version"], lines)


def table_of_comparisons(results: Results, reference: str) -> str:
    """A line per rule: by how much its mean log10 gap exceeds the reference's at each milestone; its mean gap last.

    Where the reference has no milestone in common with a rule, that rule is left out.
    """
    best = results.curves[reference]
    milestones, lines = sorted(best.gaps), []
    for label, kept in results.curves.items():
        found = {n: compare(kept, best, n) for n in milestones if n in kept.gaps}
        if label == reference or not found:
            continue
        cells = [write(found[n].log10) if n in found else MISSING for n in milestones]
        last = found[max(found)]
        lines.append([f"`{label}`", *cells, write(last.mean), str(last.realisations)])
    heads = [f"mean log10 gap less that of `{reference}`", *(f"n = {n}" for n in milestones)]
    return markdown([*heads, "mean gap, at the last n", "realisations"], lines)


def table_of_stuck(results: Results) -> str:
    """A line per rule: how many of its runs have a gap above 0.01 at each milestone."""
    milestones = sorted({n for kept in results.curves.values() for n in kept.gaps})
    lines = []
    for label, kept in results.curves.items():
        cells = [str(int((kept.gaps[n] > FAR).sum())) if n in kept.gaps else MISSING for n in milestones]
        lines.append([f"`{label}`", *cells, str(kept.realisations)])
    return markdown([f"runs with a gap > {FAR}", *(f"n = {n}" for n in milestones), "realisations"], lines)


def write(difference: Difference) -> str:
    """The difference with its sign and its error."""
    return f"{difference.value:+.2g} ± {difference.error:.1g}"


def table_of_accuracy(content: dict) -> str:
    """A line per setting: how well its gains agree with those of brute force."""
    spent = content["cpu_seconds"]
    ours = efficiencies(content["figures"]["default"])
    lines = []
    for setting, summary in content["summary"].items():
        less = efficiencies(content["figures"][setting]) - ours
        paired = Difference(float(less.mean()), float(less.std() / len(less) ** 0.5))
        figures = [f"{summary[name]:.3f}" for name in ACCURACY]
        lines.append([f"`{setting}`", *figures, write(paired), f"{spent[setting] / spent['default']:.2f}"])
    sets, seeds = len(content["sets"]), content["seeds"]
    heads = ["options", *ACCURACY.values(), "efficiency less the default's", "CPU time / default"]
    note = f"{sets} data sets, {seeds} seeds; standard error of the true gains: {max(content['truth_errors']):.1%}"
    return f"{markdown(heads, lines)}\n{note} of the largest at most.\n"


def efficiencies(by_seed: Sequence[Sequence[dict]]) -> np.ndarray:
    """The efficiency on each data set, its mean over seeds."""
    return np.array([[each["efficiency"] for each in sets] for sets in by_seed]).mean(0)


def table_of_runs(results: RealResults) -> str:
    """A line per contender of a real experiment: its values on the way and, measured again, at the end."""
    n = next(iter(results.runs.values()))[0].n
    half = max((i for i, count in enumerate(n) if 2 * count <= results.evaluations), default=0)
    target = float(results.values("pesc")[1][:, -1].mean()) if "pesc" in results.runs else None
    lines = []
    for label, records in results.runs.items():
        values, holds = results.values(label)[1], [record.is_feasible for record in records]
        at = None if target is None else reached(results, label, target)
        asked = " + ".join(f"{np.mean([r.asked[task] for r in records]):.0f} {task}" for task in records[0].asked)
        seconds = [float(np.mean([r.seconds - r.measuring for r in records])) / sum(records[0].asked.values())]
        lines.append([
            f"`{label}`",
            within(*mean_and_error(values[:, half])),
            within(*mean_and_error(results.final(label))),
            MISSING if not any(holds) else f"{results.final(label)[holds].mean():.3g}",
            f"{sum(not record.is_feasible for record in records)} of {len(records)}",
            MISSING if at is None else str(at),
            asked,
            f"{np.mean([record.failed for record in records]):.0f}",
            f"{seconds[0]:.1f}",
            results.paper.get(label, MISSING),
        ])  # fmt: skip
    heads = [
        results.unit,
        f"n = {n[half]}",
        f"n = {n[-1]}, measured again",
        "without the infeasible",
        "infeasible",
        "as good as `pesc` at the end from",
    ]
    return markdown([*heads, "asked", "failed", "seconds beside measuring, per question", "the paper's"], lines)


def table_of_differences(results: RealResults, reference: str) -> str:
    """A line per contender of a real experiment: its values less the reference's, paired by repetition."""
    n = results.runs[reference][0].n
    at = sorted({max((i for i, count in enumerate(n) if 10 * count <= tenth * n[-1]), default=0) for tenth in TENTHS})
    lines = []
    for label in results.runs:
        values, final = paired(results, label, reference)
        if label != reference and len(final):
            cells = [within(*mean_and_error(each), sign="+") for each in (*values[:, at].T, final)]
            lines.append([f"`{label}`", *cells, str(len(final))])
    heads = [f"{results.unit}, less that of `{reference}`", *(f"n = {n[i]}" for i in at)]
    return markdown([*heads, f"n = {n[-1]}, measured again", "repetitions of both"], lines)


def within(mean: float, error: float, sign: str = "-") -> str:
    """The mean and its standard error, where there is one; with sign "+" the mean has one always."""
    shown = f"{mean:{sign}.3g}"
    return shown if np.isnan(error) else f"{shown} ± {float(f'{error:.2g}'):g}"  # 160, not 1.6e+02


def table_of_times(data: Path) -> str:
    """A line per figure and setting of PESC: how long it took, and where the time went."""
    lines = []
    for path in sorted(data.glob("*.json")):
        if "curves" not in json.loads(path.read_text()):
            continue
        results = load(path)
        for label, kept in results.curves.items():
            total = sum(kept.per_step.values())
            if label in TIMED and total > 0:
                shares = [f"{kept.per_step.get(stage, 0.0) / total:.0%}" for stage in STAGES]
                size = [str(kept.realisations), str(kept.counts[-1]), f"{kept.seconds:.0f}", f"{total:.2f}"]
                lines.append([results.figure, f"`{label}`", kept.device, *size, *shares])
    heads = ["figure", "rule", "device", "realisations", "evaluations", "seconds", "seconds a step"]
    return markdown([*heads, *STAGES.values()], lines)


def tables_of(path: Path) -> str:
    """All tables of a file of results."""
    if path.stem == "time":
        return table_of_times(path.parent)
    if path.stem.endswith(STUCK) and (base := path.with_stem(path.stem.removesuffix(STUCK))).exists():
        return table_of_stuck(load(base))
    if not path.exists():
        return "(not run yet)\n"
    content = json.loads(path.read_text())
    if "runs" in content:
        runs = load_runs(path)
        is_compared = "pesc" in runs.runs and len(runs.runs) > 1
        return table_of_runs(runs) + (f"\n{table_of_differences(runs, 'pesc')}" if is_compared else "")
    if "summary" in content:
        return table_of_accuracy(content)
    results = load(path)
    reference = next((label for label in REFERENCES if label in results.curves), None)
    if reference is None or len(results.curves) < 2:
        return table_of_gaps(results)
    return f"{table_of_gaps(results)}\n{table_of_comparisons(results, reference)}"


def rewrite(text: str, data: Path) -> str:
    """The text with the tables that its marks ask for."""
    return PLACE.sub(lambda place: f"{place[1]}\n{tables_of(data / f'{place[2]}.json')}\n{place[4]}", text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrites the file."""
    parser = argparse.ArgumentParser(prog="python -m experiments.tables", description=__doc__)
    parser.add_argument("file", metavar="FILE.md", type=Path)
    parser.add_argument("--data", type=Path, default=OUT, metavar="FOLDER", help=f"where results are ({OUT})")
    given = parser.parse_args(arguments)
    text = given.file.read_text()
    if PLACE.search(text) is None:
        parser.error(
            f"{given.file} has no place for a table: write <!-- table:2a --> and <!-- end --> on their own lines"
        )
    given.file.write_text(rewrite(text, given.data))


if __name__ == "__main__":
    main()
