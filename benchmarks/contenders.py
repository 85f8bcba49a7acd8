"""Who competes in `benchmarks.rules`: every rule of the package, variants of some, and BoTorch's as a yardstick."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.known_objective import is_formula
from benchmarks.logei import BotorchLogEI
from pesky.acquire import RULES, Rule, rule_of
from pesky.errors import ProblemError
from pesky.space import Space
from pesky.test_functions import Benchmark


@dataclass(frozen=True)
class Contender:
    """A rule with options of its own; `knows_objective` where the study is told the objective's formula."""

    rule: str | Rule
    options: dict[str, Any] = field(default_factory=dict)
    knows_objective: bool = False

    def build(self) -> Rule:
        """The rule that a study is given."""
        return rule_of(self.rule, **self.options)


VARIANTS: dict[str, Contender] = {
    "pesc-paper": Contender("pesc-ep", {"options": "paper"}),
    "cmes-plain": Contender("cmes", {"noise_aware": False}),
    "eic-plain": Contender("eic", {"noise_factor": False}),
    "al-known": Contender("al", knows_objective=True),
    "evr-paper": Contender("evr", {"complete": False}),
}
CONTENDERS: dict[str, Contender] = {}
"""By the label that tables and figures show: each rule with its variants, then the yardstick."""
for _name in RULES:
    CONTENDERS[_name] = Contender(_name)
    CONTENDERS |= {label: variant for label, variant in VARIANTS.items() if variant.rule == _name}
CONTENDERS["botorch-logei"] = Contender(BotorchLogEI())


def reason_to_skip(label: str, benchmark: Benchmark, is_decoupled: bool) -> str | None:
    """Why the contender does not suit the benchmark; None if it does."""
    contender, problem = CONTENDERS[label], benchmark.problem
    rule = contender.build()
    if is_decoupled and rule.measures == "together":
        return "values all outcomes together, and --decoupled measures each by itself"
    if rule.measures == "together" and len(problem.tasks) > 1 and not contender.knows_objective:
        return "values all outcomes together, and the problem has several tasks"
    if contender.knows_objective and not is_formula(benchmark):
        return "needs an objective with a formula, and this one is drawn at random"
    try:
        rule.check(Space.of(problem).dim, len(problem.conditions))
    except ProblemError as error:
        return str(error)
    return None


def sort_out(labels: Sequence[str], benchmark: Benchmark, is_decoupled: bool) -> tuple[list[str], dict[str, list[str]]]:
    """The labels that suit the benchmark, and those that do not by the reason."""
    suited, skipped = [], {}
    for label in labels:
        reason = reason_to_skip(label, benchmark, is_decoupled)
        if reason is None:
            suited.append(label)
        else:
            skipped.setdefault(reason, []).append(label)
    return suited, skipped
