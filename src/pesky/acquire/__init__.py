"""What a measurement is worth."""

from pesky.acquire.information import InformationGain, information_gain
from pesky.acquire.pesc import PESC
from pesky.acquire.settings import DEFAULT, PAPER, SETTINGS, Setting

__all__ = ["DEFAULT", "PAPER", "PESC", "SETTINGS", "InformationGain", "Setting", "information_gain"]
