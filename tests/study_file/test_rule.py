"""The rule of a study file: by its name or a table with options."""

from typing import Any

import pytest

from pesky import ProblemError
from pesky.acquire import EntropySearchByEP, PredictiveEntropySearch, rule_of
from pesky.study_file.rule import rule_in
from pesky.study_file.tables import RunTable


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({}, None),
        ({"rule": "pesc"}, PredictiveEntropySearch()),
        ({"rule": {"name": "pesc", "cells": 40}}, PredictiveEntropySearch(cells=40)),
        ({"rule": "pesc-ep"}, EntropySearchByEP()),
        ({"rule": {"name": "pesc-ep", "options": "paper"}}, EntropySearchByEP.paper()),
        ({"rule": {"name": "eic", "noise_factor": False}}, rule_of("eic", noise_factor=False)),
        ({"setting": "default"}, PredictiveEntropySearch()),
        ({"setting": "ep", "rule": "pesc"}, EntropySearchByEP()),
        ({"setting": "paper", "samples": 7}, rule_of("pesc-ep", options="paper", samples=7)),
        ({"samples": 7}, EntropySearchByEP(samples=7)),
        ({"rule": "cmes", "samples": 9}, rule_of("cmes", samples=9)),
    ],
)
def test_a_rule_has_a_name_and_options(run: dict[str, Any], expected):
    assert rule_in(RunTable(**run)) == expected


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"rule": {"noise_factor": False}}, "expected a name in it"),
        ({"rule": "eic", "setting": "paper"}, "setting was 'paper', beside another rule than 'pesc'"),
        ({"rule": "eic", "samples": 5}, "the rule 'eic': unknown option 'samples'"),
        ({"rule": {"name": "pesc-ep", "options": "papper"}}, "unknown options 'papper'.*'paper'"),
        ({"rule": {"name": "pesc", "samples": 20}}, "the rule 'pesc': unknown option 'samples'"),
        ({"rule": {"name": "eic", "options": "paper"}}, "the rule 'eic': unknown option 'options'"),
    ],
)
def test_an_option_that_it_does_not_have_is_named(run: dict[str, Any], message: str):
    with pytest.raises(ProblemError, match=message):
        rule_in(RunTable(**run))
