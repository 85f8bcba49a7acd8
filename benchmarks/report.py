"""How all benchmarks show their results: one progress bar, tables, and the same as data."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

# A pipe has no width of its own; 80 columns would cut the numbers.
console = Console(width=None if sys.stdout.isatty() else 140)


def progress_bar() -> Progress:
    """A bar on the error stream, so that a table piped to a file stays clean."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    # The time left is told by the last hour: of the half minute that is usual, a step of two minutes leaves nothing.
    return Progress(*columns, console=Console(stderr=True), speed_estimate_period=3600)


def build_table(
    title: str, columns: Sequence[str], lines: Sequence[Sequence[str]], caption: str = "", labels: int = 1
) -> Table:
    """A table whose first `labels` columns are text and all others numbers."""
    table = Table(title=title, caption=caption or None, title_justify="left", caption_justify="left")
    for i, column in enumerate(columns):
        # Headings may break over lines, numbers may not.
        width = max((len(line[i]) for line in lines), default=0)
        table.add_column(column, justify="left" if i < labels else "right", min_width=width)
    for line in lines:
        table.add_row(*line)
    return table


def write_json(path: str | None, data: Mapping) -> None:
    """Writes `data` to `path`, if one was given: all of it or, when killed in between, what was there before."""
    if path is not None:
        draft = Path(f"{path}.part")
        draft.write_text(json.dumps(data, indent=1) + "\n")
        draft.replace(path)
