"""The rule that a study follows: by name or with settings of its own, and refused where it does not suit."""

import pytest

from pesky import Budget, Problem, ProblemError, Real, Study, Task
from pesky.acquire import AugmentedLagrangian, EntropySearchByEP, Rule, rule_of
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.acquire.pesc.rule import PredictiveEntropySearch

BOX = {"x": Real(0, 1), "y": Real(0, 1)}
PROBLEM = Problem(BOX, minimize="f", constraints=["c >= 0"])
APART = Problem(BOX, minimize="f", constraints=["c >= 0"], tasks={"f": Task(["f"]), "c": Task(["c"])})
FREE = Problem(BOX, minimize="f")


def test_a_rule_is_a_name_or_an_object_with_settings_of_its_own():
    assert Study(PROBLEM).rule == PredictiveEntropySearch()
    seven = {"name": "pesc-ep", "samples": 7}
    assert Study(PROBLEM, rule=seven).rule == EntropySearchByEP(samples=7)
    assert Study(PROBLEM, rule="eic").rule == ExpectedImprovement()
    assert Study(PROBLEM, rule=ExpectedImprovement(noise_factor=False)).rule == ExpectedImprovement(False)
    assert Study(PROBLEM, rule={"name": "eic", "noise_factor": False}).rule == ExpectedImprovement(False)
    assert Study(PROBLEM, rule={"name": "pesc-ep", "options": "paper"}).rule == EntropySearchByEP.paper()
    assert rule_of("al", patience=0) == AugmentedLagrangian(patience=0)
    assert Study(PROBLEM, rule={"name": "cmes", "samples": 9}).rule == rule_of("cmes", samples=9)


@pytest.mark.parametrize(
    ("problem", "options", "message"),
    [
        (PROBLEM, {"rule": "esc"}, "unknown rule 'esc': expected one of .* Did you mean 'pesc'"),
        (PROBLEM, {"rule": 3}, "unknown rule 3"),
        (
            PROBLEM,
            {"rule": ExpectedImprovement},
            r"was the class ExpectedImprovement: expected ExpectedImprovement\(\), or",
        ),
        (PROBLEM, {"rule": {"noise_factor": False}}, "the rule was {'noise_factor': False}: expected a name in it"),
        (
            PROBLEM,
            {"rule": {"name": "eic", "noise_factor": "no"}},
            "'eic': noise_factor was 'no': expected True or False",
        ),
        (
            PROBLEM,
            {"rule": {"name": "jesc", "samples": 0}},
            "'jesc': samples was 0: expected a whole number, at least 1",
        ),
        (PROBLEM, {"rule": {"name": "jesc", "samples": "many"}}, "'jesc': samples was 'many'"),
        (PROBLEM, {"rule": {"name": "al", "tolerance": -1}}, "'al': tolerance was -1: expected a number, 0 or above"),
        (
            PROBLEM,
            {"rule": {"name": "pesc-ep", "options": "papper"}},
            "'pesc-ep': unknown options 'papper'.*'paper'",
        ),
        (PROBLEM, {"rule": {"name": "eic", "options": "paper"}}, "the rule 'eic': unknown option 'options'"),
        (PROBLEM, {"rule": {"name": "eic", "samples": 5}}, "the rule 'eic': unknown option 'samples'"),
        (
            PROBLEM,
            {"rule": "pes"},
            "'pes' is for problems without constraints, and this one has 1: use 'pesc'",
        ),
        (
            Problem({f"x{i}": Real(0, 1) for i in range(3)}, minimize="f"),
            {"rule": "rs"},
            "2 dimensions at most; this one has 3.*'rsdg'",
        ),
        (APART, {"rule": "eic"}, "'eic' asks for all outcomes.* the task 'f' does not measure 'c'.*'eic-decoupled'"),
        (APART, {"rule": "cmes"}, "'cmes' asks for all outcomes.*'pesc', 'pesc-ep', 'jesc'"),
    ],
)
def test_a_rule_that_does_not_suit_is_refused_at_once(problem, options, message):
    with pytest.raises(ProblemError, match=message):
        Study(problem, **options)


def test_nats_are_not_asked_of_a_rule_that_does_not_count_in_them():
    study = Study(PROBLEM, rule="eic")
    with pytest.raises(ProblemError, match="'eic' does not count in nats: limit evaluations, cost or seconds instead"):
        study.run(lambda params: {"f": 0.0, "c": 1.0}, Budget(gain_per_cost=0.1))
    with pytest.raises(ProblemError, match="'eic' does not count in nats"):
        study.ask(gain_per_cost=0.1)
    assert not study.evaluations


def test_a_problem_without_constraints_is_for_pes():
    study = Study(FREE, rule={"name": "pes", "cells": 20})
    for _ in range(4):
        evaluation = study.ask()
        study.tell(evaluation, {"f": float(evaluation.params["x"])})
    assert study.decision is not None


def test_a_rule_without_what_every_rule_has_is_refused_when_it_is_written():
    with pytest.raises(TypeError, match="the rule Careless lacks measures, in_nats"):

        class Careless(Rule):
            name = "careless"

            def acquisition(self, context):
                raise NotImplementedError
