"""What is kept of a run for tables and figures: its gaps and its time, without the points."""

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.peers.results import Result

KINDS = {"answer": "own answer", "measured": "best measured", "common": "common recommendation"}
"""What a run is judged by."""


@dataclass(frozen=True)
class Kept:
    """The figures of one run: `gaps` has those of each kind of judgement, by the number of evaluations."""

    problem: str
    peer: str
    seed: int
    evaluations: int
    initial: int
    scale: float
    seconds: float
    """CPU seconds of an ask, on average."""
    gaps: dict[str, dict[int, float]]

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from the other runs."""
        return self.problem, self.peer, self.seed


def keep(result: Result) -> Kept:
    """The figures of a result."""
    entry = result.entry
    seconds = statistics.fmean(result.seconds) if result.seconds else 0.0
    by_kind = dict(zip(KINDS, (result.answers, result.measured, result.common), strict=True))
    gaps = {kind: dict(gaps) for kind, gaps in by_kind.items() if gaps}
    return Kept(**asdict(entry), scale=result.scale, seconds=seconds, gaps=gaps)


def write_kept(path: Path, kept: Iterable[Kept]) -> None:
    """Writes runs, a line each, in an order that does not depend on theirs: a change shows as such."""
    lines = [json.dumps(_rounded(asdict(each))) for each in sorted(kept, key=lambda each: each.key)]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")


def read_kept(path: Path) -> list[Kept]:
    """The runs that were written there; none if there is no such file."""
    if not path.exists():
        return []
    found = []
    for given in json.loads(path.read_text()):
        gaps = {kind: {int(n): gap for n, gap in by_n.items()} for kind, by_n in given["gaps"].items()}
        found.append(Kept(**{**given, "gaps": gaps}))
    return found


def of_problems(kept: Sequence[Kept]) -> dict[str, list[Kept]]:
    """The runs of each problem, by seed."""
    found: dict[str, list[Kept]] = {}
    for each in sorted(kept, key=lambda each: each.seed):
        found.setdefault(each.problem, []).append(each)
    return found


def _rounded(given: object) -> object:
    """The same with four digits of every number: more would be noise, and a longer file."""
    if isinstance(given, dict):
        return {key: _rounded(value) for key, value in given.items()}
    return float(f"{given:.4g}") if isinstance(given, float) else given
