"""The rule of a study file."""

from typing import TYPE_CHECKING

from pesky.errors import ProblemError
from pesky.file.mistake import Findings
from pesky.file.tables import RunTable
from pesky.problem import Problem

if TYPE_CHECKING:
    from pesky.acquire.rule import Rule


def rule_in(run: RunTable) -> "Rule":
    """The rule by its name, with the settings of its table if it has one; a ProblemError if there is no such."""
    from pesky.acquire.names import rule_of  # imports torch, which takes seconds

    if isinstance(run.rule, str):
        return rule_of(run.rule)
    settings = dict(run.rule)
    return rule_of(settings.pop("name", None), **settings)


def check_rule(run: RunTable, problem: Problem, findings: Findings) -> None:
    """Note why the rule does not suit the problem, if it does not."""
    if run.rule == "pesc" and run.samples is None:
        return
    from pesky.space import Space
    from pesky.study.rules import chosen_rule

    try:
        chosen_rule(rule_in(run), run.setting, run.samples, problem, Space.of(problem))
    except ProblemError as error:
        findings.note(("run", "rule"), f"{error}")
