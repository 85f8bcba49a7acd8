"""The rules by name."""

from collections.abc import Mapping
from typing import Any

from pesky.acquire.base import Rule
from pesky.acquire.baselines import QuasiRandom, Random
from pesky.acquire.entropy.cmes import MaxValueEntropySearch
from pesky.acquire.entropy.jesc import JointEntropySearch
from pesky.acquire.entropy.rs import RejectionSampling
from pesky.acquire.entropy.rsdg import DynamicGrid
from pesky.acquire.improvement.al import AugmentedLagrangian
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.acquire.improvement.eic_decoupled import TwoStageImprovement
from pesky.acquire.improvement.evr import VolumeReduction
from pesky.acquire.improvement.ieci import IntegratedImprovement
from pesky.acquire.pesc.rule import PredictiveEntropySearch, UnconstrainedEntropySearch
from pesky.acquire.pesc.rule_ep import EntropySearchByEP
from pesky.errors import ProblemError, unknown_name

_ALL: tuple[type[Rule], ...] = (
    PredictiveEntropySearch,
    EntropySearchByEP,
    JointEntropySearch,
    MaxValueEntropySearch,
    ExpectedImprovement,
    TwoStageImprovement,
    AugmentedLagrangian,
    IntegratedImprovement,
    VolumeReduction,
    RejectionSampling,
    DynamicGrid,
    UnconstrainedEntropySearch,
    QuasiRandom,
    Random,
)
RULES: dict[str, type[Rule]] = {rule.name: rule for rule in _ALL}
SEPARATE = ", ".join(repr(name) for name, rule in RULES.items() if rule.measures == "each" and name != "pes")
"""The rules for outcomes that are measured separately, as a text."""


def rule_of(given: object, **options: Any) -> Rule:
    """The rule of this name, or of this mapping with a name and options, or the given one; with these options set."""
    if isinstance(given, Mapping):
        if "name" not in given:
            raise ProblemError(f"the rule was {dict(given)!r}: expected a name in it, like name = 'eic'.")
        return rule_of(given["name"], **{key: value for key, value in given.items() if key != "name"}, **options)
    if isinstance(given, type) and issubclass(given, Rule):
        raise ProblemError(f"the rule was the class {given.__name__}: expected {given.__name__}(), or {given.name!r}.")
    if isinstance(given, str) and given in RULES:
        return RULES[given]().configured(options)
    if isinstance(given, Rule):
        return given.configured(options)
    raise ProblemError(unknown_name("rule", given, RULES))
