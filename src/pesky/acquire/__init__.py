"""What a measurement is worth: one file per rule."""

from typing import TYPE_CHECKING

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.baselines import QuasiRandom, Random
from pesky.acquire.entropy.cmes import MaxValueEntropySearch
from pesky.acquire.entropy.jesc import JointEntropySearch
from pesky.acquire.entropy.rs import RejectionSampling
from pesky.acquire.entropy.rsdg import DynamicGrid
from pesky.acquire.fantasy import with_pending
from pesky.acquire.improvement.al import AugmentedLagrangian
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.acquire.improvement.eic_decoupled import TwoStageImprovement
from pesky.acquire.improvement.evr import VolumeReduction
from pesky.acquire.improvement.ieci import IntegratedImprovement
from pesky.acquire.pesc.gain import InformationGain, information_gain
from pesky.acquire.pesc.rule import PredictiveEntropySearch, UnconstrainedEntropySearch
from pesky.acquire.pesc.rule_ep import EntropySearchByEP
from pesky.acquire.registry import RULES, rule_of
from pesky.on_use import attribute

if TYPE_CHECKING:
    from pesky.acquire.botorch import PESC, BotorchAcquisition

__all__ = [
    "PESC",
    "RULES",
    "AcquisitionFunction",
    "AugmentedLagrangian",
    "BotorchAcquisition",
    "Context",
    "DynamicGrid",
    "EntropySearchByEP",
    "ExpectedImprovement",
    "InformationGain",
    "IntegratedImprovement",
    "JointEntropySearch",
    "MaxValueEntropySearch",
    "PredictiveEntropySearch",
    "QuasiRandom",
    "Random",
    "RejectionSampling",
    "Rule",
    "TwoStageImprovement",
    "UnconstrainedEntropySearch",
    "VolumeReduction",
    "information_gain",
    "rule_of",
    "with_pending",
]


def __getattr__(name: str) -> object:
    """What is for those who have a BoTorch model: half a second to import, of which a study needs nothing."""
    if name not in ("PESC", "BotorchAcquisition"):
        raise AttributeError(f"module 'pesky.acquire' has no attribute {name!r}")
    return attribute("pesky.acquire.botorch", name)
