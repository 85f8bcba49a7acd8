"""The rule of a study file."""

from typing import TYPE_CHECKING

from pesky.errors import ProblemError
from pesky.problem import Problem
from pesky.study_file.mistakes import Findings
from pesky.study_file.tables import RunTable

if TYPE_CHECKING:
    from pesky.acquire.base import Rule


def rule_in(run: RunTable) -> "Rule | None":
    """The rule by its name or its table, with `setting` and `samples`; None if the file says nothing of it.

    Raise ProblemError if the rule does not have these. What a file calls the setting are the options of PESC as a
    whole.
    """
    if run.rule is None and run.setting is None and run.samples is None:
        return None
    from pesky.acquire.registry import RULES, rule_of  # imports torch, which takes seconds

    table = {"name": run.rule or "pesc"} if not isinstance(run.rule, dict) else dict(run.rule)
    kind = RULES.get(str(table.get("name")))
    names = [] if kind is None else kind.option_names()
    if "setting" in table and "options" in names:
        table["options"] = table.pop("setting")
    rule = rule_of(table)
    if run.setting is not None:
        if "options" not in names:
            raise ProblemError(
                f"setting was {run.setting!r}, which is PESC's; the rule {rule.name!r} has none: leave it out."
            )
        rule = rule_of(rule, options=run.setting)
    if run.samples is not None:
        if "samples" not in names:
            raise ProblemError(f"samples was {run.samples}, and the rule {rule.name!r} draws none: leave it out.")
        rule = rule_of(rule, samples=run.samples)
    return rule


def check_strategy(
    strategy: object, run: RunTable, problem: Problem, gain_per_cost: float | None, findings: Findings
) -> None:
    """Note why the strategy or its rule does not suit the problem or the budget, if it does not."""
    if strategy is None and run.rule in (None, "pesc") and run.samples is None:
        return
    from pesky.space import Space
    from pesky.strategy.strategy import Strategy, step_of
    from pesky.study.checks import check_counts, checked_rule

    each = list(enumerate(strategy)) if isinstance(strategy, list) else []
    figures = [(i, name, {"step": step.get("step"), name: value}) for i, step in each for name, value in step.items()]
    for i, name, figure in figures:
        try:
            step_of(figure)
        except ProblemError as error:
            findings.note(("strategy", i, name), f"{error}")
    if findings.concern(("strategy",)):
        return
    at = ("strategy",) if run.rule is None and strategy is not None else ("run", "rule")
    try:
        asked = Strategy.default() if strategy is None else Strategy.of(strategy)
        rule = checked_rule(rule_in(run) or asked.rule, problem, Space.of(problem))
        asked.changed(rule_in(run), run.initial, run.confirming_share, run.deciding_share)
    except ProblemError as error:
        findings.note(at, f"{error}")
        return
    try:
        check_counts(rule, gain_per_cost)
    except ProblemError as error:
        findings.note(("budget", "gain_per_cost"), f"{error}")
