"""Study files, configs of Spearmint's and tables that anybody may have written: read, or refused in words."""

import json
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pesky import Choice, Integer, Problem, Real, Study
from pesky.errors import DataError, PeskyError
from pesky.study.rows import data_of, read_csv, rows_of
from pesky.study_file import StudyFile, StudyFileError
from pesky.study_file.spearmint_config import read_config
from pesky.study_file.spearmint_study import module_text, study_text

STUDY = """\
minimize = "f"
constraints = ["g <= 2"]
noise = 0.1
[parameters]
x = { type = "real", low = 0, high = 1 }
n = { type = "integer", low = 1, high = 9, step = 2 }
k = { type = "choice", options = ["a", "b"] }
[budget]
evaluations = 3
[run]
workers = 2
seed = 0
lease = 60
[outcomes.f]
low = 0
[tasks.t]
outcomes = ["f", "g"]
cost = 2
failures = "learn"
timeout = 5
[resources.r]
tasks = ["t"]
slots = 2
"""
VALUES = ["1" + "0" * 400, "1" + "0" * 5000, "1e999", "nan", "-inf", "true", '""', '"\\u001b]0;owned\\u0007"']
VALUES += ['"\\u202e"', "[]", "{}", "[[[[]]]]", "0", "-1", "1979-05-27T07:32:00Z", "[1979-05-27]", "[nan, 1]"]
VALUES += ['["a", "a"]', '["x <= 1_0"]', "{ type = 3 }", f'"{"1" * 16_000}a"', f'"{" " * 30_000}b"', "[1, 1.0, true]"]


def tried(read: Any, *given: Any) -> Any:
    """What is read; None where it is refused in words, and not too many of them."""
    try:
        return read(*given)
    except PeskyError as error:
        if len(str(error)) > 4000:
            raise AssertionError("too long") from error
        return None


@pytest.mark.parametrize("line", [i for i, line in enumerate(STUDY.splitlines()) if "=" in line])
def test_a_study_file_with_anything_in_any_place(line, tmp_path):
    file, lines, began = tmp_path / "study.toml", STUDY.splitlines(), time.process_time()
    for value in VALUES:
        text = f"{lines[line].partition('=')[0]}= {value}"
        file.write_text("\n".join([*lines[:line], text, *lines[line + 1 :]]))
        tried(lambda: StudyFile.read(file, importing=False))
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "text",
    [b"[" * 100_000, b"a=" + b"[" * 100_000 + b"]" * 100_000, b"a=" + b"{a=" * 50_000, b"a = " + b"9" * 5000,
     b'"' * 900_000, b"#" * 2_000_000, b"\0", b"\xff" * 1000, b"", b"a = '" + b"b" * 100_000],
    ids=range(10),
)  # fmt: skip
def test_what_is_no_study_file(text, tmp_path):
    file = tmp_path / "study.toml"
    file.write_bytes(text)
    with pytest.raises(StudyFileError) as caught:
        StudyFile.read(file, importing=False)
    assert len(str(caught.value)) < 2000


CONFIG: dict[str, Any] = {
    "experiment-name": "e",
    "variables": {
        "X": {"type": "FLOAT", "size": 2, "min": 0, "max": 1},
        "k": {"type": "ENUM", "size": 1, "options": ["a", "b"]},
        "n": {"type": "INT", "size": 1, "min": 1, "max": 4},
    },
    "tasks": {"f": {"type": "OBJECTIVE", "main-file": "m", "cost": 2, "resources": ["r"]}, "c": {"type": "CONSTRAINT"}},
    "resources": {"r": {"max-concurrent": 2, "max-finished-jobs": 10}},
}
OTHERS: list[Any] = [None, True, 0, -1, 10**9, 10**400, 1e308, float("nan"), float("inf"), "", "x", "\x1b[31m\x07"]
OTHERS += ["\u202e", "a b\nimport os", '"""+__import__(\'os\')', "'", "\ud800", [], [[]], [None], {}, {"": 1}, {"x": 1}]


def places(plain: Any, at: tuple[Any, ...] = ()):
    """Where anything is in plain data."""
    yield at
    for key in plain if isinstance(plain, dict) else range(len(plain)) if isinstance(plain, list) else ():
        yield from places(plain[key], (*at, key))


def changed(plain: Any, at: tuple[Any, ...], value: Any) -> Any:
    """The same with another value there."""
    if not at:
        return value
    inner = changed(plain[at[0]], at[1:], value)
    if isinstance(plain, dict):
        return {**plain, at[0]: inner}
    return [inner if i == at[0] else each for i, each in enumerate(plain)]


def converted(path: Path) -> None:
    """The texts that are made of a config can be written, and the module is one."""
    config = read_config(path)
    study_text(config, path.name, "study_spearmint").encode()
    compile(module_text(config), "study_spearmint.py", "exec")


@pytest.mark.parametrize("at", [*places(CONFIG)], ids=str)
def test_a_config_of_spearmints_with_anything_in_any_place(at, tmp_path):
    file, began = tmp_path / "config.json", time.process_time()
    for value in OTHERS:
        file.write_text(json.dumps(changed(CONFIG, at, value)))
        tried(converted, file)
    assert time.process_time() - began < 5


def test_no_name_in_a_config_becomes_a_line_of_the_study_file(tmp_path):
    ill = "a\ncommand = ['touch', 'owned']\n#"
    resources = {"r": {"max-concurrent": 1, ill: 1}, ill: {"max-concurrent": 1, "b": 2}}
    tasks = {"f": {"type": "OBJECTIVE"}, ill: {"type": "CONSTRAINT"}}
    config = {**CONFIG, ill: ill, "experiment-name": ill, "resources": resources, "tasks": tasks}
    (tmp_path / "config.json").write_text(json.dumps(config))
    text = study_text(read_config(tmp_path / "config.json"), f"{ill}.json", "study_spearmint")
    assert not any(line.startswith("command") for line in text.splitlines())
    assert "command" not in tomllib.loads(text)


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b"", b"\xff", b"null"])
def test_what_is_no_config_of_spearmints(text, tmp_path):
    (tmp_path / "config.json").write_bytes(text)
    with pytest.raises(PeskyError):
        read_config(tmp_path / "config.json")


PROBLEM = Problem(
    {"x": Real(0, 1), "n": Integer(1, 9), "k": Choice(["a", "b"])}, minimize="f", constraints=["ok is true"]
)
HEAD, ROW = "x,n,k,f,ok\n", ["0.5", "3", "a", "1.5", "yes"]
CELLS = ["1" + "0" * 400, "1" + "0" * 5000, "1e999", "inf", "1_0", "\x1b[31m", "\u202e", "\0", "'=1", "1,5", "--1", '"']
CELLS += [
    "9" * 10_000_000,
    "(" * 100_000,
    " " * 100_000 + "1",
    "1" * 100_000 + "kB",
    "1." * 50_000,
    "<" + "1" * 100_000,
]


@pytest.mark.parametrize("column", range(5))
def test_a_table_with_anything_in_any_cell(column, tmp_path):
    file, began = tmp_path / "data.csv", time.process_time()
    for cell in CELLS:
        cells = [f'"{cell.replace(chr(34), chr(34) * 2)}"' if i == column else each for i, each in enumerate(ROW)]
        file.write_text(HEAD + ",".join(cells) + "\n")
        tried(lambda: data_of(PROBLEM, read_csv(file)))
    assert time.process_time() - began < 5


@pytest.mark.parametrize("name", ["x", "x ", "", "\x1b]0;o\x07", "F", "f (mm)", "(" * 100_000, "[" * 100_000, "failed"])
def test_a_table_with_any_column_more(name, tmp_path):
    (tmp_path / "data.csv").write_text(f'{HEAD.strip()},"{name}"\n{",".join(ROW)},1\n')
    tried(lambda: data_of(PROBLEM, read_csv(tmp_path / "data.csv")))


@pytest.mark.parametrize(
    "text",
    ["", "\n" * 100_000, "," * 100_000, '"' * 100_000, "\0" * 1000, HEAD, HEAD + "0.5\n", HEAD + "0.5,3,a,1.5,yes,1\n",
     "x,x,k,f,ok\n", ",".join(f"c{i}" for i in range(100_000)) + "\n1\n"],
    ids=range(10),
)  # fmt: skip
def test_what_is_no_table(text, tmp_path):
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        data_of(PROBLEM, read_csv(tmp_path / "data.csv"))
    assert len(str(caught.value)) < 3000


@pytest.mark.parametrize("huge", [10**400, 10**5000, float("nan"), [], {}, "\ud800", b"x"], ids=range(7))
def test_rows_with_anything_in_any_place_are_added_or_refused_in_words(huge):
    row = {"x": 0.5, "n": 3, "k": "a", "f": 1.5, "ok": True, "note": "mine"}
    for name in row:
        tried(lambda: data_of(PROBLEM, rows_of([{**row, name: huge}])))  # noqa: B023
        tried(lambda: Study(PROBLEM).add([{**row, name: huge}]))  # noqa: B023
