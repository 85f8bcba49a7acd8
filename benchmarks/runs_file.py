"""The file that a benchmark keeps its runs in, and goes on from when it was interrupted."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.report import write_json
from benchmarks.runs import Plan, Run
from benchmarks.workers import Failure


class RunsFile:
    """All runs known so far, by plan: those that the file had and those added; without a path, only the latter."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.runs: dict[Plan, Run] = {}
        if path is not None and Path(path).exists():
            for run in map(read_run, json.loads(Path(path).read_text())["runs"]):
                self.runs[run.plan] = run

    def add(self, run: Run) -> None:
        """Keeps a finished run, in the file as well, at once."""
        self.runs[run.plan] = run
        self.write()

    def write(self, summary: Sequence[Any] = (), failures: Sequence[Failure] = ()) -> None:
        """Writes all runs, with what was made of them; runs that failed are tried again the next time."""
        data = {"runs": [asdict(run) for run in self.runs.values()]}
        more = {"summary": summary, "failures": [asdict(failure) for failure in failures]}
        write_json(self.path, data | {key: value for key, value in more.items() if value})


def read_run(given: dict[str, Any]) -> Run:
    """The run that was written as plain data."""
    return Run(**{**given, "plan": Plan(**given["plan"])})
