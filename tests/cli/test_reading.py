"""Commands that look: they write nothing, read what cannot be written, and say what is damaged."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from mounted import frozen  # noqa: F401 (a fixture)

from pesky.cli import exit_codes
from pesky.store import open_store

LOOKING = [
    ("status",), ("status", "--json"), ("show",), ("show", "--json"), ("show", "--csv", "-"), ("recommend",)
]  # fmt: skip


def snapshot(folder):
    """Every file of a folder, with what is in it."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def looked(pesky):
    """What every command that looks prints."""
    return {
        each: pesky(
            each[0], "study.toml", *each[1:], code=exit_codes.NOT_YET if each[0] == "recommend" else exit_codes.DONE
        ).stdout
        for each in LOOKING
    }


@pytest.mark.parametrize(("command", "options"), [(first, rest) for first, *rest in LOOKING])
def test_the_database_of_another_program_is_left_alone(pesky, project, command, options):
    with closing(sqlite3.connect("study.db")) as connection, connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    before = snapshot(project.folder)
    error = pesky(command, "study.toml", *options, code=exit_codes.STORAGE).stderr
    assert "is no storage of pesky, it holds tables of another program ('people'): check its name" in error
    assert snapshot(project.folder) == before


def test_the_database_of_another_program_is_not_filled_with_ours(pesky, project):
    with closing(sqlite3.connect("study.db")) as connection, connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    before = snapshot(project.folder)
    for command in (("run",), ("ask",), ("tell", "--params", '{"x": 0.5, "k": "a"}', "f=1"), ("run", "--fresh")):
        error = pesky(command[0], "study.toml", *command[1:], code=exit_codes.STORAGE).stderr
        assert "is no storage of pesky" in error
    assert snapshot(project.folder) == before


def test_looking_at_what_is_not_there_makes_nothing(pesky, project):
    before = snapshot(project.folder)
    for command, *options in LOOKING:
        assert (
            "there is no study 'study' in study.db yet"
            in pesky(command, "study.toml", *options, code=exit_codes.STORAGE).stderr
        )
    assert snapshot(project.folder) == before


def test_looking_at_a_copy_leaves_nothing_beside_it(pesky, project):
    pesky("tell", "study.toml", "--params", '{"x": 0.1, "k": "a"}', "f=1", "c=-1")
    before = snapshot(project.folder)
    for command, *options in [*LOOKING, ("check",), ("why", "0")]:
        pesky(command, "study.toml", *options, code=None)
        assert snapshot(project.folder) == before, command


def test_a_folder_that_cannot_be_written_to_is_looked_at(pesky, project, frozen, monkeypatch):  # noqa: F811
    for x in (0.1, 0.3):
        pesky("tell", "study.toml", "--params", f'{{"x": {x}, "k": "a"}}', f"f={x - 0.5}", "c=-1")
    here = looked(pesky)
    store = open_store(f"sqlite:///{project.folder}/study.db")
    store.close()  # whoever writes last puts all in its place
    mine = project.folder / "mine"
    mine.mkdir()
    for path in ("study.toml", "study.db", f"{project.module}.py"):
        shutil.copy(path, mine)
    monkeypatch.chdir(frozen(mine))
    with pytest.raises(OSError, match=r"Read-only|Permission"):
        Path("new").touch()
    assert looked(pesky) == here
    assert "no mistakes found" in pesky("check", "study.toml").stdout
    assert "is read-only: get the right to write" in pesky("ask", "study.toml", code=exit_codes.STORAGE).stderr


@pytest.mark.parametrize("name", ["what?", "a%41b", "a b#c", "ü", "quo'te\"", "50%"])
def test_the_database_lies_beside_the_study_file(pesky, project, name):
    folder = project.folder / name
    folder.mkdir()
    shutil.move("study.toml", folder / f"{name}.toml")
    shutil.move(f"{project.module}.py", folder)
    file = os.path.join(name, f"{name}.toml")
    assert f"kept in {os.path.join(name, name)}.db" in pesky("check", file).stdout
    pesky("tell", file, "--params", '{"x": 0.5, "k": "a"}', "f=1")
    assert f"{name} in {os.path.join(name, name)}.db" in pesky("status", file).stdout
    there = {path.name for path in folder.iterdir() if path.is_file() and not path.name.endswith(("-wal", "-shm"))}
    assert there == {f"{name}.toml", f"{project.module}.py", f"{name}.db"}
    assert [path.name for path in project.folder.iterdir()] == [name]


PROBLEM, ROW = "UPDATE pesky_studies SET problem = ", "UPDATE pesky_evaluations SET "
DAMAGES = {
    "a problem that is no JSON": (PROBLEM + "'{'", "the stored problem of the study 'study' is damaged"),
    "a problem that is none": (PROBLEM + "'[1]'", "the stored problem of the study 'study' is damaged"),
    "a problem that lacks much": (PROBLEM + """'{"parameters": {}}'""", "the stored problem of the study 'study' is"),
    "a problem that is no text": (PROBLEM + "x'ff'", "the study 'study' is damaged in the storage: its problem was"),
    "params that are no JSON": (ROW + "params = 'x'", "is damaged in the storage: its params was 'x'"),
    "an unknown task": (ROW + "task = 'nap'", "the task 'nap'"),
    "an unknown outcome": (ROW + """outcomes = '{"g": 1}'""", "the outcome 'g'"),
    "a parameter that is missing": (ROW + """params = '{"x": 0.5}'""", "the parameters were 'x': expected 'x', 'k'"),
    "a parameter of another type": (ROW + """params = '{"x": "low", "k": "a"}'""", "the parameter 'x' was 'low'"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_said_in_words(pesky, project, damage):
    statement, words = DAMAGES[damage]
    for x in (0.1, 0.3):
        pesky("tell", "study.toml", "--params", f'{{"x": {x}, "k": "a"}}', "f=1", "c=1")
    with closing(sqlite3.connect("study.db")) as connection, connection:
        connection.execute(statement)
    for command in ("status", "show", "recommend", "ask"):
        error = pesky(command, "study.toml", code=exit_codes.STORAGE).stderr
        assert words in error, command
        assert "restore a copy" in error


@pytest.mark.parametrize("seconds", ["inf", "nan", "-1", "-inf"])
def test_a_measurement_takes_a_finite_time(pesky, project, seconds):
    pesky("ask", "study.toml")
    error = pesky("tell", "study.toml", "0", "f=1", "c=1", f"--seconds={seconds}", code=exit_codes.MISTAKE).stderr
    assert f"--seconds was {seconds}: expected how long it took, a finite number, 0 or above" in error
    assert pesky("tell", "study.toml", "0", "f=1", "c=1", "--seconds=0.5").stdout.startswith("#0 done")
