"""The rule that a study follows, checked against its problem."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from pesky.acquire.base import Rule
from pesky.acquire.pesc.options import OPTIONS, PescOptions
from pesky.acquire.pesc.rule import PredictiveEntropySearch
from pesky.acquire.registry import SEPARATE, rule_of
from pesky.errors import ProblemError, unknown_name
from pesky.problem import Problem
from pesky.problem.fields import whole
from pesky.space import Space


def chosen_rule(
    rule: str | Mapping[str, Any] | Rule,
    setting: str | PescOptions | None,
    samples: int | None,
    problem: Problem,
    space: Space,
) -> Rule:
    """The rule with its setting and number of samples, or a ProblemError that says why it does not suit the problem."""
    chosen = rule_of(rule)
    if setting is not None:
        chosen = _with_setting(chosen, setting)
    if samples is not None:
        chosen = _with_samples(chosen, whole("samples", samples, 1))
    chosen.check(space.dim, len(problem.conditions))
    if chosen.measures == "together":
        _check_together(chosen, problem)
    return chosen


def _with_setting(rule: Rule, given: str | PescOptions) -> Rule:
    setting = OPTIONS.get(given) if isinstance(given, str) else given
    if not isinstance(setting, PescOptions):
        raise ProblemError(unknown_name("setting", given, OPTIONS))
    if not isinstance(rule, PredictiveEntropySearch):
        raise ProblemError(f"setting was {given!r}, which is PESC's; the rule {rule.name!r} has none: leave it out.")
    return replace(rule, options=setting)


def _with_samples(rule: Rule, samples: int) -> Rule:
    if isinstance(rule, PredictiveEntropySearch):
        return rule_of(rule, samples=samples)
    if "samples" not in [field.name for field in fields(rule)]:  # pyright: ignore[reportArgumentType] (a dataclass)
        raise ProblemError(f"samples was {samples}, and the rule {rule.name!r} draws none: leave it out.")
    return rule_of(rule, samples=samples)


def _check_together(rule: Rule, problem: Problem) -> None:
    for name, task in problem.tasks.items():
        if missing := [outcome for outcome in problem.outcomes if outcome not in task.outcomes]:
            raise ProblemError(
                f"the rule {rule.name!r} asks for all outcomes at a point, because it values none of them by itself, "
                f"and the task {name!r} does not measure {', '.join(map(repr, missing))}: let every task measure all "
                f"outcomes, or use a rule for outcomes that are measured separately: {SEPARATE}."
            )


def check_counts(rule: Rule, gain_per_cost: float | None) -> None:
    """Nothing, or a ProblemError if nats are asked of a rule that does not count in them."""
    if gain_per_cost is not None and not rule.in_nats:
        raise ProblemError(
            f"gain_per_cost was {gain_per_cost!r} nats, and the rule {rule.name!r} does not count in nats: "
            "limit evaluations, cost or seconds instead, or use the rule 'pesc'."
        )
