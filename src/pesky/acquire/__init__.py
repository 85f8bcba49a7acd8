"""What a measurement is worth: one file per rule."""

from pesky.acquire.acquisition import PESC, Acquisition
from pesky.acquire.information import InformationGain, information_gain
from pesky.acquire.names import RULES, rule_of
from pesky.acquire.rule import Rule, Scene, Worth
from pesky.acquire.settings import DEFAULT, PAPER, SETTINGS, Setting

__all__ = [
    "DEFAULT",
    "PAPER",
    "PESC",
    "RULES",
    "SETTINGS",
    "Acquisition",
    "InformationGain",
    "Rule",
    "Scene",
    "Setting",
    "Worth",
    "information_gain",
    "rule_of",
]
