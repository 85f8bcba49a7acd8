"""Every rule keeps the contract; options are such that the tests are quick."""

from dataclasses import replace

import pytest

from pesky.acquire import PAPER, RULES, PescOptions, PredictiveEntropySearch, Rule, rule_of
from pesky.errors import ProblemError
from pesky.study_file.tables import RuleName
from pesky.testing import RuleContract

QUICK = PescOptions(samples=8, draws=40, local_reach=0.2, polish_steps=3, candidates=64)


class TestPESC(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("pesc", options=QUICK)


class TestPES(RuleContract):
    @pytest.fixture
    def rule(self) -> Rule:
        return rule_of("pes", options=QUICK)


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
    twenty = replace(PAPER, samples=20)
    assert rule_of({"name": "pesc", "options": "paper", "samples": 20}) == PredictiveEntropySearch(twenty)
    assert rule_of("pes", samples=20).option_names() == rule_of("pesc").option_names()
    assert rule_of(PredictiveEntropySearch(PAPER), samples=20) == PredictiveEntropySearch(twenty)
    for given, message in (
        ({"options": "papper"}, r"'pesc': unknown options 'papper': .*'paper'"),
        ({"sample": 3}, r"'pesc': unknown option 'sample': expected one of 'options', 'samples'.* mean 'samples'"),
        ({"samples": 0}, "samples of PESC's options was 0: expected a whole number"),
        ({"coarse": -1}, "coarse of PESC's options was -1: expected a number above 0"),
    ):
        with pytest.raises(ProblemError, match=message):
            rule_of("pesc", **given)
