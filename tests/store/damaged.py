"""A stored study with all that there can be in one, to be damaged, and everything that reads it."""

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from study.quick import QUICK
from typer.testing import CliRunner

from pesky import Choice, Integer, Problem, Real, Study, Task
from pesky.cli.app import app
from pesky.errors import PeskyError
from pesky.strategy.explain import Explanation

NAME = "hurt"
STUDY_FILE = f"""\
name = "{NAME}"
storage = "sqlite:///study.db"
minimize = "f"
constraints = ["c >= 0", "stable is true"]
noise = {{ f = 0 }}
[parameters]
x = {{ type = "real", low = 0, high = 1 }}
n = {{ type = "integer", low = 1, high = 4 }}
kind = {{ type = "choice", options = ["a", "b"] }}
[tasks.measure]
outcomes = ["f", "c"]
failures = "learn"
[tasks.look]
outcomes = ["stable"]
cost = 2
[budget]
evaluations = 50
[run]
initial = 3
"""


def make(folder: Path) -> Path:
    """The file of a study with every state, failures, lost attempts, corrections, attributes and reasons."""
    (folder / "study.toml").write_text(STUDY_FILE)
    problem = Problem(
        {"x": Real(0, 1), "n": Integer(1, 4), "kind": Choice(["a", "b"])},
        minimize="f",
        constraints=["c >= 0", "stable is true"],
        noise={"f": 0},
        tasks={"measure": Task(["f", "c"], failures="learn"), "look": Task(["stable"], cost=2)},
    )
    path = folder / "study.db"
    study = Study(problem, storage=f"sqlite:///{path}", name=NAME, rule=QUICK, initial=3)
    for i in range(5):
        params = {"x": i / 4, "n": 1 + i % 4, "kind": "ab"[i % 2]}
        study.add(params, {"f": (i / 4 - 0.4) ** 2, "c": 0.7 - i / 4, "stable": i != 3})
    for i in range(6):
        asked = study.ask(worker=f"worker {i}", lease=600 if i % 2 else None)
        if i == 1:
            study.fail(asked, "it diverged\nTraceback: ...")
        elif i == 2:
            study.release(asked, "let go")
        elif i != 3:
            outcomes = study.problem.tasks[asked.task].outcomes
            study.tell(asked, {name: 1.0 if name == "stable" else 0.25 for name in outcomes}, seconds=2.5)
    study.correct(0, {"f": 0.17}, "a slip")
    study.exclude(1, "a broken sensor")
    study.enqueue({"x": 0.5, "n": 2, "kind": "a"})
    left_out = {"evaluation": 2, "outcome": "f", "value": 0.01, "expected": 1.0, "deviation": 0.1, "others": 5}
    asked = study.ask()
    study.store.close()
    with closing(sqlite3.connect(path)) as connection:
        why = {"kind": "full", "rule": "pesc", "unit": "nats", "values": {"measure": 0.5}, "noise": {"c": 0.1}}
        more = {"prices": {"measure": 1}, "elsewhere": {"measure": 1}, "left": {"x": 0.5}, "agreement": 1}
        kept = json.dumps({**why, **more, "infeasible": 0.5, "left_out": [left_out]})
        connection.execute("UPDATE pesky_evaluations SET why = ? WHERE id = ?", (kept, asked.id))
        connection.commit()
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("VACUUM")
    return path


def flipped(given: bytes, seed: int) -> bytes:
    """The file with some of its bytes others: a few of those that are used, or one bit."""
    rng = random.Random(seed)
    used = [i for i, byte in enumerate(given) if byte]
    changed = bytearray(given)
    for i in rng.sample(used, rng.choice((1, 1, 3, 10, 40))):
        changed[i] = changed[i] ^ (1 << rng.randrange(8)) if seed % 2 else rng.randrange(256)
    return bytes(changed)


def readers(folder: Path, *, in_full: bool = False) -> Iterator[tuple[str, Callable[[], object]]]:
    """What reads a study in a folder, by its name; `in_full` also what takes longer."""
    url = f"sqlite:///{folder / 'study.db'}"

    def command(*words: str) -> Callable[[], object]:
        def run() -> None:
            done = CliRunner().invoke(app, [words[0], str(folder / "study.toml"), *words[1:]])
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception

        return run

    yield "load", lambda: [str(Explanation.of(e)) for e in Study.load(url, NAME).evaluations.values() if e.why]
    yield "status", command("status")
    if not in_full:
        return
    yield "show", command("show")
    yield "show --json", command("show", "--json")
    yield "why", command("why", "--json")
    yield "to_csv", lambda: Study.load(url, NAME).to_csv()
    yield "recommend", lambda: Study.load(url, NAME, rule=QUICK).recommend()


def replace(path: Path, content: bytes) -> None:
    """Put this in the place of the database, without what may be left beside it."""
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    path.write_bytes(content)


def surprises(folder: Path, *, in_full: bool = False) -> list[str]:
    """What ends otherwise than with an answer or an error in words."""
    found = []
    for name, use in readers(folder, in_full=in_full):
        try:
            use()
        except PeskyError:
            continue
        except Exception as error:
            found.append(f"{name}: {error!r}")
    return found
