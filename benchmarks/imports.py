"""`python -m benchmarks.imports`: CPU seconds until something can be done, and which libraries were imported for it.

One thread; the least of several runs, each in a fresh process, one of each after the other, so that a busy minute is
nobody's alone; beside what Python and torch take by themselves.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from benchmarks.report import build_table, console, progress_bar, write_json

HEAVY = ("torch", "sympy", "scipy", "botorch", "gpytorch", "numpy", "sqlalchemy", "pydantic", "pandas")

STUDY_FILE = """
minimize = "f"
constraints = ["c >= 0"]
storage = "sqlite:///study.db"

[parameters]
x = { type = "real", low = 0, high = 1 }
"""
BEGIN = """
import pesky
problem = pesky.Problem({"x": pesky.Real(0, 1)}, minimize="f", constraints=["c >= 0"])
"""
STUDY = BEGIN + "study = pesky.Study(problem)\n"
QUESTION = STUDY + "for x in (0.1, 0.5, 0.9): study.add({'x': x}, {'f': x, 'c': x - 0.3})\nstudy.ask()\n"
COMMAND = "from pesky.cli import app; app({!r}, standalone_mode=False)"
COMMANDS = {
    "check": ["check", "study.toml"],
    "tell": ["tell", "study.toml", "0", "f=1", "c=1"],
    "status": ["status", "study.toml"],
    "show": ["show", "study.toml"],
}
WHAT = {
    "python": "pass",
    "import torch": "import torch",
    "import pesky": "import pesky",
    "pesky.Study(...)": STUDY,
    "its first question by a model": QUESTION,
    **{f"pesky {name}": COMMAND.format(arguments) for name, arguments in COMMANDS.items()},
}


@dataclass(frozen=True)
class Start:
    """How long something took to be done, and what was imported for it."""

    what: str
    seconds: float
    libraries: tuple[str, ...]


def libraries(code: str, folder: Path) -> tuple[str, ...]:
    """Those that a piece of Python imports. It also writes byte code, where there is none."""
    listed = f"{code}\nimport json, sys\nprint(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    return tuple(json.loads(_run(listed, folder).splitlines()[-1]))


def cpu_seconds(code: str, folder: Path) -> float:
    """How long the processor is at a piece of Python, in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(code, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepare(folder: Path) -> None:
    """A study file, and a stored study with a question that waits for its answer."""
    (folder / "study.toml").write_text(STUDY_FILE)
    _run(COMMAND.format(["ask", "study.toml"]), folder)


def tabulate(starts: Sequence[Start]) -> Table:
    """One line for each."""
    lines = [[each.what, ", ".join(each.libraries), f"{each.seconds:.2f}"] for each in starts]
    title = "CPU seconds until it is done, in a process of its own, the least of several"
    return build_table(title, ["what", "imports", "seconds"], lines, labels=2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, default %(default)s")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as name, progress_bar() as bar:
        folder, work = Path(name), bar.add_task("starting", total=len(WHAT) * given.runs)
        prepare(folder)
        imported = {what: libraries(code, folder) for what, code in WHAT.items()}
        least = dict.fromkeys(WHAT, math.inf)
        for _ in range(given.runs):
            for what, code in WHAT.items():
                bar.update(work, description=what)
                least[what] = min(least[what], cpu_seconds(code, folder))
                bar.advance(work)
    starts = [Start(what, least[what], imported[what]) for what in WHAT]
    console.print(tabulate(starts))
    write_json(given.json, {"starts": [asdict(each) for each in starts]})


def _run(code: str, folder: Path) -> str:
    one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={**os.environ, **one_thread}, capture_output=True, text=True
    )
    if process.returncode:
        raise RuntimeError(f"{code} failed:\n{process.stderr}")
    return process.stdout


if __name__ == "__main__":
    main()
