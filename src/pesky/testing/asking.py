"""What a rule promises to a study."""

import math

import pytest
import torch

from pesky.acquire import Rule
from pesky.errors import ProblemError
from pesky.problem import Choice, Integer, Problem, Real, Task
from pesky.strategy import Strategy
from pesky.study import Study
from pesky.testing.acquisition import RuleTest

EVALUATIONS = 5


class AskingContract(RuleTest):
    """What a rule promises to those who ask a study."""

    def problem(self, rule: Rule, **given) -> Problem:
        """Two real parameters and as many constraints as the rule takes, up to two."""
        names = ["c1", "c2"][: self.most_constraints(rule)]
        stated = {"parameters": {"x": Real(0, 1), "y": Real(0, 1)}, "noise": 0.0} | given
        return Problem(minimize="f", constraints=[f"{name} >= 0" for name in names], **stated)

    def measure(self, problem: Problem, params) -> dict[str, float]:
        """A bowl, feasible on one side of a line and outside of a disk."""
        x, y = float(params["x"]), float(params["y"])
        all_of_them = {"f": (x - 0.3) ** 2 + y, "c1": x + y - 0.6, "c2": (x - 0.7) ** 2 + y**2 - 0.04}
        return {name: all_of_them[name] for name in problem.outcomes}

    def go_on(self, study: Study, until: int, measure=None) -> list[dict]:
        """Ask and tell; what was asked."""
        asked = []
        while len(study.evaluations) < until:
            evaluation = study.ask()
            asked.append(dict(evaluation.params))
            values = (measure or self.measure)(study.problem, evaluation.params)
            outcomes = study.problem.tasks[evaluation.task].outcomes
            study.tell(evaluation, {name: values[name] for name in outcomes})
        return asked

    def test_a_study_asks_by_it(self, rule: Rule):
        study = Study(self.problem(rule), strategy=Strategy.plain(rule))
        asked = self.go_on(study, EVALUATIONS)
        assert len({tuple(params.values()) for params in asked}) == EVALUATIONS
        last = study.evaluations[EVALUATIONS - 1]
        assert (last.gain is not None) == rule.in_nats
        assert study.recommend().params.keys() == {"x", "y"}

    def test_a_study_that_is_restarted_goes_on_as_if_it_had_not_been(self, rule: Rule):
        first = Study(self.problem(rule), strategy=Strategy.plain(rule))
        self.go_on(first, EVALUATIONS - 1)
        again = Study(self.problem(rule), strategy=Strategy.plain(rule))
        for evaluation in first.evaluations.values():
            again.add(evaluation.params, evaluation.outcomes)
        # Fits that began elsewhere end a little elsewhere.
        assert again.ask().params == pytest.approx(first.ask().params, abs=0.05)

    def test_who_asks_beside_another_is_asked_something_else(self, rule: Rule):
        study = Study(self.problem(rule), strategy=Strategy.plain(rule))
        self.go_on(study, EVALUATIONS - 1)
        asked = [study.ask().params for _ in range(2)]
        assert asked[0] != asked[1]

    def test_many_may_ask_before_anything_is_told(self, rule: Rule):
        study = Study(self.problem(rule), strategy=Strategy.plain(rule))
        asked = [study.ask().params for _ in range(5)]
        assert len({tuple(params.values()) for params in asked}) == 5

    def test_outcomes_are_asked_one_by_one_or_refused(self, rule: Rule):
        if self.most_constraints(rule) == 0:
            pytest.skip(f"{rule.name} takes no constraints")
        problem = self.problem(rule)
        separate = self.problem(rule, tasks={name: Task([name]) for name in problem.outcomes})
        if rule.measures == "together":
            with pytest.raises(ProblemError, match=f"{rule.name!r} asks for all outcomes.*'pesc'.*'eic-decoupled'"):
                Study(separate, rule=rule)
            return
        study = Study(separate, rule=rule)
        self.go_on(study, 3 * len(problem.outcomes) + 1)
        assert all(len(e.outcomes) == 1 for e in study.evaluations.values())

    def test_lattices_and_choices_are_kept_to(self, rule: Rule):
        parameters = {"x": Integer(0, 4), "kind": Choice(["low", "high"])}
        try:
            rule.check(3, self.most_constraints(rule))
        except ProblemError:
            pytest.skip(f"{rule.name} does not take so many dimensions")
        study = Study(self.problem(rule, parameters=parameters, noise=0.01), rule=rule)

        def measure(problem, params):
            y = 0.2 if params["kind"] == "low" else 0.8
            return self.measure(problem, {"x": params["x"] / 4, "y": y})

        asked = self.go_on(study, 5, measure)
        assert all(params["x"] in range(5) and params["kind"] in ("low", "high") for params in asked)

    def test_who_has_no_time_gets_quick_decisions(self, rule: Rule):
        hasty = Study(self.problem(rule), rule=rule, deciding_share=1e-6)
        self.go_on(hasty, 6)
        assert hasty.time_budget.decisions["full"] == 1
        assert sum(hasty.time_budget.decisions.values()) == 3

    def test_a_yes_or_no_is_asked_about(self, rule: Rule):
        if self.most_constraints(rule) == 0:
            pytest.skip(f"{rule.name} takes no constraints")
        problem = Problem({"x": Real(0, 1), "y": Real(0, 1)}, minimize="f", constraints=["works is true"], noise=0.0)

        def measure(problem, params):
            return {"f": params["x"] + params["y"], "works": params["x"] + params["y"] > 0.7}

        study = Study(problem, rule=rule)
        asked = self.go_on(study, 5, measure)
        assert all(math.isfinite(value) for params in asked for value in params.values())

    def test_where_nothing_is_feasible_it_keeps_looking(self, rule: Rule):
        """The situation of BoTorch issue 3009: no point is feasible, and the same one must not be asked for ever.

        Noise is inferred: a model that takes a violation for noise is the one that asks again.
        """
        if self.most_constraints(rule) == 0:
            pytest.skip(f"{rule.name} takes no constraints")
        problem = self.problem(rule, noise=None)

        def measure(problem, params):
            bump = math.exp(-20 * ((params["x"] - 0.5) ** 2 + (params["y"] - 0.5) ** 2))
            values = {"f": params["x"], "c1": bump - 2.0, "c2": -1.0}
            return {name: values[name] for name in problem.outcomes}

        study = Study(problem, rule=rule)
        self.go_on(study, 8, measure)
        asked = torch.tensor([list(e.params.values()) for e in study.evaluations.values()], dtype=torch.float64)
        near = (asked[:, None] - asked).abs().amax(-1) < 0.01
        assert near.sum(-1).max() <= 3
        assert not study.recommend().is_confident
