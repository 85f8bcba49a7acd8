"""The strategy that a study is asked by is stored with it, as text."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path

import pytest
from study.quick import COUPLED

from pesky import ProblemError, Study
from pesky.acquire import RULES, EntropySearchByEP, Rule, rule_of
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.study_file import StudyFile
from pesky.study_file.settings import settings_in


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


@pytest.mark.parametrize(
    "rule",
    [
        *RULES,
        {"name": "eic", "noise_factor": False},
        {"name": "pesc-ep", "options": "paper"},
        {"name": "pesc-ep", "samples": 7, "draws": None},
        {"name": "pesc", "cells": 40, "coarse": None},
    ],
)
def test_every_rule_is_the_same_after_it_was_written_as_json(rule):
    made = rule_of(rule)
    assert rule_of(json.loads(json.dumps(made.to_plain()))) == made


def test_a_study_goes_on_by_the_rule_that_it_was_asked_by(url: str, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "pesky"):
        s = Study(COUPLED, storage=url, rule={"name": "eic", "noise_factor": False})
        s.run(lambda p: {"f": p["x"], "c": 1.0}, 5, progress=False)
        again, loaded = Study(COUPLED, storage=url), Study.load(url)
    assert again.rule == loaded.rule == ExpectedImprovement(noise_factor=False)
    assert loaded.explain(loaded.ask()).rule in ("eic", None)
    assert not caplog.records


def test_another_rule_is_said_and_kept(url: str, caplog: pytest.LogCaptureFixture):
    Study(COUPLED, storage=url, rule="eic")
    with caplog.at_level(logging.WARNING, "pesky"):
        assert Study(COUPLED, storage=url, rule="pesc").rule == rule_of("pesc")
    assert "goes on by Acquire(rule={'name': 'pesc', 'cells': 300, " in caplog.text
    assert "before by Acquire(rule={'name': 'eic', 'noise_factor'" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, "pesky"):
        assert Study.load(url).rule == rule_of("pesc")
    assert not caplog.records


@pytest.mark.parametrize(
    ("options", "rule"),
    [("default", rule_of("pesc")), ("ep", EntropySearchByEP()), ("paper", EntropySearchByEP.paper())],
)
def test_rules_have_their_names_of_today(url: str, options: str, rule: Rule, caplog: pytest.LogCaptureFixture):
    """PESC by expectation propagation was "pesc" with other options."""
    s, stored = Study(COUPLED, storage=url), {"name": "pesc", "options": options}
    for kept in ({"rule": stored}, {"strategy": {"steps": [{"step": "Acquire", "rule": stored}]}}):
        s.store.keep_settings(s.identity, json.dumps(kept))
        with caplog.at_level(logging.WARNING, "pesky"):
            assert Study.load(url).rule == rule
    assert not caplog.records


def test_to_look_changes_nothing(url: str):
    from pesky.store.sql.store import SqlStore

    s = Study(COUPLED, storage=url, rule="eic")
    looked = Study.load(SqlStore(url, read_only=True), rule="pesc")
    assert looked.rule == rule_of("pesc")
    assert Study.load(url).rule == s.rule


def test_a_rule_of_ones_own_is_to_be_given_again(url: str, caplog: pytest.LogCaptureFixture):
    @dataclass(frozen=True)
    class Own(ExpectedImprovement):
        name = "own"

    Study(COUPLED, storage=url, rule=Own())
    with caplog.at_level(logging.WARNING, "pesky"):
        assert Study.load(url).rule == rule_of("pesc")
    assert "asked by a strategy that is not at hand" in caplog.text
    assert "'own'" in caplog.text
    caplog.clear()
    assert Study.load(url, rule=Own()).rule == Own()
    assert not caplog.records


@pytest.mark.parametrize(
    "stored",
    ["", "[", "[" * 100_000, "3", "null", '{"rule": 3}', '{"rule": {"name": ["pesc"]}}', '{"rule": {"name": "pesc", '
     '"samples": "many"}}', '{"rule": {"name": "pesc\\u001b[2J"}}', '{"rule": {"name": "eic", "__class__": 1}}',
     '{"strategy": {"steps": 3}}', '{"strategy": {"steps": [{"step": ["Acquire"]}]}}',
     '{"strategy": [' + "[" * 400 + "]" * 401 + "}"],
)  # fmt: skip
def test_what_nobody_wrote_so_is_not_used(url: str, stored: str, caplog: pytest.LogCaptureFixture):
    s = Study(COUPLED, storage=url, rule="eic")
    s.store.keep_settings(s.identity, stored)
    with caplog.at_level(logging.WARNING, "pesky"):
        assert Study.load(url).rule == rule_of("pesc")
    assert caplog.records
    assert "\x1b" not in caplog.text


def test_a_rule_that_is_none_begins_no_study(url: str):
    with pytest.raises(ProblemError, match="'eics'"):
        Study(COUPLED, storage=url, rule="eics")
    with pytest.raises(Exception, match="does not exist"):
        Study.load(url, "study")


def test_a_file_without_a_rule_says_nothing_of_it(tmp_path: Path):
    file = tmp_path / "study.toml"
    text = 'minimize = "f"\n[parameters]\nx = { type = "real", low = 0, high = 1 }\n'
    file.write_text(text)
    assert settings_in(StudyFile.read(file))["rule"] is None
    file.write_text(text + "[run]\nrule = { name = 'pesc', cells = 9 }\n")
    assert settings_in(StudyFile.read(file))["rule"] == rule_of("pesc", cells=9)
