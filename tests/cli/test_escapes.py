"""No text of others orders a terminal about, whichever way it gets there; each test has a real pseudo-terminal."""

import json
import re
import sqlite3

import pytest
from in_terminal import in_terminal

from pesky import Choice, Problem, Real, Study

EVIL = "\x1b]0;owned\x07\x9b31m\x1b[2J\x1b[31mred\x00\u202e\u2066\x08\x1b]8;;http://owned\x1b\\owned"
"""A title, C1, a cleared screen, words in a color, NUL, marks of direction, a step back, and a link."""
OWN = re.compile(r"\x1b\[[0-9;]*m")
LIVE = re.compile(r"\x1b\[(?:[0-9;]*m|[0-9]*A|2K|\?25[lh])|\r")
"""Colors; and how the live view goes up, clears lines and hides the cursor."""
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def check(printed: str, allowed: re.Pattern[str] = OWN, says: str = "owned") -> None:
    """The text is there, and nothing of it that a terminal obeys."""
    printed = printed.replace("\r\n", "\n")
    assert says in printed
    left = allowed.sub("", printed)
    assert not OBEYED.search(left), repr(left)


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A storage in which every text that may be anything is hostile."""
    monkeypatch.chdir(tmp_path)
    problem = Problem({"x": Real(0, 1), "k": Choice([EVIL, "b"])}, minimize="f", constraints=["c >= 0"], noise=0.0)
    study = Study(problem, storage="sqlite:///evil.db", name="s")
    for x in (0.1, 0.4, 0.6, 0.9):
        study.add({"x": x, "k": EVIL}, {"f": (x - 0.3) ** 2, "c": 0.5})
    for x in (0.2, 0.3):
        study.enqueue({"x": x, "k": EVIL})
    asked = [study.ask(), study.ask()]
    study.fail(asked[0], "reason")
    why = {"kind": "chosen", "rule": EVIL, "note": EVIL}
    with sqlite3.connect("evil.db") as database:
        database.execute("update pesky_studies set name = ?", [EVIL])
        database.execute("update pesky_evaluations set worker = ?, error = iif(error is null, null, ?)", [EVIL, EVIL])
        database.execute("update pesky_evaluations set why = ? where id = ?", [json.dumps(why), asked[1].id])
    database.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ("recommend",), ("status",), ("show",), ("show", "--csv", "-"), ("show", "--json"), ("status", "--json"),
        ("recommend", "--json"), ("why", "5"), ("what-if",), ("what-if", "c=0.2"), ("report",),
        ("status", "--name", EVIL.replace("\x00", "")), ("show", "--state", EVIL.replace("\x00", "")),
    ],
    ids=lambda given: " ".join(given).encode("ascii", "ignore").decode().partition("\x1b")[0],
)  # fmt: skip
def test_of_a_storage(evil, arguments):
    _, printed = in_terminal(arguments[0], "evil.db", *arguments[1:])
    check(printed, says="" if arguments[0] in ("what-if", "report") else "owned")


def test_of_whatever_a_command_prints():
    """Whatever text it is given, and whatever a library of ours prints by itself."""
    program = (
        "import sys\n"
        "from pesky.cli.consoles import console, pass_on, say, say_data, say_error\n"
        "from pesky.text import guard_terminal\n"
        "from rich.table import Table\n"
        "guard_terminal()\n"
        f"evil, table = {EVIL!r}, Table()\n"
        "table.add_column(evil)\n"
        "table.add_row(evil)\n"
        "for each in (evil, table): console().print(each), console(stderr=True).print(each, soft_wrap=True)\n"
        "for each in (say, say_data, say_error, pass_on, print, sys.stderr.write): each(evil)\n"
    )
    code, printed = in_terminal(program=["-c", program])
    assert code == 0, printed
    check(printed)


NOISY = f"""
import os, sys, warnings
EVIL = {EVIL!r}
def measure(params):
    print(EVIL, flush=True)
    os.write(2, EVIL.encode("utf-8", "ignore") + b"\\x9b31m\\n")
    warnings.warn(EVIL)
    if params["x"] > 0.5:
        raise ValueError(EVIL)
    return {{"f": params["x"], "c": 1.0, "note": EVIL}}
"""


@pytest.mark.parametrize("quiet", [True, False])
@pytest.mark.parametrize("redirected", [True, False])
def test_of_a_measurement(project, quiet, redirected):
    project.measure(NOISY)
    options = ["--keep-going", *(["--quiet"] if quiet else [])]
    with open("out", "w") as out:
        code, printed = in_terminal("run", "study.toml", *options, stdout=out if redirected else None)
    assert code in (0, 3), printed
    check(printed, OWN if quiet or redirected else LIVE)
    if redirected:
        check((project.folder / "out").read_text(), says="ecommended" if quiet else "owned")


def test_of_a_program(project):
    project.change(f'function = "{project.module}:measure"', 'command = ["./measure.py"]')
    program = project.folder / "measure.py"
    program.write_text(
        f"#!/usr/bin/env python3\nimport os\nos.write(2, {EVIL.encode()!r} + b'\\n')\n"
        'print(\'{"f": 1.0, "c": 1.0}\')\n'
    )
    program.chmod(0o755)
    with open("out", "w") as out:
        check(in_terminal("run", "study.toml", "--quiet", stdout=out)[1])


def test_of_an_error_of_ours(project):
    """Also one with a traceback, which no command prints itself."""
    project.measure(f"raise ValueError({EVIL!r})\n")
    code, printed = in_terminal("check", "study.toml")
    assert code == 2
    check(printed)
    broken = f"import sys; from pesky.text import guard_terminal; guard_terminal(); raise RuntimeError({EVIL!r})"
    check(in_terminal(program=["-c", broken])[1])
