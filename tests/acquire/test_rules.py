"""Every rule keeps the contract; options are such that the tests are quick."""

from dataclasses import replace

import pytest
import torch

from pesky.acquire import RULES, EntropySearchByEP, PredictiveEntropySearch, Rule, rule_of
from pesky.errors import ProblemError
from pesky.study_file.tables import RuleName
from pesky.testing import RuleContract

QUICK = {"cells": 60, "draws": 64, "candidates": 64, "polish_steps": 3}


class TestPESC(RuleContract):
    @pytest.fixture
    def rule(self, monkeypatch: pytest.MonkeyPatch) -> Rule:
        monkeypatch.setattr("pesky.acquire.pesc.rule.SINGLE", torch.float64)  # for differences of tiny steps
        return rule_of("pesc", **QUICK)


class TestByEP(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return EntropySearchByEP(samples=8, draws=40, local_reach=0.2, polish_steps=3, candidates=64, fine_from=0)


class TestPES(RuleContract):
    @pytest.fixture
    def rule(self, monkeypatch: pytest.MonkeyPatch) -> Rule:
        monkeypatch.setattr("pesky.acquire.pesc.rule.SINGLE", torch.float64)
        return rule_of("pes", **QUICK)


class TestJESC(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("jesc", samples=24, draws=96, candidates=64, polish_steps=3)


class TestCMES(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("cmes", samples=12, draws=48, candidates=64, polish_steps=3)


class TestEIC(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("eic")


class TestEICDecoupled(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("eic-decoupled", samples=12, spread=60, draws=200)


class TestAL(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("al", samples=64)


class TestIECI(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("ieci", points=64)


class TestEVR(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("evr", points=64)


class TestRS(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("rs", cells=12, samples=1000)


class TestRSDG(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("rsdg", optima=20, samples=1000)


class TestSobol(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("sobol")


class TestRandom(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("random")


def test_the_names_of_a_study_file_are_those_of_the_rules():
    assert set(RuleName.__args__) == set(RULES)
    assert all(rule.name == name for name, rule in RULES.items())


def test_a_name_that_is_no_rule_is_refused_with_the_nearest_one():
    with pytest.raises(ProblemError, match=r"unknown rule 'sobel': expected one of 'pesc'.* Did you mean 'sobol'"):
        rule_of("sobel")
    with pytest.raises(
        ProblemError, match=r"the rule 'eic': unknown option 'noise_facto'.*Did you mean 'noise_factor'"
    ):
        rule_of("eic", noise_facto=True)


def test_options_of_pesc_are_named_as_a_whole_and_one_by_one():
    """As in a study file."""
    twenty = replace(EntropySearchByEP.paper(), samples=20)
    assert rule_of({"name": "pesc-ep", "options": "paper", "samples": 20}) == twenty
    assert rule_of(EntropySearchByEP.paper(), samples=20) == rule_of(twenty, options="paper", samples=20) == twenty
    assert rule_of(twenty, options="default") == EntropySearchByEP()
    assert rule_of("pes", cells=20).option_names() == rule_of("pesc").option_names()
    assert rule_of("pesc", cells=20, coarse=None) == PredictiveEntropySearch(cells=20, coarse=None)
    for given, message in (
        ({"options": "papper"}, r"'pesc-ep': unknown options 'papper': .*'paper'"),
        ({"sample": 3}, r"'pesc-ep': unknown option 'sample': expected one of 'options', 'samples'.* mean 'samples'"),
        ({"samples": 0}, "the rule 'pesc-ep': samples was 0: expected a whole number"),
        ({"draws": 0}, "the rule 'pesc-ep': draws was 0: expected a whole number"),
        ({"coarse": -1}, "the rule 'pesc-ep': coarse was -1: expected a number above 0, or None"),
    ):
        with pytest.raises(ProblemError, match=message):
            rule_of("pesc-ep", **given)
