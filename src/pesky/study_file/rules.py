"""The rule of a study file."""

from typing import TYPE_CHECKING

from pesky.errors import ProblemError
from pesky.problem import Problem
from pesky.study_file.mistakes import Findings
from pesky.study_file.tables import RunTable

if TYPE_CHECKING:
    from pesky.acquire.base import Rule


def rule_in(run: RunTable) -> "Rule":
    """The rule by its name, with the settings of its table if it has one; a ProblemError if there is no such."""
    from pesky.acquire.registry import rule_of  # imports torch, which takes seconds

    return rule_of(run.rule)


def check_rule(run: RunTable, problem: Problem, gain_per_cost: float | None, findings: Findings) -> None:
    """Note why the rule does not suit the problem or the budget, if it does not."""
    if run.rule == "pesc" and run.samples is None:
        return
    from pesky.space import Space
    from pesky.study.rules import check_counts, chosen_rule

    try:
        rule = chosen_rule(rule_in(run), run.setting, run.samples, problem, Space.of(problem))
    except ProblemError as error:
        findings.note(("run", "rule"), f"{error}")
        return
    try:
        check_counts(rule, gain_per_cost)
    except ProblemError as error:
        findings.note(("budget", "gain_per_cost"), f"{error}")
