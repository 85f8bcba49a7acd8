"""What runs of the nursery wrote down about themselves."""

import json
from pathlib import Path
from typing import Any

from pesky.store import Evaluation


def lines(folder: Path, name: str) -> list[Any]:
    """The lines of a record; the last one may be of a process that is writing just now."""
    path = folder / name
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def check(evaluations: list[Evaluation], folder: Path) -> None:
    """Nothing, if every result is what a call returned at those very parameters, and is there once."""
    calls = [(params, outcomes) for params, outcomes in lines(folder, "calls")]
    told = [(dict(e.params), dict(e.outcomes)) for e in evaluations if e.outcomes]
    assert all(each in calls for each in told)
    assert len({json.dumps(outcomes) for _, outcomes in told}) == len(told)
