"""The rule of a study file."""

from typing import TYPE_CHECKING

from pesky.errors import ProblemError
from pesky.problem import Problem
from pesky.study_file.mistakes import Findings
from pesky.study_file.tables import RunTable

if TYPE_CHECKING:
    from pesky.acquire.base import Rule


def rule_in(run: RunTable) -> "Rule | None":
    """The rule by its name or its table; None if the file says nothing of it.

    Older files have `setting` and `samples` beside it: of "pesc", these were of expectation propagation.
    A ProblemError if the rule does not have them.
    """
    if run.rule is None and run.setting is None and run.samples is None:
        return None
    from pesky.acquire.registry import rule_of  # imports torch, which takes seconds

    beside = {} if run.samples is None else {"samples": run.samples}
    if run.rule in (None, "pesc") and (beside or run.setting in ("ep", "paper")):
        return rule_of("pesc-ep", options="paper" if run.setting == "paper" else "default", **beside)
    if run.setting is not None and run.rule not in (None, "pesc"):
        raise ProblemError(
            f"setting was {run.setting!r}, beside another rule than 'pesc': leave it out, or write "
            f'rule = {{ name = "pesc-ep", options = "paper" }}.'
        )
    return rule_of(run.rule or "pesc", **beside)


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
