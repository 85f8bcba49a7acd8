"""The rule of a study file: by its name or a table, with the setting of PESC and the samples beside it."""

from dataclasses import replace
from typing import Any

import pytest

from pesky import ProblemError
from pesky.acquire import DEFAULT, EP, PAPER, rule_of
from pesky.acquire.pesc.rule import PredictiveEntropySearch
from pesky.study_file.rule import rule_in
from pesky.study_file.tables import RunTable


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({}, None),
        ({"rule": "pesc"}, PredictiveEntropySearch(DEFAULT)),
        ({"setting": "paper"}, PredictiveEntropySearch(PAPER)),
        ({"samples": 7}, PredictiveEntropySearch(replace(EP, samples=7))),
        ({"setting": "paper", "samples": 7}, PredictiveEntropySearch(replace(PAPER, samples=7))),
        ({"rule": {"name": "pesc", "setting": "paper"}}, PredictiveEntropySearch(PAPER)),
        ({"rule": {"name": "pesc", "options": "paper"}}, PredictiveEntropySearch(PAPER)),
        ({"rule": {"name": "pesc", "setting": "paper"}, "setting": "default"}, PredictiveEntropySearch(DEFAULT)),
        ({"rule": "pes", "samples": 8}, rule_of("pes", samples=8)),
        ({"rule": "cmes", "samples": 9}, rule_of("cmes", samples=9)),
        ({"rule": {"name": "eic", "noise_factor": False}}, rule_of("eic", noise_factor=False)),
    ],
)
def test_the_setting_and_the_samples_are_options_of_the_rule(run: dict[str, Any], expected):
    assert rule_in(RunTable(**run)) == expected


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"rule": "eic", "setting": "paper"}, "setting was 'paper', which is PESC's; the rule 'eic' has none"),
        ({"rule": "eic", "samples": 5}, "samples was 5, and the rule 'eic' draws none: leave it out"),
        ({"rule": {"noise_factor": False}}, "expected a name in it"),
        ({"rule": {"name": "pesc", "setting": "papper"}}, "unknown options 'papper'.*'paper'"),
        ({"rule": {"name": "eic", "setting": "paper"}}, "the rule 'eic': unknown option 'setting'"),
    ],
)
def test_a_rule_without_them_says_so(run: dict[str, Any], message: str):
    with pytest.raises(ProblemError, match=message):
        rule_in(RunTable(**run))
