"""What to do next: which task and where, and what to recommend."""

from pesky.decide.choose import Decision, choose
from pesky.decide.recommend import Advice, recommend

__all__ = ["Advice", "Decision", "choose", "recommend"]
