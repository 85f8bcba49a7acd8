"""What a measurement is worth: one file per rule."""

from pesky.acquire.acquisition import PESC, Acquisition
from pesky.acquire.al import AugmentedLagrangian
from pesky.acquire.believer import believe
from pesky.acquire.cmes import MaxValueEntropySearch
from pesky.acquire.eic import ExpectedImprovement
from pesky.acquire.eic_decoupled import TwoStageImprovement
from pesky.acquire.evr import VolumeReduction
from pesky.acquire.ieci import IntegratedImprovement
from pesky.acquire.information import InformationGain, information_gain
from pesky.acquire.jesc import JointEntropySearch
from pesky.acquire.names import RULES, rule_of
from pesky.acquire.pes import UnconstrainedEntropySearch
from pesky.acquire.pesc import PredictiveEntropySearch
from pesky.acquire.random import Random
from pesky.acquire.rs import RejectionSampling
from pesky.acquire.rsdg import DynamicGrid
from pesky.acquire.rule import Rule, Scene, Worth
from pesky.acquire.settings import DEFAULT, PAPER, SETTINGS, Setting
from pesky.acquire.sobol import QuasiRandom

__all__ = [
    "DEFAULT",
    "PAPER",
    "PESC",
    "RULES",
    "SETTINGS",
    "Acquisition",
    "AugmentedLagrangian",
    "DynamicGrid",
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
    "Scene",
    "Setting",
    "TwoStageImprovement",
    "UnconstrainedEntropySearch",
    "VolumeReduction",
    "Worth",
    "believe",
    "information_gain",
    "rule_of",
]
