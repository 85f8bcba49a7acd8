"""What is run, what came of it, and the file that keeps it."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers.base import Measured

MILESTONES = (10, 20, 30, 40)


@dataclass(frozen=True)
class Entry:
    """What is run: points, noise and drawn functions depend on the seed alone, not on the optimizer.

    evaluations:  of everything; where outcomes are measured separately, what it costs to measure all is one
    initial:      points that are the same for all, before the optimizer is asked
    """

    problem: str
    peer: str
    seed: int
    evaluations: int
    initial: int

    @property
    def milestones(self) -> list[int]:
        """The evaluations after which there is an answer."""
        return [*(n for n in MILESTONES if n < self.evaluations), self.evaluations]


@dataclass
class Result:
    """What came of it: true utility gaps, at each milestone.

    answers:   of the optimizer's own answer
    measured:  of the best point which, as measured, held every constraint
    common:    of what pesky would recommend, given the same points; empty until it was judged
    scale:     what gaps are to be seen beside: the range of the objective or its optimum, whichever is smaller
    points:    all that was measured, in its order
    seconds:   CPU seconds of each ask, with whatever is fitted for it
    """

    entry: Entry
    answers: dict[int, float] = field(default_factory=dict)
    measured: dict[int, float] = field(default_factory=dict)
    common: dict[int, float] = field(default_factory=dict)
    scale: float = 0.0
    points: list[Measured] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    error: str = ""
    """Why it ended early, if it did."""


def read_results(path: Path | None) -> dict[Entry, Result]:
    """The results that a file has, a line each; of two lines for the same entry, the later one."""
    if path is None or not path.exists():
        return {}
    results = [read_result(json.loads(line)) for line in path.read_text().splitlines()]
    return {result.entry: result for result in results if not result.error}


def read_result(given: dict[str, Any]) -> Result:
    """The result that was written as plain data; once, all runs began with 3 points and measured everything at each."""
    gaps = {kind: {int(n): gap for n, gap in given.get(kind, {}).items()} for kind in ("answers", "measured", "common")}
    points = [Measured(**{"spent": float(n), **point}) for n, point in enumerate(given["points"], 1)]
    return Result(**{**given, **gaps, "entry": Entry(**{"initial": 3, **given["entry"]}), "points": points})


def append_result(path: Path | None, result: Result) -> None:
    """Keeps a result at once, so that an interruption loses nothing that is finished."""
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")
