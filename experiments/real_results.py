"""What is kept of the real experiments, and what it comes to: values that were measured at recommendations."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.files import rounded, write_json
from experiments.real import RealExperiment, RealRun

DIGITS = 4


@dataclass(frozen=True)
class RealRecord:
    """What is kept of one run.

    n, values:  evaluations' worth of cost, and the objective as it was measured at the recommendation then
    final:      the mean of the measurements of the last recommendation
    Values of what was infeasible, or failed, are the worst.
    """

    repetition: int
    n: list[int]
    values: list[float]
    final: float
    is_feasible: bool
    last: list[dict[str, float] | None]
    params: dict[str, Any]
    asked: dict[str, int]
    failed: int
    seconds: float
    measuring: float


@dataclass(frozen=True)
class RealResults:
    """The runs of a figure by contender, in the order of its repetitions."""

    figure: str
    unit: str
    share: float
    worst: float
    evaluations: int
    paper: Mapping[str, str]
    runs: Mapping[str, Sequence[RealRecord]]

    def values(self, label: str) -> tuple[list[int], np.ndarray]:
        """Evaluations' worth of cost, and a row of values for each repetition, in the unit that is shown."""
        records = self.runs[label]
        return records[0].n, self.share * np.array([record.values for record in records])

    def final(self, label: str) -> np.ndarray:
        """The final value of each repetition, in the unit that is shown."""
        return self.share * np.array([record.final for record in self.runs[label]])


def record_of(run: RealRun, experiment: RealExperiment) -> RealRecord:
    """What is kept of a run that is done."""
    looks = run.looks
    final = experiment.value_of(run.last)
    return RealRecord(
        repetition=run.repetition,
        n=[look["n"] for look in looks],
        values=rounded((experiment.value_of([look["measured"]]) for look in looks), DIGITS),
        final=rounded([final], DIGITS)[0],
        is_feasible=final != experiment.worst,
        last=[each and dict(zip(each, rounded(each.values(), DIGITS), strict=True)) for each in run.last],
        params={name: value if isinstance(value, str | int) else rounded([value], 6)[0]
                for name, value in looks[-1]["params"].items()},
        asked=run.asked,
        failed=run.failed,
        seconds=round(run.seconds, 1),
        measuring=round(run.measuring, 1),
    )  # fmt: skip


def save_runs(path: Path, experiment: RealExperiment, evaluations: int, done: Sequence[RealRun]) -> RealResults:
    """The results with these runs among those that are in the file; those of other lengths are dropped."""
    found: dict[str, dict[int, RealRecord]] = {label: {} for label in experiment.contenders}
    if path.exists() and (there := load_runs(path)).evaluations == evaluations:
        for label, records in there.runs.items():
            found[label] = {record.repetition: record for record in records}
    for run in done:
        found[run.label][run.repetition] = record_of(run, experiment)
    kept = {label: [each[n] for n in sorted(each)] for label, each in found.items() if each}
    what = (experiment.figure, experiment.unit, experiment.share, experiment.worst, evaluations)
    results = RealResults(*what, dict(experiment.paper), kept)
    runs = {label: {record.repetition: asdict(record) for record in records} for label, records in kept.items()}
    write_json(path, {**vars(results), "runs": runs})
    return results


def load_runs(path: Path) -> RealResults:
    """The results in a file that `save_runs` wrote."""
    content = json.loads(path.read_text())
    runs = {label: [RealRecord(**each) for each in records.values()] for label, records in content["runs"].items()}
    return RealResults(**{**content, "runs": runs})


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """The mean over repetitions and its standard error; of a single one the error is not known."""
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return float(values.mean()), float(error)


def paired(results: RealResults, label: str, reference: str) -> tuple[np.ndarray, np.ndarray]:
    """Values and final values less the reference's, a row for each repetition that both have."""
    ours = {record.repetition: row for row, record in enumerate(results.runs[label])}
    theirs = {record.repetition: row for row, record in enumerate(results.runs[reference])}
    both = sorted(ours.keys() & theirs.keys())  # the same seed, and so the same first points
    mine, other = [ours[each] for each in both], [theirs[each] for each in both]
    values = results.values(label)[1][mine] - results.values(reference)[1][other]
    return values, results.final(label)[mine] - results.final(reference)[other]


def reached(results: RealResults, label: str, target: float) -> int | None:
    """Evaluations' worth of cost from which on the mean is at least as good as the target; None if never."""
    n, values = results.values(label)
    sign = 1 if results.worst > 0 else -1  # what is minimized has its worst value above
    is_behind = sign * values.mean(0) > sign * target
    behind = np.flatnonzero(is_behind)
    after = behind[-1] + 1 if len(behind) else 0
    return n[after] if after < len(n) else None
