"""`init`, `check` and `upgrade`."""

import json
from typing import get_args

import pytest

from pesky.cli import exit_codes
from pesky.problem.task import Failures
from pesky.store import open_store


def test_init_writes_a_file_that_has_no_mistakes(pesky, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "study.toml and measure.py written" in pesky("init").stdout
    text = pesky("check", "study.toml").stdout
    assert "study: minimize error" in text
    assert text.endswith("no mistakes found\n")
    assert all(f'"{failures}"' in (tmp_path / "study.toml").read_text() for failures in get_args(Failures))


def test_a_file_that_cannot_be_used_is_named(pesky, tmp_path):
    for path, why in ((tmp_path / ("a" * 300 + ".toml"), "File name too long"), ("/proc/study.toml", "No such file")):
        assert why in pesky("init", path, code=exit_codes.MISTAKE).stderr


def test_init_overwrites_nothing(pesky, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text("mine")
    assert "nothing is overwritten" in pesky("init", "mine.toml", code=exit_codes.MISTAKE).stderr
    assert (tmp_path / "mine.toml").read_text() == "mine"
    (tmp_path / "measure.py").write_text("mine")
    assert "was there already" in pesky("init", "other.toml").stdout
    assert (tmp_path / "measure.py").read_text() == "mine"
    assert "there is no folder" in pesky("init", "no/other.toml", code=exit_codes.MISTAKE).stderr


def test_check_lists_every_mistake(pesky, project):
    project.change("c >= 0", "c > 0")
    project.change("evaluations = 3", "evaluations = 0")
    result = pesky("check", "study.toml", code=exit_codes.MISTAKE)
    assert "study.toml has 2 mistakes:" in result.stderr
    assert "line 2: constraints[0]: the constraint 'c > 0' does not parse. Write 'c >= 0'." in result.stderr
    assert "line 11: budget.evaluations: was 0" in result.stderr
    found = json.loads(pesky("check", "study.toml", "--json", code=exit_codes.MISTAKE).stdout)["mistakes"]
    assert [(each["key"], each["line"]) for each in found] == [("constraints[0]", 2), ("budget.evaluations", 11)]


def test_check_sums_up_what_is_asked(pesky, project):
    project.change('function = "', '# function = "')
    project.change('"c >= 0"', '"c >= 0", "c <= 9", "x <= 0.5", "x <= 2"')
    project.change("[parameters]", "[outcomes.c]\nhigh = 3\n\n[parameters]")
    text = pesky("check", "study.toml").stdout
    for line in (
        "study: minimize f",
        "subject to c >= 0, with confidence 0.95\n",
        "subject to c <= 9, which holds everywhere",
        "subject to x <= 0.5\n",
        "subject to x <= 2, which holds everywhere",
        "over k: one of a, b",
        "all measures f, c by hand (`pesky ask`, `pesky tell`), at a cost of 1\n",
        "asked by the default strategy, unless the study is stored with another\n",
        "until 3 evaluations",
        "kept in study.db",
    ):
        assert line in text
    assert json.loads(pesky("check", "study.toml", "--json").stdout)["problem"]["minimize"] == "f"
    assert not (project.folder / "study.db").exists()


@pytest.mark.parametrize(
    ("run", "rule"),
    [
        ('rule = "eic"', "eic"),
        ('rule = { name = "eic", noise_factor = false }', "eic"),
        ('rule = "pesc-ep"', "pesc-ep"),
    ],
)
def test_check_names_the_rule(pesky, project, run, rule):
    project.change("[budget]", f"[run]\n{run}\n\n[budget]")
    assert f"asked by the rule {rule}\n" in pesky("check", "study.toml").stdout


def test_upgrade_says_what_it_did(pesky, tmp_path):
    assert "does not exist" in pesky("upgrade", f"sqlite:///{tmp_path}/old.db", code=exit_codes.STORAGE).stderr
    open_store(f"sqlite:///{tmp_path}/old.db").open("a", "{}", 0, "a")
    assert pesky("upgrade", f"sqlite:///{tmp_path}/old.db").stdout.startswith("Up to date already")
    assert "Did you mean" in pesky("upgrade", "old.db", code=exit_codes.STORAGE).stderr
