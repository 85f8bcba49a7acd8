"""A storage may be anybody's: nothing in it is imported, called or obeyed."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

import pesky
from pesky import Problem, Real, Study
from pesky.errors import StorageError
from pesky.store import open_store

SOURCE = Path(pesky.__file__).parent

EXECUTES = {
    "__import__", "import_module", "exec", "eval", "compile", "run_path", "run_module", "find_spec", "exec_module",
    "load_module", "loads", "load", "Unpickler", "Popen", "call", "check_call", "check_output", "system", "popen",
    "spawnv", "spawnl", "execv", "execl", "execve", "posix_spawn", "load_dynamic", "CDLL", "recv",
}  # fmt: skip
"""Names of functions that make code, or processes, of data."""

ALLOWED = {
    ("on_use.py", "import_module"): "the package's own names",
    ("problem/known.py", "import_module"): "a path that the caller wrote: a text from a storage never gets there",
    ("study_file/known_outcomes.py", "load"): "a path of the study file",
    ("study_file/function.py", "import_module"): "a path of the study file",
    ("study_file/function.py", "find_spec"): "the same",
    ("study_file/function.py", "load"): "the same",
    ("study_file/toml.py", "loads"): "tomllib: the study file",
    ("study_file/key_lines.py", "loads"): "tomllib: the study file",
    ("model/botorch.py", "eval"): "`Module.eval`, a model's mode",
    ("study_file/command.py", "loads"): "json: what a program printed",
    ("run/slurm/job.py", "loads"): "what a job of ours left",
    ("run/reaped.py", "Popen"): "a command of the study file, or a child process of our own",
    ("run/reaper.py", "execv"): "the same, as it was given",
    ("run/reaper.py", "CDLL"): "the system's own library",
    ("run/process.py", "loads"): "what a child of ours answers",
    ("run/process.py", "recv"): "one byte of a socket, which is looked at and left: whether the child has ended",
    ("run/processes.py", "loads"): "what a child of ours answers",
    ("run/child.py", "loads"): "functions that the parent sends",
    ("run/child.py", "recv"): "the same",
    ("run/child.py", "run_path"): "the file beside it",
    ("run/executors.py", "call"): "`Processes.call`, with the caller's own function",
    ("run/executors.py", "loads"): "the caller's own function, where it is to run",
    ("run/loop.py", "call"): "`Callbacks.call`, with the caller's own functions",
    ("run/rescue.py", "loads"): "json",
    ("store/sql/evaluation_rows.py", "loads"): "json",
    ("show/report.py", "loads"): "json: a figure of ours",
    ("page/background.py", "Popen"): "a program of ours",
    ("page/background.py", "loads"): "json: what it answers",
    ("page/options.py", "loads"): "json: what is to be seen of a picture",
    ("page/work.py", "loads"): "json: what the page asks of it",
    ("page/drawings.py", "call"): "`Background.call`, with the name of a picture",
    ("page/app.py", "call"): "`Background.call`, with the name of a task",
    ("page/app.py", "loads"): "json: what a browser sent",
    ("page/app.py", "load"): "`Store.load`, by name",
    ("page/reading.py", "load"): "`Store.load`, by name",
    ("study/study.py", "load"): "`Store.load`, by name",
    ("problem/fields.py", "loads"): "json: what a storage, a command or a config has, depth and length first",
    ("study/kept_strategy.py", "loads"): "json: the steps of the strategy",
    ("study/set_aside.py", "load"): "`Store.load`, by name",
    ("cli/copy.py", "load"): "`Study.load`, by name",
    ("cli/stored_study.py", "load"): "`Store.load`, by name",
    ("store/sql/store.py", "load"): "`Store.load`, by name",
}  # fmt: skip
"""Where they are called nevertheless, and on what."""
REGULAR = ("re",)
"""Modules whose functions of these names do no harm."""


def calls() -> set[tuple[str, str]]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        if "testing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            name = getattr(function, "attr", getattr(function, "id", ""))
            owner = getattr(getattr(function, "value", None), "id", "")
            if name in EXECUTES and owner not in REGULAR:
                found.add((str(path.relative_to(SOURCE)), name))
    return found


def test_every_place_that_could_execute_something_is_known():
    assert calls() == set(ALLOWED), "say what it executes, and that no storage has a say in it"


def test_what_reads_a_storage_has_no_such_place():
    """`pesky.store`, the problem that is read from it, and all that they import, but for what a caller names."""
    assert {place for place in calls() if place[0].startswith("store/")} == {
        ("store/sql/evaluation_rows.py", "loads"),
        ("store/sql/store.py", "load"),
    }
    assert "json.loads" in (SOURCE / "store/sql/evaluation_rows.py").read_text()
    code = "import sys, pesky.store.sql.store, pesky.study.stored\n"
    code += "print(*[n for n in sys.modules if 'pickle' in n.lower()])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cloudpickle" not in done.stdout


TRAP = "pesky_trap:spring"
TEXTS = [TRAP, "subprocess:Popen", "os:system", "__import__('pesky_trap')", "$(touch sprung)", "`touch sprung`"]


def hostile_problems(folder: Path) -> list[dict]:
    """Problems in which every text that may be anything is a trap, and the one that was found to work."""
    attack = Problem(
        {"sh": Real(0, 1), "-c": Real(0, 1), "touch sprung": Real(0, 1)}, minimize="f", constraints=["c >= 0"]
    )
    problems = [{**attack.to_dict(), "known": {"c": "subprocess:Popen"}, "tasks": {"all": {"outcomes": ["f"]}}}]
    plain = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0"]).to_dict()
    for word in TEXTS:
        name = word.replace("=", "")
        problems.append({**plain, "known": {"c": word}, "tasks": {"all": {"outcomes": ["f"]}}, "noise": {}})
        problems.append({**plain, "parameters": {name: {"type": "choice", "options": [word, "b"]}}})
        problems.append({**plain, "tasks": {name: {"outcomes": ["f", "c"], "cost": word}}})
        problems.append({**plain, "tasks": {name: {"outcomes": ["f", "c"], "failures": word}}})
        problems.append({**plain, "minimize": name})
        problems.append({**plain, "function": word, "command": [word], "rule": word, "model": word})
        problems.append({**plain, "resources": {name: {"tasks": [name], "slots": word}}})
    for arithmetic in ("__import__('pesky_trap').spring()", "x**x**9**9**9", "(" * 10**4 + "x" + ")" * 10**4):
        constraint = {"outcome": arithmetic, "sense": "<=", "threshold": 0.5}
        problems.append({**plain, "constraints": [constraint], "tasks": {"all": {"outcomes": ["f"]}}, "noise": {}})
    problems[0].pop("noise")
    return problems


VISITOR = """
import sys, typer.testing
folder, trapped = sys.argv[1], []

def hook(event, args):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"):
        trapped.append((event, str(args)[:200]))
    if event == "import" and str(args[0]).startswith("pesky_trap"):
        trapped.append((event, args[0]))
    if event == "pickle.find_class":
        trapped.append((event, str(args)))

import pesky, pesky.study, pesky.cli, torch
from pesky.cli.app import app
from pesky.errors import PeskyError
sys.path.insert(0, folder)
pesky.Study  # everything of ours is imported before the watch begins
runner = typer.testing.CliRunner()
runner.invoke(app, ["show", "innocent.toml"])
sys.addaudithook(hook)
for number in range(int(sys.argv[2])):
    url = f"sqlite:///{folder}/{number}.db"
    for use in ("recommend", "ask", "to_csv", "to_json", "belief", "spent", "__repr__"):
        try:
            getattr(pesky.Study.load(url, "innocent"), use)()
        except PeskyError as error:
            print(number, use, str(error)[:100].replace(chr(10), " "))
    for command in ("show", "status", "recommend"):
        done = runner.invoke(app, [command, f"{number}.toml"])
        assert done.exception is None or isinstance(done.exception, SystemExit), (command, number, done.exception)
print("trapped", trapped)
"""

INNOCENT = """\
name = "innocent"
storage = "sqlite:///{number}.db"
minimize = "f"
constraints = ["c >= 0"]
[parameters]
x = {{ type = "real", low = 0, high = 1 }}
[budget]
evaluations = 5
"""


def test_a_hostile_storage_makes_nothing_happen(tmp_path: Path):
    (tmp_path / "pesky_trap.py").write_text("open('sprung', 'w').close()\ndef spring(*a, **k): open('sprung', 'w')\n")
    problems = hostile_problems(tmp_path)
    for number, problem in enumerate(problems):
        url = f"sqlite:///{tmp_path}/{number}.db"
        store = open_store(url)
        kept = store.open("innocent", json.dumps(problem), 0, "identity")
        params = dict.fromkeys(problem["parameters"], 0.5)
        for _ in range(3):
            store.add(kept.identity, next(iter(problem["tasks"])), params, {"f": 1.0})
        store.close()
        (tmp_path / f"{number}.toml").write_text(INNOCENT.format(number=number))
    done = subprocess.run(
        [sys.executable, "-c", VISITOR, str(tmp_path), str(len(problems))],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("trapped []\n"), done.stdout
    assert not (tmp_path / "sprung").exists()


def test_the_attack_that_worked_names_what_is_missing(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/study.db"
    store = open_store(url)
    problem = {**hostile_problems(tmp_path)[0]}
    kept = store.open("innocent", json.dumps(problem), 0, "identity")
    store.add(kept.identity, "all", {"sh": 0.5, "-c": 0.5, "touch sprung": 0.5}, {"f": 1.0})
    with pytest.raises(pesky.ProblemError, match=r"it was 'subprocess:Popen' when it was stored.*known=\{'c'"):
        Study.load(url).recommend()
    assert Study.load(url, known={"c": lambda p: p["sh"]}).recommend().params


def test_controls_in_a_storage_do_not_reach_the_terminal(tmp_path: Path):
    """Errors and workers are cleaned when they are written; someone else may have written them."""
    from typer.testing import CliRunner

    from pesky.cli.app import app

    (tmp_path / "0.toml").write_text(INNOCENT.format(number=0))
    url = f"sqlite:///{tmp_path}/0.db"
    study = Study(Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0"]), storage=url, name="innocent")
    study.fail(study.ask(worker="w", lease=600), "an error")
    study.ask(worker="w", lease=600)
    study.store.close()
    bad = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil"
    with create_engine(url).begin() as connection:
        connection.execute(text("UPDATE pesky_evaluations SET worker = :bad, error = :bad"), {"bad": bad})
    for command in ("show", "status", "show --json", "status --json", "show --csv -"):
        done = CliRunner().invoke(app, [command.split()[0], str(tmp_path / "0.toml"), *command.split()[1:]])
        assert done.exit_code == 0, done.output
        assert "evil" in done.output
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.output), command


def with_evaluation(url: str, **columns: object) -> Study:
    """A study with an evaluation whose columns someone else has written."""
    study = Study(Problem({"x": Real(0, 1)}, minimize="f"), storage=url)
    study.add({"x": 0.5}, {"f": 1.0})
    study.store.close()
    with create_engine(url).begin() as connection:
        for column, value in columns.items():
            connection.execute(text(f"UPDATE pesky_evaluations SET {column} = :value"), {"value": value})
    return study


CORRECTION = {"when": "2026-11-16T12:00:00+00:00", "change": "corrected", "outcome": "f", "old": 1, "new": 2}


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("attributes", "[1, 2]", "a JSON object"),
        ("attributes", "{", "a JSON object"),
        ("attributes", '{"a": ' * 100_000, "a JSON object"),
        ("attributes", b"\x80", "a JSON object"),
        ("why", '"text"', "a JSON object"),
        ("is_excluded", 2, "0 or 1"),
        ("is_excluded", "yes", "0 or 1"),
        ("corrections", "{}x", "a JSON list of corrections"),
        ("corrections", "[1]", "a JSON list of corrections"),
        ("corrections", '[{"__class__": "os.system"}]', "a JSON list of corrections"),
        ("corrections", json.dumps([{**CORRECTION, "reason": "a", "old": "1"}]), "a JSON list of corrections"),
        ("corrections", json.dumps([{**CORRECTION, "reason": "a", "when": "noon"}]), "a JSON list of corrections"),
        ("corrections", json.dumps([{**CORRECTION, "reason": "a", "change": "eval"}]), "a JSON list of corrections"),
        ("corrections", json.dumps([{**CORRECTION, "reason": ["a"]}]), "a JSON list of corrections"),
    ],
)  # fmt: skip
def test_what_was_never_written_so_is_damage(tmp_path: Path, column: str, value: object, expected: str):
    study = with_evaluation(f"sqlite:///{tmp_path}/study.db", **{column: value})
    with pytest.raises(StorageError, match=f"evaluation #0 is damaged.*its {column} was.*{expected}"):
        _ = study.evaluations


def test_texts_beside_results_are_harmless_and_no_longer_than_those_that_we_write(tmp_path: Path):
    bad = "\x1b]0;owned\x07\x1b[2J\u202eevil"
    long = json.dumps({bad: bad, "nan": float("nan"), "n": 10**30, "many": ["a" * 10**5] * 10**3})
    made = json.dumps([{**CORRECTION, "reason": bad * 10**4}])
    study = with_evaluation(f"sqlite:///{tmp_path}/study.db", attributes=long, why=long, corrections=made)
    e = study.evaluations[0]
    assert e.why is not None
    for found in (dict(e.attributes), dict(e.why), e.corrections[0].reason):
        shown = str(found)
        assert "evil" in shown
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
        assert len(shown) < 250_000
    assert e.attributes["nan"] == "nan"
