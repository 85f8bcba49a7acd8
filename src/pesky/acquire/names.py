"""The rules by name."""

from dataclasses import fields, replace
from typing import Any

from pesky.acquire.al import AugmentedLagrangian
from pesky.acquire.baseline import QuasiRandom, Random
from pesky.acquire.cmes import MaxValueEntropySearch
from pesky.acquire.eic import ExpectedImprovement
from pesky.acquire.eic_decoupled import TwoStageImprovement
from pesky.acquire.evr import VolumeReduction
from pesky.acquire.ieci import IntegratedImprovement
from pesky.acquire.jesc import JointEntropySearch
from pesky.acquire.pesc import PredictiveEntropySearch, UnconstrainedEntropySearch
from pesky.acquire.rs import RejectionSampling
from pesky.acquire.rsdg import DynamicGrid
from pesky.acquire.rule import Rule
from pesky.errors import ProblemError, unknown_name

_ALL: tuple[type[Rule], ...] = (
    PredictiveEntropySearch,
    UnconstrainedEntropySearch,
    MaxValueEntropySearch,
    JointEntropySearch,
    RejectionSampling,
    DynamicGrid,
    ExpectedImprovement,
    TwoStageImprovement,
    IntegratedImprovement,
    VolumeReduction,
    AugmentedLagrangian,
    QuasiRandom,
    Random,
)
RULES: dict[str, type[Rule]] = {rule.name: rule for rule in _ALL}
SEPARATE = ", ".join(repr(name) for name, rule in RULES.items() if rule.measures == "each" and name != "pes")
"""The rules for outcomes that are measured separately, as a text."""


def rule_of(given: object, **settings: Any) -> Rule:
    """The rule of this name, or the given one, with these of its fields set."""
    if isinstance(given, str) and given in RULES:
        rule = RULES[given]()
    elif isinstance(given, Rule):
        rule = given
    else:
        raise ProblemError(unknown_name("rule", given, RULES))
    known = [field.name for field in fields(rule)]  # pyright: ignore[reportArgumentType] (every rule is a dataclass)
    for name in settings:
        if name not in known:
            raise ProblemError(f"the rule {rule.name!r}: {unknown_name('setting', name, known)}")
    return replace(rule, **settings)  # pyright: ignore[reportArgumentType]
